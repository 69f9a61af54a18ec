//! Whether a component's list of tools is one.

use serde_json::{Map, Value};

use super::definition::{Definition, PathArgument};
use super::fault::ComponentError;
use crate::screen::escaped;

/// Most tools that a component may have, and the most text of all definitions together.
const MAX_TOOLS: usize = 1000;
const MAX_DEFINITION_BYTES: usize = 1 << 20;
/// Most path arguments of one tool; our own have four at most.
const MAX_PATHS: usize = 100;
/// Letters of a tool's name, and those of what it should be that a message repeats.
const MAX_NAME: usize = 64;

/// Refuses a list that no front-end could show, or that cannot be true.
pub(crate) fn check_list(definitions: &[Definition]) -> Result<(), ComponentError> {
    let invalid = |what: String| Err(ComponentError::tools_invalid(what));
    if definitions.len() > MAX_TOOLS {
        return invalid(format!("it lists more than {MAX_TOOLS} tools"));
    }
    if definitions.iter().map(length).sum::<usize>() > MAX_DEFINITION_BYTES {
        return invalid(format!(
            "its definitions of tools have more than {MAX_DEFINITION_BYTES} bytes"
        ));
    }
    for (at, definition) in definitions.iter().enumerate() {
        let name = shown(&definition.name);
        if !is_name(&definition.name) {
            return invalid(format!(
                "`{name}` is no name of a tool: it has 1 to {MAX_NAME} letters, digits, `_` or `-`"
            ));
        }
        if (definitions[..at].iter()).any(|other| other.name == definition.name) {
            return invalid(format!("two of its tools have the name `{name}`"));
        }
        let schema_of = |which: &str, text: &str| {
            let not = |why| format!("the {which} schema of `{name}` is not {why}");
            check_schema(text).map_err(|why| ComponentError::tools_invalid(not(why)))
        };
        let input = schema_of("input", &definition.input_schema)?;
        schema_of("output", &definition.output_schema)?;
        if definition.paths.len() > MAX_PATHS {
            return invalid(format!("`{name}` has more than {MAX_PATHS} path arguments"));
        }
        if let Some(path) = (definition.paths.iter()).find(|path| !leads_somewhere(path, &input)) {
            let pointer = shown(&path.pointer);
            return invalid(format!(
                "the path argument `{pointer}` of `{name}` is none of its arguments"
            ));
        }
    }
    Ok(())
}

fn length(definition: &Definition) -> usize {
    let texts = [
        &definition.name,
        &definition.title,
        &definition.description,
        &definition.input_schema,
        &definition.output_schema,
    ];
    let paths = definition.paths.iter().map(|path| path.pointer.len());
    texts.into_iter().map(String::len).chain(paths).sum()
}

fn is_name(name: &str) -> bool {
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(named)
}

/// A component's word, as far as a message can bear it.
fn shown(text: &str) -> String {
    escaped(&text.chars().take(MAX_NAME).collect::<String>())
}

const NO_OBJECT_SCHEMA: &str = "a JSON object of type `object`, without `$ref`, `$defs`, `anyOf` \
                                and several types at once";
const ILL_FORMED: &str = "what clients can read: `properties` is an object of schemas, `required` a \
                          list of names, `type` the name of a type, `items` a schema";

/// Whether a schema is what the contract allows: an object at the top, and nothing that clients
/// read differently or would have to fetch. The first fault makes them drop the whole list.
fn check_schema(text: &str) -> Result<Value, &'static str> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(schema)) if schema.get("type").is_some_and(|it| it == "object") => {
            check_members(&schema)?;
            Ok(Value::Object(schema))
        }
        _ => Err(NO_OBJECT_SCHEMA),
    }
}

fn check_members(schema: &Map<String, Value>) -> Result<(), &'static str> {
    schema
        .iter()
        .try_for_each(|(keyword, value)| check_member(keyword, value))
}

/// A keyword of JSON Schema (2020-12) with its value. What is data and no schema may be anything.
fn check_member(keyword: &str, value: &Value) -> Result<(), &'static str> {
    let well_formed = |is: bool| if is { Ok(()) } else { Err(ILL_FORMED) };
    match (keyword, value) {
        ("$ref" | "$defs" | "definitions" | "$dynamicRef" | "anyOf", _) => Err(NO_OBJECT_SCHEMA),
        ("type", Value::Array(_)) => Err(NO_OBJECT_SCHEMA),
        ("type", value) => well_formed(value.as_str().is_some_and(is_type)),
        ("properties" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
            schemas.values().try_for_each(check_inner)
        }
        ("oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
            schemas.iter().try_for_each(check_inner)
        }
        ("additionalProperties" | "unevaluatedProperties", Value::Bool(_)) => Ok(()),
        ("items" | "unevaluatedItems" | "contains", Value::Bool(_)) => Ok(()),
        (
            "items"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else",
            value,
        ) => check_inner(value),
        ("properties" | "patternProperties" | "dependentSchemas", _) => Err(ILL_FORMED),
        ("oneOf" | "allOf" | "prefixItems", _) => Err(ILL_FORMED),
        ("required", value) => {
            let names = value.as_array();
            well_formed(names.is_some_and(|names| names.iter().all(Value::is_string)))
        }
        ("enum" | "examples", value) => well_formed(value.is_array()),
        ("title" | "description" | "pattern" | "format", value) => well_formed(value.is_string()),
        _ => Ok(()),
    }
}

fn check_inner(schema: &Value) -> Result<(), &'static str> {
    match schema {
        Value::Object(members) => check_members(members),
        _ => Err(ILL_FORMED),
    }
}

