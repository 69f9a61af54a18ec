//! Arguments that do not fit: for every tool, whatever its schema says.

use std::collections::BTreeSet;

use rootbound::Definition;
use serde_json::{Map, Value, json};

use crate::support::tree::tree;
use crate::support::{Fixture, Recorded};

/// Every tool with its schema and its own example.
fn tools(recorded: &Recorded) -> Vec<(&Definition, Value, Map<String, Value>)> {
    let tools = recorded.session.tools().unwrap().iter();
    tools
        .map(|tool| {
            let schema: Value = serde_json::from_str(&tool.input_schema).unwrap();
            let example = schema["examples"][0].as_object().unwrap().clone();
            (tool, schema, example)
        })
        .collect()
}

fn assert_invalid(recorded: &Recorded, tool: &str, arguments: &Value, naming: &str) -> Value {
    let error = recorded.error(tool, arguments.clone()).to_json();
    let row = format!("{tool} {arguments}: {error}");
    assert_eq!(error["code"], "invalid-arguments", "{row}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(naming), "{row}");
    assert_ne!(error["hint"], "", "{row}");
    error
}

#[test]
fn unknown_arguments_are_refused_with_the_known_ones() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let before = tree(fixture.base());
    for (tool, _, mut example) in tools(&recorded) {
        example.insert("no_such_argument".to_owned(), json!(true));
        let error = assert_invalid(&recorded, &tool.name, &example.into(), "`no_such_argument`");
        assert_eq!(told(&error), known(tool), "{}", tool.name);
    }
    assert_eq!(tree(fixture.base()), before);
}

/// The arguments that a model is shown.
fn known(tool: &Definition) -> BTreeSet<String> {
    let schema = tool.schema_for_models();
    let properties = schema["properties"].as_object().unwrap();
    properties.keys().cloned().collect()
}

/// The arguments that a refusal names.
fn told(error: &Value) -> BTreeSet<String> {
    let names = error["known"].as_array().unwrap().iter();
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// It is the operator's to say, and the host passes it on.
#[test]
fn the_default_encoding_is_no_argument_of_callers() {
    let fixture = Fixture::new();
    for label in [None, Some("windows-1252")] {
        let recorded = fixture.session_with(|builder| match label {
            Some(label) => builder.default_encoding(label),
            None => builder,
        });
        let before = tree(fixture.base());
        for (tool, _, mut example) in tools(&recorded) {
            example.insert("default_encoding".to_owned(), json!("gbk"));
            let naming = "unknown argument `default_encoding`";
            let error = assert_invalid(&recorded, &tool.name, &example.into(), naming);
            assert_eq!(told(&error), known(tool), "{}", tool.name);
            let wrong = recorded.error(&tool.name, json!({ "no_such_argument": 1 }));
            assert!(
                !wrong.to_json().to_string().contains("default_encoding"),
                "{wrong:?}"
            );
        }
        assert_eq!(tree(fixture.base()), before);
    }
}

/// The least call of each tool is taken from the refusal and works as far as its arguments go.
#[test]
fn every_refusal_of_arguments_holds_a_call_that_is_right() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for (tool, schema, example) in tools(&recorded) {
        let mut unknown = example.clone();
        unknown.insert("no_such_argument".to_owned(), json!(true));
        for arguments in [json!(unknown), json!({ "no_such_argument": 1 }), json!([])] {
            let error = recorded.error(&tool.name, arguments).to_json();
            let least = error["example"]
                .as_object()
                .unwrap_or_else(|| panic!("{error}"));
            assert!(!least.is_empty(), "{error}");
            for name in schema["required"].as_array().unwrap() {
                assert!(least.contains_key(name.as_str().unwrap()), "{error}");
            }
            if let Err(error) = recorded.call(&tool.name, json!(least)) {
                assert_ne!(error.code(), "invalid-arguments", "{}: {error}", tool.name);
            }
        }
    }
}

#[test]
fn missing_arguments_are_refused_by_name() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let before = tree(fixture.base());
    for (tool, schema, example) in tools(&recorded) {
        for name in schema["required"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            let mut arguments = example.clone();
            arguments.remove(name);
            let naming = format!("`{name}` is missing");
            assert_invalid(&recorded, &tool.name, &arguments.into(), &naming);
        }
    }
    assert_eq!(tree(fixture.base()), before);
}

#[test]
fn arguments_of_another_type_are_refused_by_name() {
    let values = [
        json!(5),
        json!(1.5),
        json!("text"),
        json!(true),
        json!([1]),
        json!({ "a": 1 }),
    ];
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let before = tree(fixture.base());
    for (tool, schema, example) in tools(&recorded) {
        for (name, property) in schema["properties"].as_object().unwrap() {
            if !known(tool).contains(name) {
                continue;
            }
            let kind = property["type"].as_str().unwrap();
            for value in values.iter().filter(|value| !fits(value, kind)) {
                let mut arguments = example.clone();
                arguments.insert(name.clone(), value.clone());
                let naming = format!("`{name}`");
                let error = assert_invalid(&recorded, &tool.name, &arguments.into(), &naming);
                let hint = error["hint"].as_str().unwrap();
                // The host's own arguments are explained by where their values come from.
                let host = name.starts_with("expected_");
                assert!(host || hint.contains(kind), "{}: {hint}", tool.name);
            }
        }
    }
    assert_eq!(tree(fixture.base()), before);
}

fn fits(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no such type: {other}"),
    }
}

#[test]
fn what_is_no_object_is_refused_with_a_way_out() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for tool in recorded.session.tools().unwrap() {
        for text in [
            "",
            " ",
            "null",
            "[]",
            "\"path\"",
            "5",
            "{",
            "{\"a\":}",
            "{} {}",
            "path=x",
            "\u{feff}{}",
        ] {
            let error = recorded.session.call(&tool.name, text).unwrap_err();
            assert_eq!(error.code(), "invalid-arguments", "{} {text:?}", tool.name);
            assert_ne!(error.hint(), "", "{} {text:?}: {error}", tool.name);
        }
    }
}

#[test]
fn an_argument_given_twice_is_refused() {
    let fixture = Fixture::new();
    fixture.input("a", "");
    let error = fixture
        .session()
        .session
        .call("read_file", r#"{"path":"a","path":"a"}"#);
    assert_eq!(error.unwrap_err().code(), "invalid-arguments");
}

#[test]
fn unknown_tools_are_refused_with_a_suggestion_or_the_list() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let names: Vec<Value> = recorded
        .session
        .tools()
        .unwrap()
        .iter()
        .map(|tool| tool.name.clone().into())
        .collect();
    for (asked, hint) in [
        ("readfile", "`read_file`"),
        ("read_fil", "`read_file`"),
        ("READ_FILE", "`"),
        ("mkdir", "known tools"),
        ("", "known tools"),
        ("read_file ", "`read_file`"),
        ("list_files\n", "`list_files`"),
    ] {
        let error = recorded.error(asked, json!({}));
        assert_eq!(error.code(), "unknown-tool", "{asked:?}");
        assert!(error.hint().contains(hint), "{asked:?}: {}", error.hint());
        assert_eq!(
            error.details()["known"],
            Value::from(names.clone()),
            "{asked:?}"
        );
    }
}
