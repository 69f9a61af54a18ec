//! No tool joins quietly: each that lacks something fails here with what to add and where.

use super::TOOLS;
use crate::bindings::exports::rootbound::tools::provider::Definition;
use serde_json::Value;

fn definitions() -> Vec<Definition> {
    TOOLS.iter().map(|tool| (tool.definition)()).collect()
}

fn json(tool: &str, what: &str, text: &str) -> Value {
    serde_json::from_str(text)
        .unwrap_or_else(|error| panic!("the {what} of `{tool}` is not JSON: {error}"))
}

fn input_schema(definition: &Definition) -> Value {
    json(&definition.name, "input schema", &definition.input_schema)
}

#[test]
fn names_are_short_plain_and_given_once() {
    for tool in TOOLS {
        let name = tool.name;
        assert!(
            name.len() <= 64,
            "the name `{name}` is over 64 characters: shorten `NAME` in src/tools/{name}.rs"
        );
        assert!(
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')),
            "the name `{name}` has other characters than ASCII letters, digits, `_` and `-`"
        );
        let count = TOOLS.iter().filter(|other| other.name == name).count();
        assert_eq!(count, 1, "two tools are named `{name}` in src/tools/mod.rs");
    }
}

#[test]
fn every_tool_says_what_it_is() {
    for definition in definitions() {
        let name = &definition.name;
        assert!(
            !definition.title.is_empty(),
            "`{name}` has no title: set `TITLE`"
        );
        assert!(
            definition.description.len() > 40,
            "`{name}` says too little: `DESCRIPTION` tells a model what it does, when to use it \
             and how it refuses"
        );
        assert!(
            !definition.description.contains("  "),
            "the description of `{name}` has a double space: check its line continuations"
        );
    }
}

#[test]
fn every_tool_has_an_example_that_parses() {
    for (tool, definition) in TOOLS.iter().zip(definitions()) {
        let name = tool.name;
        let schema = input_schema(&definition);
        let example = schema["examples"].get(0).unwrap_or_else(|| {
            panic!("`{name}` has no example: add one to the input schema in src/tools/{name}.rs")
        });
        if let Err(error) = (tool.parse)(&example.to_string()) {
            panic!("the example of `{name}` does not parse as its arguments: {error:?}");
        }
    }
}

#[test]
fn every_tool_refuses_unknown_arguments() {
    for (tool, definition) in TOOLS.iter().zip(definitions()) {
        let mut example = input_schema(&definition)["examples"][0].clone();
        example["no_such_argument"] = true.into();
        assert!(
            (tool.parse)(&example.to_string()).is_err(),
            "`{}` accepts unknown arguments: put `#[serde(deny_unknown_fields)]` on `Arguments`",
            tool.name
        );
    }
}

#[test]
fn schemas_are_plain_objects() {
    for definition in definitions() {
        let name = &definition.name;
        for (what, text) in [
            ("input schema", &definition.input_schema),
            ("output schema", &definition.output_schema),
        ] {
            let schema = json(name, what, text);
            assert_eq!(
                schema["type"], "object",
                "the {what} of `{name}` is not of type `object` at the top"
            );
            check_plain(name, what, &schema);
        }
    }
}

fn check_plain(name: &str, what: &str, schema: &Value) {
    for word in ["$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf"] {
        assert!(
            schema.get(word).is_none(),
            "the {what} of `{name}` uses `{word}`, which some clients cannot read: write it inline"
        );
    }
    assert!(
        !schema["type"].is_array(),
        "the {what} of `{name}` has a union of types, which some clients cannot read"
    );
    let properties = schema["properties"].as_object().into_iter().flatten();
    for inner in properties
        .map(|(_, property)| property)
        .chain(schema.get("items"))
    {
        check_plain(name, what, inner);
    }
}

#[test]
fn path_arguments_stand_in_the_schema() {
    for definition in definitions() {
        let name = &definition.name;
        let schema = input_schema(&definition);
        for path in &definition.paths {
            let property = property_at(&schema, &path.pointer).unwrap_or_else(|| {
                panic!(
                    "`{name}` declares the path argument `{}`, which its input schema does not have",
                    path.pointer
                )
            });
            assert!(
                property["pattern"].is_string(),
                "the path argument `{}` of `{name}` has no pattern: build it with `schema::path`",
                path.pointer
            );
        }
    }
}

#[test]
fn every_path_in_a_schema_is_declared() {
    for definition in definitions() {
        let schema = input_schema(&definition);
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_declared = definition.paths.iter().any(|path| path.pointer == *name);
            assert!(
                property.get("pattern").is_none() || is_declared,
                "`{}` has the path `{name}` in its schema: add it to `PATHS`",
                definition.name
            );
        }
    }
}

/// The property that a pointer such as `files[].path` leads to.
fn property_at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('.').try_fold(schema, |schema, step| {
        let name = step.strip_suffix("[]");
        let property = schema["properties"].get(name.unwrap_or(step))?;
        if name.is_some() {
            property.get("items")
        } else {
            Some(property)
        }
    })
}

#[test]
fn pointers_lead_through_arrays_and_objects() {
    let schema = serde_json::json!({ "properties": {
        "paths": { "items": { "type": "string" } },
        "files": { "items": { "properties": { "path": { "type": "string" } } } },
    }});
    assert!(property_at(&schema, "paths[]").is_some());
    assert!(property_at(&schema, "files[].path").is_some());
    assert!(property_at(&schema, "files[].name").is_none());
    assert!(property_at(&schema, "path").is_none());
}

#[test]
fn guarded_paths_come_with_what_guards_them() {
    for definition in definitions() {
        let schema = input_schema(&definition);
        let is_guarded = definition.paths.iter().any(|path| path.guarded);
        for name in ["expected_version", "expected_sha256"] {
            assert_eq!(
                schema["properties"].get(name).is_some(),
                is_guarded,
                "`{}` and `{name}`: a tool with a guarded path takes it, any other does not; \
                 see `schema::guarded`",
                definition.name
            );
        }
    }
}

#[test]
fn the_whole_list_stays_small() {
    let size: usize = definitions()
        .iter()
        .map(|tool| {
            tool.name.len() + tool.title.len() + tool.description.len() + tool.input_schema.len()
        })
        .sum();
    assert!(
        size < 16 * 1024,
        "the tool list has {size} bytes: shorten descriptions"
    );
}
