//! What a component may count on: its arguments are a JSON object.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, from_str};

use crate::component::Definition;
use crate::error::{CallError, code};

const HINT: &str =
    "give the arguments as one JSON object, such as `{\"path\": \"notes/todo.txt\"}`";
/// Names that are told of a tool that has more.
const MOST_NAMES: usize = 100;

/// Refuses what is no JSON object, in words that tell what the tool takes. What stands in an
/// object is the tool's affair.
///
/// # Errors
///
/// `invalid-arguments`.
pub(crate) fn check_of(text: &str, definition: &Definition) -> Result<(), CallError> {
    check(text).map_err(|error| {
        let (mut known, least) = definition.known_and_least();
        known.truncate(MOST_NAMES);
        let error = error.detail("known", known);
        match least {
            None => error,
            Some(least) => error
                .hint_of(format!(
                    "give the arguments as one JSON object, such as `{least}`"
                ))
                .detail("example", least),
        }
    })
}

fn check(text: &str) -> Result<(), CallError> {
    let wrong = |what: String| {
        let message = format!("the arguments are {what}");
        Err(CallError::new(code::INVALID_ARGUMENTS, message).hint_of(HINT))
    };
    match from_str::<IgnoredAny>(text) {
        Err(error) => wrong(format!("not valid JSON: {error}")),
        Ok(_) if text.trim_start().starts_with('{') => Ok(()),
        Ok(_) => wrong(format!("{} and not a JSON object", kind_of(text))),
    }
}

/// The members of a JSON object that [`check_of`] took.
///
/// # Errors
///
/// `invalid-arguments` when it has what cannot be held: numbers that are too large, halves of
/// characters, or more than 128 values inside one another.
pub(crate) fn members(text: &str) -> Result<Map<String, Value>, CallError> {
    from_str(text).map_err(|error| {
        let message = format!("the arguments cannot be read: {error}");
        CallError::new(code::INVALID_ARGUMENTS, message).hint_of(HINT)
    })
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

    #[test]
    fn only_an_object_is_taken() {
        for text in ["{}", " {\"a\": [1, \"\\ud800\", 1e999]}\n"] {
            assert!(check(text).is_ok(), "{text}");
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
            let error = check(text).unwrap_err();
            assert_eq!(error.code(), "invalid-arguments");
            assert!(error.message().contains(told), "{text}: {error}");
        }
    }
}
