//! The parts that the tools' schemas share.

use crate::walk::DEPTH;
use serde_json::{Map, Value, json};

/// A schema of arguments: all of `properties` are known, those in `required` are needed.
pub(super) fn arguments(properties: Value, required: &[&str], example: Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
        "examples": [example],
    })
}

/// The arguments by which a caller says what it has seen of the file on the guarded path. The
/// host reads them from the arguments and judges them when it commits; the tools only know them.
pub(super) fn guarded(mut properties: Value) -> Value {
    properties["expected_version"] = json!({
        "type": "string",
        "description": "The `version` last seen",
    });
    properties["expected_sha256"] = json!({ "type": "string" });
    properties
}

/// The word by which a caller allows that a file is replaced.
pub(super) fn overwrite() -> Value {
    json!({
        "type": "boolean",
        "default": false,
        "description": "Replace the file if it exists",
    })
}

/// A schema of a result in which every field is present.
pub(super) fn fields(properties: Value) -> Value {
    let required: Vec<String> = properties.as_object().map(names).unwrap_or_default();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A property that holds a path.
pub(super) fn path(what: &str) -> Value {
    json!({
        "type": "string",
        "pattern": r"^[^/\\]",
        "description": format!("{what}; a relative path"),
    })
}

/// The properties that tools which walk through directories share.
pub(super) fn walking(mut properties: Value, hidden: &str) -> Value {
    let shared = json!({
        "depth": { "type": "integer", "default": DEPTH },
        "hidden": { "type": "boolean", "description": hidden },
        "gitignore": { "type": "boolean", "default": true },
        "cursor": of("string"),
        "root": { "type": "string", "description": "Only this granted directory" },
    });
    if let (Some(properties), Value::Object(shared)) = (properties.as_object_mut(), shared) {
        properties.extend(shared);
    }
    properties
}

/// A property that holds the path where a tool that walks starts.
pub(super) fn start(what: &str) -> Value {
    let mut property = path(what);
    property["description"] = format!("{what}; relative, by default `.`").into();
    property
}

/// A property of the named type that needs no words.
pub(super) fn of(kind: &str) -> Value {
    json!({ "type": kind })
}

fn names(properties: &Map<String, Value>) -> Vec<String> {
    properties.keys().cloned().collect()
}
