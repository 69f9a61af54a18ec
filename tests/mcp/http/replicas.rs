//! Several processes behind a load balancer share the directories, a key, and nothing else.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::thread;

use serde_json::json;

use super::server::Server;
use crate::support::Fixture;
use crate::support::cli::Cli;

fn key(fixture: &Fixture) -> String {
    let file = fixture.outside().join("key");
    std::fs::write(&file, [7; 32]).unwrap();
    file.to_str().unwrap().to_owned()
}

const TOKEN: &str = "0123456789abcdef0123";

/// Two processes with the same directories, tokens, key and state directory.
fn replicas(cli: &Cli, fixture: &Fixture, further: &[&str]) -> [Server; 2] {
    let key = key(fixture);
    let further = [&["--state-key", key.as_str()], further].concat();
    [(); 2].map(|()| {
        let environment = [("ROOTBOUND_HTTP_TOKEN", TOKEN)];
        let mut server = Server::start_with(cli, fixture, &further, &environment);
        server.token = TOKEN.to_owned();
        server
    })
}

/// A load balancer that knows nothing of what it carries: one connection to this server, the
/// next to the other.
fn balance(servers: &[Server; 2]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let targets = [servers[0].address, servers[1].address];
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let server = TcpStream::connect(targets[number % 2]).unwrap();
            let client = client.unwrap();
            carry(client.try_clone().unwrap(), server.try_clone().unwrap());
            carry(server, client);
        }
    });
    address
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
}

#[test]
fn behind_a_load_balancer_two_replicas_are_as_one() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "hello");
    let servers = replicas(&cli, &fixture, &[]);
    let door = Server::known(balance(&servers), TOKEN);
    for round in 0..4 {
        // Each request meets the other process than the one before it, and every second round
        // begins with the other.
        if round % 2 == 1 {
            assert!(
                door.request("server/discover", json!({}), json!({}))
                    .message()["result"]
                    .is_object()
            );
        }
        fixture.work("old.md", "old");
        let asked = door.call("delete_file", json!({"path": "old.md"}));
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let params = json!({
            "name": "delete_file",
            "arguments": { "path": "old.md" },
            "requestState": asked["requestState"],
            "inputResponses": { "approval": { "action": "accept", "content": { "approve": true } } },
        });
        let answer = door.request("tools/call", params, json!({ "elicitation": {} }));
        assert_eq!(answer.message()["result"]["isError"], false, "{answer:?}");
        assert!(!fixture.workspace().join("old.md").exists());
        let read = json!({ "name": "read_file", "arguments": { "path": "notes.md" } });
        let older = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": read });
        for _ in 0..2 {
            let headers = [("MCP-Protocol-Version", "2025-06-18")];
            let answer = door.post(&headers, &older.to_string()).message();
            assert_eq!(answer["result"]["content"][0]["text"], "hello");
        }
    }
}

#[test]
fn what_one_replica_put_into_the_queue_the_other_carries_out_once() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.work("old.md", "old");
    let servers = replicas(&cli, &fixture, &["--approve", "queue"]);
    let code = |answer: &serde_json::Value| {
        let error = answer["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<serde_json::Value>(error).unwrap()
    };
    let delete = |server: &Server| server.call("delete_file", json!({"path": "old.md"}));
    let asked = code(&delete(&servers[0]));
    assert_eq!(asked["code"], "approval-required");
    let id = asked["approval"].as_str().unwrap();
    assert_eq!(code(&delete(&servers[1]))["approval"], id);
    let shown = cli.run(["approvals", "show", id]).stdout;
    assert!(shown.contains("for http:default, session "), "{shown}");
    assert_eq!(cli.run(["approvals", "approve", id]).status, Some(0));
    assert_eq!(delete(&servers[1])["isError"], false);
    assert!(!fixture.workspace().join("old.md").exists());
    fixture.work("old.md", "old");
    assert_eq!(code(&delete(&servers[0]))["code"], "approval-required");
}

#[test]
fn one_replica_takes_the_answer_to_the_question_of_another() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.work("old.md", "old");
    let replicas = replicas(&cli, &fixture, &[]);
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

#[test]
fn a_key_or_a_token_that_others_can_read_is_warned_of() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let file = fixture.outside().join("short");
    std::fs::write(&file, "secret").unwrap();
    for option in ["--state-key", "--http-token-file"] {
        for (mode, warns) in [(0o600, false), (0o640, true), (0o604, true)] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&file, permissions).unwrap();
            let name = file.to_str().unwrap();
            let run = cli.run(["mcp", "--http", "127.0.0.1:0", option, name]);
            assert_eq!(run.status, Some(2), "{run:?}");
            let told = run.stderr.contains("is open to other users");
            assert_eq!(told, warns, "{option} {mode:o} {run:?}");
        }
    }
}
