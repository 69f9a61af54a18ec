//! From JSON text to a tool's arguments, with a precise refusal when they do not fit.
//!
//! A call that is right is parsed once, straight into the arguments. Only a call that is wrong
//! is parsed again and held against the input schema to say what is wrong.

use crate::tool::{Error, Failure, Tool};
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

/// Parses the arguments of a call.
///
/// # Errors
/// `invalid-arguments`: not a JSON object, an unknown argument, a missing one, or one of a
/// wrong type.
pub(crate) fn parse<T: Tool>(text: &str) -> Result<T::Arguments, Error> {
    if !text.trim_start().starts_with('{') {
        return Err(not_an_object(text).into());
    }
    serde_json::from_str(text).map_err(|error| explain(text, &T::input_schema(), &error).into())
}

/// The nearest of the known names, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Jaro-Winkler over 0.8 takes a letter or a separator for a slip, not another word.
    const NEAR: f64 = 0.8;
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Names in backticks, separated by commas.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A number of the caller's, or the default.
///
/// # Errors
/// `invalid-arguments` when it is out of range.
pub(crate) fn within(
    name: &str,
    given: Option<u64>,
    default: u64,
    range: RangeInclusive<u64>,
) -> Result<u64, Failure> {
    match given {
        None => Ok(default),
        Some(number) if range.contains(&number) => Ok(number),
        Some(number) => Err(Failure::invalid_arguments(format!(
            "`{name}` is {number}, which is not from {} to {}",
            range.start(),
            range.end()
        ))
        .hint(format!("leave out `{name}` for {default}"))),
    }
}

const OBJECT: &str =
    "give the arguments as one JSON object, such as `{\"path\": \"notes/todo.txt\"}`";

fn not_an_object(text: &str) -> Failure {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => Failure::invalid_arguments(format!(
            "the arguments are {} and not a JSON object",
            type_of(&value)
        ))
        .hint(OBJECT),
        Err(error) => not_json(&error),
    }
}

fn not_json(error: &serde_json::Error) -> Failure {
    Failure::invalid_arguments(format!("the arguments are not valid JSON: {error}")).hint(OBJECT)
}

fn explain(text: &str, schema: &Value, error: &serde_json::Error) -> Failure {
    let arguments = match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(arguments) => arguments,
        Err(error) => return not_json(&error),
    };
    let properties = schema["properties"].as_object();
    let no_properties = Map::new();
    let properties = properties.unwrap_or(&no_properties);
    unknown(&arguments, properties)
        .or_else(|| missing(&arguments, schema, properties))
        .or_else(|| wrong_type(&arguments, properties))
        .or_else(|| wrong_item(&arguments, properties))
        .unwrap_or_else(|| otherwise_wrong(error, properties))
}

/// What the parser alone saw, such as an argument given twice.
fn otherwise_wrong(error: &serde_json::Error, properties: &Map<String, Value>) -> Failure {
    let known = properties.keys().map(String::as_str);
    Failure::invalid_arguments(error.to_string()).hint(format!(
        "give each argument once; known arguments: {}",
        quoted(known)
    ))
}

fn unknown(arguments: &Map<String, Value>, properties: &Map<String, Value>) -> Option<Failure> {
    let known = || properties.keys().map(String::as_str);
    let unknown: Vec<&str> = arguments
        .keys()
        .map(String::as_str)
        .filter(|name| !properties.contains_key(*name))
        .collect();
    let first = unknown.first()?;
    let noun = if unknown.len() == 1 {
        "argument"
    } else {
        "arguments"
    };
    let hint = match nearest(first, known()) {
        Some(near) => format!(
            "did you mean `{near}`? known arguments: {}",
            quoted(known())
        ),
        None => format!("known arguments: {}", quoted(known())),
    };
    let message = format!("unknown {noun} {}", quoted(unknown));
    Some(
        Failure::invalid_arguments(message)
            .hint(hint)
            .details(&json!({ "known": known().collect::<Vec<_>>() })),
    )
}

fn missing(
    arguments: &Map<String, Value>,
    schema: &Value,
    properties: &Map<String, Value>,
) -> Option<Failure> {
    let required = schema["required"].as_array()?;
    let missing = required
        .iter()
        .filter_map(Value::as_str)
        .find(|name| !arguments.contains_key(*name))?;
    let kind = properties[missing]["type"].as_str().unwrap_or("value");
    Some(
        Failure::invalid_arguments(format!("argument `{missing}` is missing"))
            .hint(format!("give `{missing}` as {}", article(kind))),
    )
}

