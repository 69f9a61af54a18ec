//! What a client learns before its first call.

use serde_json::{Value, json};

use super::client::{Client, GENERATIONS, Generation, STATELESS, Streams};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

#[test]
fn every_generation_is_told_the_same_tools() {
    let from_the_command_line = Cli::new().run(["tools", "--format", "mcp"]).success();
    for generation in GENERATIONS {
        let mut client = Client::over(&Fixture::new(), generation, &[]);
        let list = client.request("tools/list", json!({}))["result"].clone();
        assert_eq!(
            list["tools"], from_the_command_line["tools"],
            "{generation:?}"
        );
        // From 2026-07-28 on a list says for how long it is true, and a result what it is.
        let stateless = generation == Generation::Stateless;
        assert_eq!(list["resultType"] == "complete", stateless, "{list}");
        assert!(list["cacheScope"].is_string(), "{list}");
        assert!(list["ttlMs"].is_u64(), "{list}");
    }
}

#[test]
fn sockets_serve_as_pipes_do() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        fixture.input("notes.md", "hello");
        let mut client = Client::start(&fixture, generation, &[], json!({}), Streams::Sockets);
        let answer = client.call("read_file", json!({"path": "notes.md"}));
        assert_eq!(answer.text(0), "hello");
        assert_eq!(client.finish(), (Some(0), vec![]));
    }
}

#[test]
fn the_model_is_told_what_is_granted() {
    let fixture = Fixture::new();
    let mut client = Client::over(&fixture, Generation::Stateless, &["--overwrite", "deny"]);
    let answer = client.request("server/discover", json!({}))["result"].clone();
    let versions = answer["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(STATELESS)), "{answer}");
    let words = answer["instructions"].as_str().unwrap();
    for fact in [
        "read and list: `inputs`, `workspace`",
        "create files and directories in: `workspace`",
        "Changing a file that existed before is refused",
        "Deleting or renaming what existed before needs an approval",
        "dry_run",
    ] {
        assert!(words.contains(fact), "{fact}: {words}");
    }
    assert!(!words.contains(fixture.base().to_str().unwrap()), "{words}");
}

#[test]
fn without_a_grant_the_model_is_told_so() {
    let session = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
    });
    let cli = Cli::new();
    let run = Run::with_input(&mut cli.command(["mcp"]), format!("{session}\n").as_bytes());
    assert_eq!(run.status, Some(0), "{run:?}");
    let words = run.json()["result"]["instructions"].to_string();
    assert!(words.contains("Nothing is granted for reading"), "{words}");
    assert!(words.contains("Nothing is granted for writing"), "{words}");
}

/// A model reads all of it before its first call.
#[test]
fn the_list_of_tools_is_small() {
    let mut client = Client::over(&Fixture::new(), GENERATIONS[1], &[]);
    let bytes = client.request("tools/list", json!({})).to_string().len();
    assert!(bytes <= 16_000, "{bytes} bytes");
}

#[test]
fn tools_that_change_something_take_dry_run_and_others_do_not() {
    let mut client = Client::over(&Fixture::new(), GENERATIONS[1], &[]);
    let list = client.request("tools/list", json!({}));
    for tool in list["result"]["tools"].as_array().unwrap() {
        let takes_it = tool["inputSchema"]["properties"]["dry_run"]["type"] == "boolean";
        let reads = tool["annotations"]["readOnlyHint"] == true;
        assert_eq!(takes_it, !reads, "{tool}");
    }
}

/// What the strictest of the APIs behind clients know of JSON Schema.
#[test]
fn schemas_have_no_words_but_those_that_every_client_takes() {
    const WORDS: [&str; 15] = [
        "additionalProperties",
        "default",
        "description",
        "enum",
        "examples",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "required",
        "type",
    ];
    fn check(schema: &Value) {
        for (word, value) in schema.as_object().unwrap() {
            assert!(WORDS.contains(&word.as_str()), "{word}: {schema}");
            match word.as_str() {
                "properties" => value.as_object().unwrap().values().for_each(check),
                "items" => check(value),
                "additionalProperties" if value.is_object() => check(value),
                _ => {}
            }
        }
    }
    for toolset in ["files", "single"] {
        let mut client = Client::over(&Fixture::new(), GENERATIONS[0], &["--toolset", toolset]);
        let list = client.request("tools/list", json!({}));
        for tool in list["result"]["tools"].as_array().unwrap() {
            check(&tool["inputSchema"]);
            assert!(tool.get("outputSchema").is_none(), "{tool}");
        }
    }
}

/// A client of a revision older than those that are documented is met with the nearest.
#[test]
fn every_revision_with_an_opening_is_opened_in_its_own_words() {
    for (asked, opened) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // There is no opening in 2026-07-28, and nobody knows the others.
        ("2026-07-28", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        ("nonsense", "2025-11-25"),
    ] {
        let line = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
        });
        let run = Run::with_input(
            &mut Cli::new().command(["mcp"]),
            format!("{line}\n").as_bytes(),
        );
        assert_eq!(run.json()["result"]["protocolVersion"], opened, "{asked}");
    }
}

#[test]
fn a_revision_that_nobody_knows_is_refused_with_those_that_are_known() {
    let mut client = Client::over(&Fixture::new(), Generation::Stateless, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2031-01-01",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    client.send(
        &json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": { "_meta": meta } }),
    );
    let answer = client.receive();
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert!(answer["error"]["data"]["supported"].is_array(), "{answer}");
}

#[test]
fn what_the_protocol_has_and_the_server_has_not_is_a_method_not_found() {
    for generation in GENERATIONS {
        let mut client = Client::over(&Fixture::new(), generation, &[]);
        for method in ["nonsense", "completion/complete"] {
            let answer: Value = client.request(method, json!({}));
            assert_eq!(
                answer["error"]["code"], -32601,
                "{generation:?} {method} {answer}"
            );
        }
    }
}
