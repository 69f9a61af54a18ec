//! The table of tools is rendered from their definitions.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{PROGRAM, readme, repository};

const BEGIN: &str = "<!-- tools: scripts/readme-tools writes this table -->\n";
const END: &str = "<!-- end of tools -->";

#[test]
fn the_table_is_what_the_tools_say_of_themselves() {
    let text = readme();
    let (before, rest) = text
        .split_once(BEGIN)
        .expect("README.md has no tools table");
    let (shown, after) = rest.split_once(END).expect("the tools table has no end");
    let table = table();
    if std::env::var_os("README_TOOLS").is_some_and(|value| value == "write") {
        let written = format!("{before}{BEGIN}{table}{END}{after}");
        fs::write(repository().join("README.md"), written).unwrap();
    } else {
        assert_eq!(
            shown, table,
            "the table of tools in README.md is not what the tools say: run scripts/readme-tools and read the difference"
        );
    }
}

fn table() -> String {
    let rows: String = definitions().iter().map(row).collect();
    format!("| tool | what it does | at its worst |\n|---|---|---|\n{rows}")
}

fn definitions() -> Vec<Value> {
    let listed = Command::new(PROGRAM)
        .args(["tools", "--format", "json"])
        .output()
        .unwrap();
    assert!(listed.status.success());
    serde_json::from_slice(&listed.stdout).unwrap()
}

fn row(tool: &Value) -> String {
    format!(
        "| `{}({})` | {} | {} |\n",
        tool["name"].as_str().unwrap(),
        arguments(&tool["input_schema"]).join(", "),
        tool["title"].as_str().unwrap(),
        tool["risk"].as_str().unwrap()
    )
}

/// The names of the required arguments, and `…` for any others. Those that guard against stale
/// writes are the same everywhere and stand above the table.
fn arguments(schema: &Value) -> Vec<String> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().unwrap();
    let own = properties
        .keys()
        .filter(|name| !name.starts_with("expected_"));
    let mut names: Vec<String> = required
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    if own.count() > names.len() {
        names.push("…".to_owned());
    }
    names
}
