//! Schemas from the structs of a tool: inline, plain, and short, as many clients need them.

mod plain;

use crate::{PathArgument, Tool};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The arguments by which a caller says what it has seen of the file on the guarded path. The
/// host reads them from the arguments and judges them when it commits.
pub(crate) const GUARDS: [&str; 2] = ["expected_version", "expected_sha256"];

/// The argument by which the host passes on what the operator says of texts. Callers do not
/// have it.
pub(crate) const OF_THE_OPERATOR: &str = "default_encoding";

/// The schema of a tool's arguments.
pub(crate) fn input<T: Tool>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut schema = derived::<T::Arguments>(settings);
    for path in T::PATHS {
        if let Some(property) = property_at(&mut schema, path.pointer) {
            property["description"] = path_description(property).into();
        }
    }
    if is_guarded(T::PATHS) {
        add_guards(&mut schema);
    }
    if schema.get("required").is_none() {
        schema["required"] = json!([]);
    }
    schema["examples"] = match serde_json::from_str::<Value>(T::EXAMPLE) {
        Ok(example) => json!([example]),
        // Said by the check of the tools.
        Err(_) => json!([]),
    };
    schema
}

/// The schema of a result's fields. The host takes a tool's other names from there, where
/// models do not see them.
pub(crate) fn output<T: Tool>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = derived::<T::Fields>(settings);
    if !T::ALIASES.is_empty() {
        schema["x-aliases"] = T::ALIASES.into();
    }
    schema
}

/// Says of a path that it is relative, whatever else is said of it.
fn path_description(property: &Value) -> String {
    match property["description"].as_str() {
        None => "Relative".to_owned(),
        Some(description) => format!("{description}; relative"),
    }
}

/// Whether the caller may say what it has seen of a file.
pub(crate) fn is_guarded(paths: &[PathArgument]) -> bool {
    paths.iter().any(|path| path.guarded)
}

fn derived<S: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<S>().into();
    plain::simplify(&mut schema);
    // A tool has words of its own.
    if let Value::Object(schema) = &mut schema {
        schema.shift_remove("description");
    }
    schema
}

fn add_guards(schema: &mut Value) {
    for guard in GUARDS {
        schema["properties"][guard] = json!({ "type": "string" });
    }
}

/// The property that a pointer such as `files[].path` leads to.
pub(crate) fn property_at<'a>(schema: &'a mut Value, pointer: &str) -> Option<&'a mut Value> {
    pointer.split('.').try_fold(schema, |schema, step| {
        let name = step.strip_suffix("[]");
        let property = schema
            .get_mut("properties")?
            .get_mut(name.unwrap_or(step))?;
        match name {
            Some(_) => property.get_mut("items"),
            None => Some(property),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_through_arrays_and_objects() {
        let mut schema = json!({ "properties": {
            "paths": { "items": { "type": "string" } },
            "files": { "items": { "properties": { "path": { "type": "string" } } } },
        }});
        let mut leads = |pointer| property_at(&mut schema, pointer).is_some();
        assert!(leads("paths[]") && leads("files[].path"));
        assert!(!leads("files[].name") && !leads("path"));
    }
}
