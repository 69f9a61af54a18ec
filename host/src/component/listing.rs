//! Whether a component's list of tools is one.

use serde_json::Value;

use super::definition::{Definition, PathArgument};
use super::fault::ComponentError;
use crate::screen::escaped;

/// Most tools that a component may have, and the most text of all definitions together.
const MAX_TOOLS: usize = 1000;
const MAX_DEFINITION_BYTES: usize = 1 << 20;
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
        if !is_object_schema(&definition.input_schema) {
            return invalid(format!(
                "the input schema of `{name}` is not a JSON object of type `object`, without \
                 `$ref`, `$defs`, `anyOf` and several types at once"
            ));
        }
        if let Some(path) =
            (definition.paths.iter()).find(|path| !leads_somewhere(path, definition))
        {
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
