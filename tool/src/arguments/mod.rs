//! From JSON text to a tool's arguments, with a precise refusal when they do not fit.
//!
//! A call that is right is parsed once, straight into the arguments. Only a call that is wrong
//! is parsed again and held against the input schema to say what is wrong.

mod explain;
mod guards;
mod meant;
#[cfg(test)]
mod tests;

use crate::{Failure, Tool, schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Deserializer;

/// The arguments of a tool that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// Parses the arguments of a call.
///
/// # Errors
/// `invalid-arguments`: not a JSON object, an unknown argument, a missing one, one of a wrong
/// type or out of its range, wherever in the arguments it stands.
pub(crate) fn parse<T: Tool>(text: &str) -> Result<T::Arguments, Failure> {
    if !text.trim_start().starts_with('{') {
        return Err(explain::not_an_object(text, schema::input::<T>()));
    }
    parsed::<T>(text).map_err(|error| explain::explain(text, schema::input::<T>(), &error))
}

fn parsed<T: Tool>(text: &str) -> serde_json::Result<T::Arguments> {
    let mut deserializer = Deserializer::from_str(text);
    let arguments = match schema::is_guarded(T::PATHS) {
        true => guards::without_guards(&mut deserializer),
        false => T::Arguments::deserialize(&mut deserializer),
    }?;
    deserializer.end()?;
    Ok(arguments)
}
