//! Filters that make text of values, in the words of the formatter: booleans as JSON has them,
//! and no number that is none. The operator `~` is the engine's own, and has the engine's words.

use super::{ENDLESS, is_endless};
use minijinja::value::{Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, filters};

pub(super) fn plain_words(engine: &mut Environment<'_>) {
    engine.add_filter("__join", filters::join);
    engine.add_filter("string", |state: &State<'_, '_>, value: Value| {
        filters::string(state, &plain(value)?)
    });
    engine.add_filter(
        "join",
        |state: &State<'_, '_>, value: Value, joiner: Rest<Value>| {
            let mut arguments = vec![plain_items(value)?];
            arguments.extend(joiner.iter().cloned());
            state.apply_filter("__join", &arguments)
        },
    );
}

/// A value as it may become text.
///
/// # Errors
/// For a number that is infinite or none at all.
pub(super) fn plain(value: Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Bool => Ok(Value::from(value.is_true().to_string())),
        ValueKind::Number if is_endless(&value) => {
            Err(Error::new(ErrorKind::InvalidOperation, ENDLESS))
        }
        _ => Ok(value),
    }
}

fn plain_items(value: Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter()?.map(plain);
            items.collect::<Result<Vec<_>, _>>().map(Value::from)
        }
        _ => Ok(value),
    }
}