fn wrong_type(arguments: &Map<String, Value>, properties: &Map<String, Value>) -> Option<Failure> {
    arguments.iter().find_map(|(name, value)| {
        let wanted = properties.get(name)?["type"].as_str()?;
        let is_wrong = !is_of_type(value, wanted);
        is_wrong.then(|| {
            Failure::invalid_arguments(format!("argument `{name}` is {}", type_of(value)))
                .hint(format!("give `{name}` as {}", article(wanted)))
        })
    })
}

fn wrong_item(arguments: &Map<String, Value>, properties: &Map<String, Value>) -> Option<Failure> {
    arguments.iter().find_map(|(name, value)| {
        let wanted = properties.get(name)?["items"]["type"].as_str()?;
        let is_wrong = |item: &&Value| !is_of_type(item, wanted);
        let item = value.as_array()?.iter().find(is_wrong)?;
        Some(
            Failure::invalid_arguments(format!("argument `{name}` holds {}", type_of(item))).hint(
                format!(
                    "give `{name}` as an array in which each item is {}",
                    article(wanted)
                ),
            ),
        )
    })
}

fn is_of_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::create_file::CreateFile;
    use crate::tools::read_files::ReadFiles;

    fn refusal(text: &str) -> Failure {
        match parse::<CreateFile>(text) {
            Err(Error::Tool(failure)) => failure,
            Err(Error::Host) => panic!("`{text}` was blamed on the host"),
            Ok(_) => panic!("`{text}` was accepted"),
        }
    }

    #[test]
    fn what_is_not_an_object_is_refused_by_its_type() {
        for (text, message) in [
            (
                "[\"a\"]",
                "the arguments are an array and not a JSON object",
            ),
            ("\"a\"", "the arguments are a string and not a JSON object"),
            ("null", "the arguments are null and not a JSON object"),
        ] {
            assert_eq!(refusal(text).message, message);
        }
    }

    #[test]
    fn what_is_not_json_is_refused_with_the_place() {
        for text in ["", "{", "{\"file_path\": \"a\",}", "path=a"] {
            let failure = refusal(text);
            assert_eq!(failure.code, "invalid-arguments");
            assert!(failure.message.contains("line 1"), "{}", failure.message);
        }
    }

    #[test]
    fn unknown_arguments_list_the_known_ones() {
        let failure = refusal(r#"{"filepath":"a","content":"b"}"#);
        assert_eq!(failure.message, "unknown argument `filepath`");
        assert!(failure.hint.starts_with("did you mean `file_path`?"));
        assert_eq!(
            failure.details,
            r#"{"known":["file_path","content","overwrite","expected_version","expected_sha256"]}"#
        );
    }

    #[test]
    fn missing_arguments_are_named() {
        let failure = refusal(r#"{"file_path":"a"}"#);
        assert_eq!(failure.message, "argument `content` is missing");
        assert_eq!(failure.hint, "give `content` as a string");
    }

    #[test]
    fn wrong_types_are_named() {
        let failure = refusal(r#"{"file_path":"a","content":"b","overwrite":"yes"}"#);
        assert_eq!(failure.message, "argument `overwrite` is a string");
        assert_eq!(failure.hint, "give `overwrite` as a boolean");
        let failure = refusal(r#"{"file_path":5,"content":"b"}"#);
        assert_eq!(failure.message, "argument `file_path` is a number");
    }

    #[test]
    fn wrong_items_of_lists_are_named() {
        let Err(Error::Tool(failure)) = parse::<ReadFiles>(r#"{"paths":["a",1]}"#) else {
            panic!("a number was taken for a path");
        };
        assert_eq!(failure.message, "argument `paths` holds a number");
        assert!(failure.hint.ends_with("each item is a string"));
    }

    #[test]
    fn an_argument_given_twice_is_refused() {
        let failure = refusal(r#"{"file_path":"a","file_path":"b","content":"c"}"#);
        assert!(failure.message.contains("duplicate field `file_path`"));
        assert!(failure.hint.starts_with("give each argument once"));
    }

    #[test]
    fn only_near_names_are_suggested() {
        let known = ["read_file", "list_files"];
        assert_eq!(nearest("readfile", known), Some("read_file"));
        assert_eq!(nearest("list_file", known), Some("list_files"));
        assert_eq!(nearest("send_mail", known), None);
    }
}
