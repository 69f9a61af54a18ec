//! The snippets for agents are what those agents parse, and start the program as it is.

use serde_json::Value;

use super::{blocks, document, readme};

/// The `args` of every server in a configuration.
fn arguments(configuration: &Value, found: &mut Vec<Vec<String>>) {
    match configuration {
        Value::Object(members) => {
            if let Some(Value::Array(arguments)) = members.get("args") {
                let text = |argument: &Value| argument.as_str().unwrap().to_owned();
                found.push(arguments.iter().map(text).collect());
            }
            members
                .values()
                .for_each(|inner| self::arguments(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| self::arguments(inner, found)),
        _ => {}
    }
}

#[test]
fn every_snippet_parses_and_its_options_exist() {
    let mut found = Vec::new();
    for text in [document("docs/clients.md"), readme()] {
        for block in blocks(&text, "json") {
            let configuration: Value = serde_json::from_str(&block).expect(&block);
            arguments(&configuration, &mut found);
        }
        for block in blocks(&text, "toml") {
            let configuration: Value = toml::from_str(&block).expect(&block);
            arguments(&configuration, &mut found);
        }
    }
    assert!(found.len() >= 4, "{found:?}");
    let help = crate::support::cli::Cli::new()
        .run(["mcp", "--help"])
        .stdout;
    for arguments in found {
        assert_eq!(arguments[0], "mcp");
        for option in arguments
            .iter()
            .filter(|argument| argument.starts_with("--"))
        {
            assert!(help.contains(option.as_str()), "{option}");
        }
    }
}
