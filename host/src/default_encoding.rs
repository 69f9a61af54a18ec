//! The operator's word on what texts are in that do not say it themselves.

use serde_json::Value;

use crate::arguments;
use crate::component::Definition;
use crate::error::CallError;
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

/// Adds the argument where the tool takes it and the operator said something. Everything else
/// stays as it is, to the digit.
///
/// # Errors
///
/// `invalid-arguments` when the caller gives it: it is the operator's to say.
pub(crate) fn arguments(
    arguments: String,
    definition: &Definition,
    label: Option<&str>,
) -> Result<String, CallError> {
    // A name can also be spelled with escapes.
    let may_be_given = [ARGUMENT, "\\u"].iter().any(|it| arguments.contains(it));
    // Most calls need no look at what the tool takes.
    if (label.is_none() && !may_be_given) || !definition.takes_default_encoding() {
        return Ok(arguments);
    }
    if may_be_given && arguments::names(&arguments)?.contains(ARGUMENT) {
        return Err(refused(definition));
    }
    Ok(match label {
        Some(label) => {
            let member = format!("\"{ARGUMENT}\":{}", Value::from(label));
            extend_object(&arguments, &[member])
        }
        None => arguments,
    })
}

fn refused(definition: &Definition) -> CallError {
    let hint = match definition.takes("encoding") {
        true => "leave it out: the operator says it; `encoding` says it of one call",
        false => "leave it out: the operator says it",
    };
    arguments::unknown(ARGUMENT, definition).hint_of(hint)
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
    fn it_is_added_where_it_is_taken() {
        let takes = definition(r#"{"properties":{"default_encoding":{"type":"string"}}}"#);
        for (given, becomes) in [
            ("{}", r#"{"default_encoding":"latin1"}"#),
            (" { } ", r#"{"default_encoding":"latin1"}"#),
            (
                r#"{"n":12345678901234567890.0}"#,
                r#"{"n":12345678901234567890.0,"default_encoding":"latin1"}"#,
            ),
            (
                r#"{"a":[{"default_encoding":"\ud800"}]}"#,
                r#"{"a":[{"default_encoding":"\ud800"}],"default_encoding":"latin1"}"#,
            ),
        ] {
            let add = |label| arguments(given.to_owned(), &takes, label).unwrap();
            assert_eq!(add(Some("latin1")), becomes, "{given}");
            assert_eq!(add(None), given);
        }
    }

    #[test]
    fn it_is_never_the_callers_to_say() {
        let takes = definition(
            r#"{"properties":{"path":{"type":"string"},"default_encoding":{"type":"string"}}}"#,
        );
        for given in [
            r#"{"default_encoding":"gbk"}"#,
            r#"{"default_encoding":null}"#,
            r#"{"path":"a","default\u005fencoding":5}"#,
            r#"{"\ud800":1,"default_encoding":"gbk"}"#,
        ] {
            for label in [Some("latin1"), None] {
                let error = arguments(given.to_owned(), &takes, label).unwrap_err();
                assert_eq!(error.code(), "invalid-arguments", "{given}");
            }
        }
        let error = arguments(r#"{"default_encoding":"gbk"}"#.into(), &takes, None).unwrap_err();
        assert_eq!(error.message(), "unknown argument `default_encoding`");
        assert_eq!(error.details()["known"], serde_json::json!(["path"]));
    }

    /// What is no such property is between the caller and the tool.
    #[test]
    fn another_argument_of_the_name_is_the_tools_own() {
        for schema in [
            r#"{"properties":{"encoding":{"type":"string"}}}"#,
            r#"{"properties":{"default_encoding":{"type":"boolean"}}}"#,
            r#"{"properties":{"default_encoding":{"type":"string"}},"required":["default_encoding"]}"#,
        ] {
            let own = definition(schema);
            for given in ["{}", r#"{"default_encoding":"gbk"}"#] {
                let kept = arguments(given.to_owned(), &own, Some("latin1")).unwrap();
                assert_eq!(kept, given, "{schema}");
            }
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