fn is_type(name: &str) -> bool {
    let types = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];
    types.contains(&name)
}

/// Whether the arguments that a schema describes can hold what the pointer names. A schema that
/// names no properties says nothing against any.
fn leads_somewhere(path: &PathArgument, schema: &Value) -> bool {
    let mut here = Some(schema);
    for part in path.pointer.split('.') {
        let (name, is_array) = match part.strip_suffix("[]") {
            Some(name) => (name, true),
            None => (part, false),
        };
        if name.is_empty() {
            return false;
        }
        if here.is_some_and(|schema| schema["type"] == "array") {
            return false;
        }
        let Some(properties) = here.and_then(|schema| schema["properties"].as_object()) else {
            here = None;
            continue;
        };
        let Some(property) = properties.get(name) else {
            return false;
        };
        here = Some(match is_array {
            true => &property["items"],
            false => property,
        });
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::PathRole;
    use crate::policy::RiskClass;

    fn definition(input_schema: &str, output_schema: &str) -> Definition {
        Definition {
            name: "tool".to_owned(),
            title: String::new(),
            description: String::new(),
            input_schema: input_schema.to_owned(),
            output_schema: output_schema.to_owned(),
            risk: RiskClass::Read,
            paths: Vec::new(),
        }
    }

    fn points(schema: &str, pointer: &str) -> bool {
        point(schema, vec![pointer]).is_ok()
    }

    fn point(schema: &str, pointers: Vec<&str>) -> Result<(), ComponentError> {
        let path = |pointer: &str| PathArgument {
            pointer: pointer.to_owned(),
            role: PathRole::Read,
            guarded: false,
        };
        let definition = Definition {
            paths: pointers.into_iter().map(path).collect(),
            ..definition(schema, r#"{"type":"object"}"#)
        };
        check_list(&[definition])
    }

    /// Schemas that JSON Schema has no meaning for, or the contract forbids, wherever they stand.
    const BAD: [&str; 22] = [
        "",
        "{}",
        "[]",
        r#"{"type":"array"}"#,
        r#"{"type":["object"]}"#,
        r#"{"type":"object","properties":[]}"#,
        r#"{"type":"object","properties":null}"#,
        r#"{"type":"object","properties":{"a":5}}"#,
        r#"{"type":"object","properties":{"a":true}}"#,
        r#"{"type":"object","properties":{"a":{"type":"text"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":["string","null"]}}}"#,
        r#"{"type":"object","properties":{"a":{"properties":[]}}}"#,
        r#"{"type":"object","required":"x"}"#,
        r#"{"type":"object","required":[1]}"#,
        r#"{"type":"object","additionalProperties":"no"}"#,
        r#"{"type":"object","properties":{"a":{"items":[{"type":"string"}]}}}"#,
        r#"{"type":"object","properties":{"a":{"items":{"$ref":"x"}}}}"#,
        r#"{"type":"object","properties":{"a":{"enum":"b"}}}"#,
        r#"{"type":"object","oneOf":[{"anyOf":[]}]}"#,
        r#"{"type":"object","allOf":{}}"#,
        r#"{"type":"object","definitions":{}}"#,
        r#"{"type":"object","description":7}"#,
    ];

    #[test]
    fn schemas_that_break_clients_are_refused_of_arguments_and_of_results() {
        let plain = r#"{"type":"object"}"#;
        assert!(check_list(&[definition(plain, plain)]).is_ok());
        for bad in BAD {
            for (input, output, which) in [(bad, plain, "input"), (plain, bad, "output")] {
                let error = check_list(&[definition(input, output)]).unwrap_err();
                assert_eq!(error.code(), "tools-invalid", "{bad}");
                let words = format!("the {which} schema of `tool` is not ");
                assert!(error.message().contains(&words), "{bad}: {error}");
            }
        }
    }

    /// A property may have any name, and an example be anything.
    #[test]
    fn names_and_data_are_no_keywords() {
        for good in [
            r#"{"type":"object","properties":{"type":{"type":"string"},"anyOf":{},"required":{}}}"#,
            r#"{"type":"object","examples":[{"type":["a"],"$ref":1}],"x-aliases":["b"]}"#,
            r#"{"type":"object","additionalProperties":{"type":"array","items":{"enum":[1,null]}}}"#,
        ] {
            let listed = check_list(&[definition(good, good)]);
            assert!(listed.is_ok(), "{good}: {listed:?}");
        }
    }

    #[test]
    fn a_path_argument_is_one_of_the_arguments() {
        let schema = r#"{"type":"object","properties":{"path":{"type":"string"},
            "files":{"type":"array","items":{"type":"object","properties":{"to":{"type":"string"}}}}}}"#;
        for pointer in ["path", "files[].to", "files[]"] {
            assert!(points(schema, pointer), "{pointer}");
        }
        for pointer in [
            "",
            "paths",
            "path.",
            ".path",
            "files[].from",
            "files.x",
            "[]",
        ] {
            assert!(!points(schema, pointer), "{pointer}");
        }
        assert!(points(r#"{"type":"object"}"#, "whatever"));
    }

    #[test]
    fn a_tool_has_a_hundred_path_arguments_at_most() {
        let schema = r#"{"type":"object"}"#;
        assert!(point(schema, vec!["path"; 100]).is_ok());
        for pointer in ["path", ""] {
            let error = point(schema, vec![pointer; 101]).unwrap_err();
            assert_eq!(error.code(), "tools-invalid");
            assert!(error.message().contains("more than 100"), "{error}");
        }
    }
}
