//! The operator's word on what texts are in that do not say it themselves.

use serde_json::{Map, Value};

use crate::component::Definition;
use crate::output::extend_object;

/// The argument by which a tool takes it (see `definition.input-schema` in the WIT).
pub(crate) const ARGUMENT: &str = "default_encoding";

/// Whether the label is one of the [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels)
/// that decodes something, such as `windows-1252` or `shift_jis`.
#[must_use]
pub fn is_encoding(label: &str) -> bool {
    encoding_rs::Encoding::for_label(label.as_bytes())
        .is_some_and(|encoding| encoding != encoding_rs::REPLACEMENT)
}

/// Adds the argument where the tool takes it and the caller does not give it. Everything else
/// stays as it is, to the digit.
pub(crate) fn arguments(arguments: String, definition: &Definition, label: &str) -> String {
    if !definition.takes_text(ARGUMENT) {
        return arguments;
    }
    match serde_json::from_str::<Map<String, Value>>(&arguments) {
        Ok(given) if !given.contains_key(ARGUMENT) => {
            let member = format!("\"{ARGUMENT}\":{}", Value::from(label));
            extend_object(&arguments, &[member])
        }
        // What the host cannot hold, the tool might.
        _ => arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(schema: &str) -> Definition {
        Definition {
            name: "read_file".into(),
            title: String::new(),
            description: String::new(),
            input_schema: schema.into(),
            output_schema: "{}".into(),
            risk: crate::policy::RiskClass::Read,
            paths: Vec::new(),
        }
    }

    #[test]
    fn it_is_added_where_it_is_taken_and_not_given() {
        let takes = definition(r#"{"properties":{"default_encoding":{"type":"string"}}}"#);
        let other = definition(r#"{"properties":{"encoding":{"type":"string"}}}"#);
        let add = |text: &str, to: &Definition| arguments(text.to_owned(), to, "latin1");
        for (given, becomes) in [
            ("{}", r#"{"default_encoding":"latin1"}"#),
            (
                r#"{"n":12345678901234567890.0}"#,
                r#"{"n":12345678901234567890.0,"default_encoding":"latin1"}"#,
            ),
            (
                r#"{"default_encoding":"gbk"}"#,
                r#"{"default_encoding":"gbk"}"#,
            ),
            (
                r#"{"default\u005fencoding":"gbk"}"#,
                r#"{"default\u005fencoding":"gbk"}"#,
            ),
            ("[]", "[]"),
            ("{", "{"),
        ] {
            assert_eq!(add(given, &takes), becomes, "{given}");
            assert_eq!(add(given, &other), given);
        }
    }

    #[test]
    fn labels_are_those_of_the_standard_that_decode() {
        for label in ["utf-8", "Latin1", "windows-1252", "utf-16le", "gbk"] {
            assert!(is_encoding(label), "{label}");
        }
        for label in ["", "klingon", "base64", "utf-7", "iso-2022-kr"] {
            assert!(!is_encoding(label), "{label}");
        }
    }
}
