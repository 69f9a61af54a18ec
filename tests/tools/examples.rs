//! Every example in a schema is a call that works, and the answer fits the output schema.

use std::fs;
use std::path::Path;

use rootbound::{Consent, Definition, PathRole};
use serde_json::{Map, Value};

use crate::office::{DECK, sample};
use crate::support::{Fixture, Recorded};

/// A session that has both directories both ways, so that whatever an example names can be
/// put where its tool looks for it.
fn session(fixture: &Fixture) -> Recorded {
    fixture.session_with(|builder| {
        let builder = builder.read_root(fixture.workspace());
        builder.overwrite(Consent::Allow).delete(Consent::Allow)
    })
}

/// Puts what the example reads or deletes in its place.
fn arrange(fixture: &Fixture, tool: &Definition, example: &Value) {
    match tool.name.as_str() {
        "edit_file" => {
            let text = example["edits"][0]["old_text"].as_str().unwrap();
            fixture.work(example["path"].as_str().unwrap(), text);
        }
        "apply_patch" => drop(fixture.work("todo.txt", "old\n")),
        _ => {}
    }
    for path in &tool.paths {
        for named in named(example, &path.pointer) {
            match path.role {
                PathRole::Read => arrange_to_read(&fixture.inputs().join(named), &tool.name),
                PathRole::Delete | PathRole::MoveFrom => drop(fixture.work(named, "old")),
                PathRole::Write | PathRole::Create | PathRole::MoveTo => {}
            }
        }
    }
}

/// The paths to which a pointer such as `path` or `paths[]` leads.
fn named<'a>(example: &'a Value, pointer: &str) -> Vec<&'a str> {
    match pointer.strip_suffix("[]") {
        None => example[pointer].as_str().into_iter().collect(),
        Some(list) => {
            let paths = example[list].as_array().into_iter().flatten();
            paths.filter_map(Value::as_str).collect()
        }
    }
}

fn arrange_to_read(place: &Path, tool: &str) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    match tool {
        "list_files" => fs::create_dir(place).unwrap(),
        "read_pptx" | "read_document" => drop(fs::copy(DECK, place).unwrap()),
        "read_docx" => drop(fs::copy(sample("docx/docling__word_tables.docx"), place).unwrap()),
        "read_xlsx" => drop(fs::copy(sample("xlsx/unstructured__emoji.xlsx"), place).unwrap()),
        _ => fs::write(place, "text").unwrap(),
    }
}

#[test]
fn every_example_of_every_tool_runs() {
    let all = Fixture::new();
    let definitions = session(&all).session.tools().unwrap().to_vec();
    assert!(!definitions.is_empty());
    for tool in definitions {
        let schema: Value = serde_json::from_str(&tool.input_schema).unwrap();
        let examples = schema["examples"].as_array().unwrap();
        assert!(!examples.is_empty(), "{} has no example", tool.name);
        for example in examples {
            let fixture = Fixture::new();
            arrange(&fixture, &tool, example);
            let recorded = session(&fixture);
            let answer = recorded.call(&tool.name, example.clone());
            let output = answer.unwrap_or_else(|error| panic!("{} {example}: {error}", tool.name));
            let schema: Value = serde_json::from_str(&tool.output_schema).unwrap();
            assert_fits(&tool.name, &schema, &output.fields());
        }
    }
}

fn assert_fits(tool: &str, schema: &Value, fields: &Map<String, Value>) {
    let properties = schema["properties"].as_object().unwrap();
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        assert!(fields.contains_key(name), "{tool} answers without `{name}`");
    }
    for (name, value) in fields {
        let property = properties.get(name);
        let property = property.unwrap_or_else(|| panic!("{tool} answers with `{name}`"));
        assert_type(tool, name, property, value);
    }
}

fn assert_type(tool: &str, name: &str, schema: &Value, value: &Value) {
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some(other) => panic!("{tool}: `{name}` is of type `{other}`"),
        None => true,
    };
    assert!(fits, "{tool}: `{name}` is {value}");
    if let Some(items) = value.as_array() {
        for item in items {
            assert_type(tool, name, &schema["items"], item);
        }
    }
    if let (Some(object), true) = (value.as_object(), schema["properties"].is_object()) {
        assert_fits(tool, schema, object);
    }
}
