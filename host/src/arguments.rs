//! What a component may count on: its arguments are a JSON object.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde_json::{Map, Value, from_str};

use crate::component::Definition;
use crate::error::{CallError, code};

/// Names that are told of a tool that has more.
const MOST_NAMES: usize = 100;

/// Refuses what is no JSON object, in words that tell what the tool takes. What stands in an
/// object is the tool's affair.
///
/// # Errors
///
/// `invalid-arguments`.
pub(crate) fn check(text: &str, definition: &Definition) -> Result<(), CallError> {
    let Some(what) = what_is_wrong(text) else {
        return Ok(());
    };
    let error = wrong(format!("the arguments are {what}"));
    let error = match definition.known_and_least().1 {
        None => error,
        Some(least) => error.hint_of(such_as(&least.to_string())),
    };
    Err(with_what_is_known(error, definition))
}

/// An argument that the caller does not have.
pub(crate) fn unknown(name: &str, definition: &Definition) -> CallError {
    let message = format!("unknown argument `{name}`");
    with_what_is_known(CallError::new(code::INVALID_ARGUMENTS, message), definition)
}

fn with_what_is_known(error: CallError, definition: &Definition) -> CallError {
    let (mut known, least) = definition.known_and_least();
    known.truncate(MOST_NAMES);
    let error = error.detail("known", known);
    match least {
        None => error,
        Some(least) => error.detail("example", least),
    }
}

/// The names of the members of a JSON object that [`check`] took.
///
/// # Errors
///
/// `invalid-arguments` when one has what cannot be held: halves of characters.
pub(crate) fn names(text: &str) -> Result<BTreeSet<String>, CallError> {
    let members: BTreeMap<String, IgnoredAny> =
        from_str(text).map_err(|error| unreadable(&error))?;
    Ok(members.into_keys().collect())
}

/// The members of a JSON object that [`check`] took.
///
/// # Errors
///
/// `invalid-arguments` when it has what cannot be held: numbers that are too large, halves of
/// characters, or more than 128 values inside one another.
pub(crate) fn members(text: &str) -> Result<Map<String, Value>, CallError> {
    from_str(text).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> CallError {
    wrong(format!("the arguments cannot be read: {error}"))
}

fn wrong(message: String) -> CallError {
    CallError::new(code::INVALID_ARGUMENTS, message)
        .hint_of(such_as(r#"{"path": "notes/todo.txt"}"#))
}

fn such_as(example: &str) -> String {
    format!("give the arguments as one JSON object, such as `{example}`")
}

fn what_is_wrong(text: &str) -> Option<String> {
    match from_str::<IgnoredAny>(text) {
        Err(error) => Some(format!("not valid JSON: {error}")),
        Ok(_) if text.trim_start().starts_with('{') => None,
        Ok(_) => Some(format!("{} and not a JSON object", kind_of(text))),
    }
}

fn kind_of(text: &str) -> &'static str {
    match from_str(text) {
        Ok(Value::Array(_)) => "an array",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::Bool(_)) => "a boolean",
        Ok(Value::Null) => "null",
        // Nested too deeply for a value, or a number that is too large.
        Ok(Value::Object(_)) | Err(_) => "a JSON value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::RiskClass;

    fn definition() -> Definition {
        Definition {
            name: "t".into(),
            title: String::new(),
            description: String::new(),
            input_schema: "{}".into(),
            output_schema: "{}".into(),
            risk: RiskClass::Read,
            paths: Vec::new(),
        }
    }

    #[test]
    fn only_an_object_is_taken() {
        for text in ["{}", " {\"a\": [1, \"\\ud800\", 1e999]}\n"] {
            assert!(check(text, &definition()).is_ok(), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for (text, told) in [
            (
                "",
                "not valid JSON: EOF while parsing a value at line 1 column 0",
            ),
            ("path=a", "not valid JSON"),
            ("{\"a\":1,}", "not valid JSON"),
            ("{} {}", "not valid JSON: trailing characters"),
            ("\u{feff}{}", "not valid JSON"),
            ("[{}]", "an array and not a JSON object"),
            ("\"{}\"", "a string and not a JSON object"),
            ("7", "a number and not a JSON object"),
            ("true", "a boolean and not a JSON object"),
            ("null", "null and not a JSON object"),
            (&deep, "a JSON value and not a JSON object"),
        ] {
            let error = check(text, &definition()).unwrap_err();
            assert_eq!(error.code(), "invalid-arguments");
            assert!(error.message().contains(told), "{text}: {error}");
        }
    }
}
