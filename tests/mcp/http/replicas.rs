//! Several processes behind a load balancer share the directories, a key, and nothing else.

use serde_json::json;

use super::server::Server;
use crate::support::Fixture;
use crate::support::cli::Cli;

fn key(fixture: &Fixture) -> String {
    let file = fixture.outside().join("key");
    std::fs::write(&file, [7; 32]).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn one_replica_takes_the_answer_to_the_question_of_another() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.work("old.md", "old");
    let key = key(&fixture);
    let further = ["--state-key", key.as_str()];
    let environment = [("ROOTBOUND_HTTP_TOKEN", "0123456789abcdef0123")];
    let replicas: Vec<Server> = (0..2)
        .map(|_| {
            let mut server = Server::start_with(&cli, &fixture, &further, &environment);
            server.token = environment[0].1.to_owned();
            server
        })
        .collect();
    let asked = replicas[0].call("delete_file", json!({"path": "old.md"}));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let params = json!({
        "name": "delete_file",
        "arguments": { "path": "old.md" },
        "requestState": asked["requestState"],
        "inputResponses": { "approval": { "action": "accept", "content": { "approve": true } } },
    });
    let answer = replicas[1].request("tools/call", params, json!({ "elicitation": {} }));
    assert_eq!(answer.message()["result"]["isError"], false, "{answer:?}");
    assert!(!fixture.workspace().join("old.md").exists());
}

#[test]
fn replicas_serve_older_clients_without_sessions() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "hello");
    let key = key(&fixture);
    let server = Server::start(&cli, &fixture, &["--state-key", &key]);
    let params = json!({ "name": "read_file", "arguments": { "path": "notes.md" } });
    let request = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let headers = [("MCP-Protocol-Version", "2025-11-25")];
    let answer = server.post(&headers, &request.to_string());
    assert_eq!(answer.message()["result"]["content"][0]["text"], "hello");
    assert_eq!(answer.header("mcp-session-id"), None);
}

#[test]
fn a_short_key_is_no_key() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let file = fixture.outside().join("short");
    std::fs::write(&file, "secret").unwrap();
    let run = cli.run([
        "mcp",
        "--http",
        "127.0.0.1:0",
        "--state-key",
        file.to_str().unwrap(),
    ]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("shorter than 32 bytes"), "{run:?}");
}
