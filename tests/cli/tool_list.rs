//! `rootbound tools`: the definitions, as each kind of reader wants them.

use serde_json::{Map, Value};

use crate::support::cli::Cli;
use crate::support::snapshot::assert_accepted;

/// The tools of issue 2, which every format must have.
const TOOLS: [&str; 9] = [
    "read_file",
    "list_files",
    "file_exists",
    "read_pptx",
    "write_file",
    "create_file",
    "create_directory",
    "delete_file",
    "generate_from_template",
];

fn list(format: &str) -> Vec<Value> {
    let answer = Cli::new().run(["tools", "--format", format]).success();
    let tools = match format {
        "mcp" => answer["tools"].clone(),
        _ => answer,
    };
    let mut tools = tools.as_array().unwrap().clone();
    for tool in &mut tools {
        // Over MCP the host adds an argument of its own; `tests/mcp/` says to which tools.
        if let Some(properties) = tool.pointer_mut("/inputSchema/properties") {
            properties.as_object_mut().unwrap().remove("dry_run");
        }
    }
    tools
}

/// A format, and where it has name, description and schema.
const FORMATS: [(&str, &str, &str, &str); 4] = [
    ("json", "/name", "/description", "/input_schema"),
    ("mcp", "/name", "/description", "/inputSchema"),
    (
        "openai",
        "/function/name",
        "/function/description",
        "/function/parameters",
    ),
    ("anthropic", "/name", "/description", "/input_schema"),
];

#[test]
fn every_format_has_every_tool_with_the_same_facts() {
    let facts = |format: (&str, &str, &str, &str)| -> Vec<[Value; 3]> {
        let (format, name, description, schema) = format;
        let fact = |tool: &Value, pointer: &str| tool.pointer(pointer).unwrap().clone();
        list(format)
            .iter()
            .map(|tool| [name, description, schema].map(|pointer| fact(tool, pointer)))
            .collect()
    };
    let mut expected = facts(FORMATS[0]);
    for [_, _, schema] in &mut expected {
        // What the host adds by the operator's word is not for models.
        let properties = schema["properties"].as_object_mut().unwrap();
        properties.shift_remove("default_encoding");
    }
    for &format in &FORMATS[1..] {
        assert_eq!(facts(format), expected, "{}", format.0);
    }
    let names: Vec<&str> = expected
        .iter()
        .map(|[name, ..]| name.as_str().unwrap())
        .collect();
    for tool in TOOLS {
        assert!(names.contains(&tool), "{tool}");
    }
}

#[test]
fn names_and_schemas_are_such_as_every_client_takes() {
    for tool in list("json") {
        let name = tool["name"].as_str().unwrap();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        assert!(
            (1..=64).contains(&name.len()) && name.chars().all(plain),
            "{name}"
        );
        assert_plain(name, &tool["input_schema"], true);
        assert_plain(name, &tool["output_schema"], true);
        assert_eq!(
            tool["input_schema"]["additionalProperties"], false,
            "{name}"
        );
    }
}

/// Inline, an object at the top, one type each, every required property known.
fn assert_plain(tool: &str, schema: &Value, top: bool) {
    let members = schema
        .as_object()
        .unwrap_or_else(|| panic!("{tool}: {schema}"));
    for word in [
        "$ref",
        "$defs",
        "definitions",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
    ] {
        assert!(!members.contains_key(word), "{tool}: {word}");
    }
    assert!(!top || schema["type"] == "object", "{tool}: {schema}");
    assert!(!schema["type"].is_array(), "{tool}: {schema}");
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(
            properties.contains_key(name.as_str().unwrap()),
            "{tool}: {name}"
        );
    }
    for inner in properties.values().chain(schema.get("items")) {
        assert_plain(tool, inner, false);
    }
}

/// A path's schema tells a model that paths are relative.
#[test]
fn paths_are_said_to_be_relative() {
    for tool in list("json") {
        for path in tool["paths"].as_array().unwrap() {
            let pointer = path["pointer"].as_str().unwrap();
            let properties = &tool["input_schema"]["properties"];
            let property = match pointer.strip_suffix("[]") {
                Some(list) => &properties[list]["items"],
                None => &properties[pointer],
            };
            let words = property["description"].as_str().unwrap().to_lowercase();
            assert!(
                words.contains("relative"),
                "{} {pointer}: {words}",
                tool["name"]
            );
        }
    }
}

#[test]
fn roles_are_spelled_as_in_the_interface() {
    let roles = ["read", "write", "create", "delete", "move-from", "move-to"];
    for tool in list("json") {
        for path in tool["paths"].as_array().unwrap() {
            let role = path["role"].as_str().unwrap();
            assert!(roles.contains(&role), "{}: {role}", tool["name"]);
        }
    }
}

#[test]
fn annotations_follow_from_the_risk() {
    let risks = list("json");
    for (tool, definition) in list("mcp").iter().zip(&risks) {
        let risk = definition["risk"].as_str().unwrap();
        let annotations = &tool["annotations"];
        assert_eq!(
            annotations["readOnlyHint"] == true,
            risk == "READ",
            "{tool}"
        );
        let destroys = annotations["destructiveHint"] == true;
        assert_eq!(destroys, risk == "DESTRUCTIVE", "{tool}");
        assert_eq!(annotations["openWorldHint"], false, "{tool}");
        // Clients would show one of two copies of the payload and drop the other.
        assert!(tool.get("outputSchema").is_none(), "{tool}");
    }
    let risk = |name: &str| {
        let tool = risks.iter().find(|tool| tool["name"] == name).unwrap();
        tool["risk"].clone()
    };
    for (name, expected) in [
        ("read_file", "READ"),
        ("create_directory", "DRAFT"),
        ("write_file", "DESTRUCTIVE"),
        ("delete_file", "DESTRUCTIVE"),
        ("generate_from_template", "READ"),
    ] {
        assert_eq!(risk(name), expected, "{name}");
    }
}

/// Everything about the tools that a person or a model is told.
#[test]
fn the_list_reads_as_accepted() {
    let run = Cli::new().run(["tools"]);
    assert_eq!(run.status, Some(0));
    assert_accepted("cli/tools.txt", &run.stdout);
    let schemas: Vec<String> = list("json")
        .iter()
        .map(|tool| serde_json::to_string_pretty(tool).unwrap())
        .collect();
    assert_accepted("cli/tools.json", &format!("{}\n", schemas.join("\n")));
}

#[test]
fn listing_tools_needs_no_grant_and_leaves_no_log() {
    let cli = Cli::new();
    for format in ["text", "json", "mcp", "openai", "anthropic"] {
        let run = cli.run(["tools", "--format", format]);
        assert_eq!(run.status, Some(0), "{format}");
        assert_eq!(run.stderr, "", "{format}");
    }
    assert!(cli.audit_files().is_empty());
}
