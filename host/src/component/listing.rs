//! Whether a component's list of tools is one.

use serde_json::Value;

use super::definition::{Definition, PathArgument};
use crate::error::{CallError, code};

/// Most tools that a component may have, and the most text of all definitions together.
const MAX_TOOLS: usize = 1000;
const MAX_DEFINITION_BYTES: usize = 1 << 20;

/// Refuses a list that no front-end could show, or that cannot be true.
pub(crate) fn check_list(definitions: &[Definition]) -> Result<(), CallError> {
    let invalid = |what: &str| {
        Err(CallError::new(
            code::TRAPPED,
            format!("the component's list of tools is invalid: {what}"),
        ))
    };
    let bytes: usize = definitions
        .iter()
        .map(|d| {
            d.name.len()
                + d.title.len()
                + d.description.len()
                + d.input_schema.len()
                + d.output_schema.len()
                + d.paths.iter().map(|path| path.pointer.len()).sum::<usize>()
        })
        .sum();
    if definitions.len() > MAX_TOOLS || bytes > MAX_DEFINITION_BYTES {
        return invalid("it is too long");
    }
    for (at, definition) in definitions.iter().enumerate() {
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let name = &definition.name;
        if name.is_empty() || name.len() > 64 || !name.chars().all(named) {
            return invalid("a name is not 1 to 64 letters, digits, `_` or `-`");
        }
        if definitions[..at].iter().any(|other| other.name == *name) {
            return invalid("two tools have one name");
        }
        if !is_object_schema(&definition.input_schema) {
            return invalid("an input schema is not a JSON object of type `object`");
        }
        if !definition
            .paths
            .iter()
            .all(|path| leads_somewhere(path, definition))
        {
            return invalid("a path argument is none of the arguments");
        }
    }
    Ok(())
}

/// Whether a schema is what the contract allows: an object at the top, and nothing that
/// clients read differently or would have to fetch.
fn is_object_schema(text: &str) -> bool {
    serde_json::from_str::<Value>(text)
        .is_ok_and(|schema| schema["type"] == "object" && is_inline(&schema))
}

fn is_inline(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().all(|(name, value)| {
            let foreign = matches!(name.as_str(), "$ref" | "$defs" | "$dynamicRef" | "anyOf");
            let is_union = name == "type" && value.is_array();
            !foreign && !is_union && is_inline(value)
        }),
        Value::Array(items) => items.iter().all(is_inline),
        _ => true,
    }
}

/// Whether the arguments that a schema describes can hold what the pointer names. A schema that
/// names no properties says nothing against any.
fn leads_somewhere(path: &PathArgument, definition: &Definition) -> bool {
    let schema = serde_json::from_str::<Value>(&definition.input_schema).unwrap_or_default();
    let mut here = Some(&schema);
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

    fn points(schema: &str, pointer: &str) -> bool {
        let path = PathArgument {
            pointer: pointer.to_owned(),
            role: PathRole::Read,
            guarded: false,
        };
        let definition = Definition {
            name: "tool".to_owned(),
            title: String::new(),
            description: String::new(),
            input_schema: schema.to_owned(),
            output_schema: "{}".to_owned(),
            risk: RiskClass::Read,
            paths: vec![path],
        };
        check_list(&[definition]).is_ok()
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
}
