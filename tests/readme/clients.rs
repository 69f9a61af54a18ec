//! The snippets for agents are what those agents parse, and start the program as it is.

use serde_json::{Value, json};

use super::{blocks, document, readme};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

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
fn every_snippet_parses_and_starts_a_server() {
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
    for arguments in found {
        assert_starts(&arguments);
    }
}

/// A server with these arguments, but for its directories, answers.
fn assert_starts(arguments: &[String]) {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let mut command = cli.command(&arguments[..1]);
    for pair in arguments[1..].chunks(2) {
        command.arg(&pair[0]).arg(match pair[0].as_str() {
            "--read" => fixture.inputs(),
            "--work" => fixture.workspace(),
            other => panic!("{other}"),
        });
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let run = Run::with_input(&mut command, format!("{ping}\n").as_bytes());
    assert_eq!(run.json()["result"], json!({}), "{arguments:?}");
}

/// Each agent looks for its servers under one name, and for what a server is under few.
#[test]
fn every_snippet_has_the_members_that_its_agent_reads() {
    let document = document("docs/clients.md");
    let parsed = |block: &String| serde_json::from_str(block).unwrap();
    let json: Vec<Value> = blocks(&document, "json").iter().map(parsed).collect();
    let toml = blocks(&document, "toml");
    let toml = toml.iter().map(|block| toml::from_str(block).unwrap());
    for configuration in json.into_iter().chain(toml) {
        let [(name, servers)] = &configuration
            .as_object()
            .unwrap()
            .iter()
            .collect::<Vec<_>>()[..]
        else {
            panic!("{configuration}");
        };
        assert!(
            ["mcpServers", "servers", "mcp_servers"].contains(&name.as_str()),
            "{name}"
        );
        for server in servers.as_object().unwrap().values() {
            let mut members: Vec<&str> = server
                .as_object()
                .unwrap()
                .keys()
                .map(String::as_str)
                .collect();
            members.sort_unstable();
            let known = [
                &["args", "command"][..],
                &["args", "command", "type"],
                &["headers", "type", "url"],
                &["headers", "url"],
                &["headers", "httpUrl"],
                &["bearer_token_env_var", "url"],
            ];
            assert!(known.contains(&&members[..]), "{name}: {members:?}");
        }
    }
}
