//! The parts that the tools' schemas share.

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
        "description": "Refuse if the file no longer has this version",
    });
    properties["expected_sha256"] = json!({ "type": "string" });
    properties
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
        "description": format!("{what}; relative to the granted directory, `/`-separated"),
    })
}

/// A property of the named type that needs no words.
pub(super) fn of(kind: &str) -> Value {
    json!({ "type": kind })
}

fn names(properties: &Map<String, Value>) -> Vec<String> {
    properties.keys().cloned().collect()
}
