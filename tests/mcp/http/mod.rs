//! Over HTTP: closed by default, and the same tools behind the door.

mod replicas;
mod server;
mod strangers;

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::Cli;
use server::Server;

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn a_stateless_client_discovers_reads_is_refused_and_writes() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "hello");
    let server = Server::start(&cli, &fixture, &[]);
    let discovered = server
        .request("server/discover", json!({}), json!({}))
        .message();
    assert!(
        discovered["result"]["instructions"].is_string(),
        "{discovered}"
    );
    let list = server.request("tools/list", json!({}), json!({})).message();
    assert_eq!(list["result"]["resultType"], "complete", "{list}");
    assert_eq!(
        text_of(&server.call("read_file", json!({"path": "notes.md"}))),
        "hello"
    );
    let escape = server.call("read_file", json!({"path": "../outside"}));
    assert!(
        text_of(&escape).contains("\"code\":\"invalid-path\""),
        "{escape}"
    );
    let written = server.call("write_file", json!({"path": "a.md", "content": "done"}));
    assert_eq!(written["isError"], false, "{written}");
    assert_eq!(fixture.workspace_text("a.md"), "done");
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn a_client_with_sessions_has_one_until_it_ends_it() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "hello");
    let server = Server::start(&cli, &fixture, &[]);
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
    });
    let opened = server.post(&[], &initialize.to_string());
    assert_eq!(opened.message()["result"]["protocolVersion"], "2025-06-18");
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let headers = [
        ("Mcp-Session-Id", session.as_str()),
        ("MCP-Protocol-Version", "2025-06-18"),
    ];
    let call = |name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        let request =
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        server.post(&headers, &request.to_string()).message()["result"].clone()
    };
    assert_eq!(
        text_of(&call("read_file", json!({"path": "notes.md"}))),
        "hello"
    );
    // What the session made is its own: it may delete it without an approval.
    assert_eq!(
        call("write_file", json!({"path": "a.md", "content": "x"}))["isError"],
        false
    );
    assert_eq!(
        call("delete_file", json!({"path": "a.md"}))["isError"],
        false
    );
    let unknown = [("Mcp-Session-Id", "11111111-2222-3333-4444-555555555555")];
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" }).to_string();
    assert_eq!(server.post(&unknown, &list).status, 404);
}

/// Each stateless request is a session of its own: it remembers nothing.
#[test]
fn what_a_stateless_request_made_is_not_the_next_ones_own() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    server.call("write_file", json!({"path": "a.md", "content": "x"}));
    let asked = server.call("delete_file", json!({"path": "a.md"}));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert!(fixture.workspace().join("a.md").exists());
}

#[test]
fn a_token_has_a_name_by_which_others_cannot_use_its_approvals() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.work("old.md", "old");
    let file = fixture.outside().join("tokens");
    std::fs::write(&file, "alice:0123456789abcdef\nbob:fedcba9876543210\n").unwrap();
    let further = ["--http-token-file", file.to_str().unwrap()];
    let server = Server::start(&cli, &fixture, &further);
    let params = json!({ "name": "delete_file", "arguments": { "path": "old.md" } });
    let can = json!({ "elicitation": {} });
    let as_of = |token: &str, params: &Value| {
        server
            .request_as(token, "tools/call", params.clone(), can.clone())
            .message()
    };
    let asked = as_of("0123456789abcdef", &params)["result"].clone();
    let mut answer = params.clone();
    answer["requestState"] = asked["requestState"].clone();
    answer["inputResponses"] =
        json!({ "approval": { "action": "accept", "content": { "approve": true } } });
    let stolen = as_of("fedcba9876543210", &answer);
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    assert!(fixture.workspace().join("old.md").exists());
    let own = as_of("0123456789abcdef", &answer);
    assert_eq!(own["result"]["isError"], false, "{own}");
    assert!(!fixture.workspace().join("old.md").exists());
}

/// The SDK knows a session by its id alone; the server asks whose it is, for every kind of
/// message.
#[test]
fn a_session_of_another_token_is_as_good_as_none() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let file = fixture.outside().join("tokens");
    std::fs::write(&file, "alice:0123456789abcdef\nbob:fedcba9876543210\n").unwrap();
    let server = Server::start(
        &cli,
        &fixture,
        &["--http-token-file", file.to_str().unwrap()],
    );
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
    });
    let of = |token: &str| format!("Bearer {token}");
    let (alice, bob) = (of("0123456789abcdef"), of("fedcba9876543210"));
    let opened = server.post(&[("Authorization", &alice)], &initialize.to_string());
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let request = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": { "action": "accept", "content": { "approve": true } } });
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    let status = |token: &str, body: &Value| {
        let headers = [("Authorization", token), ("Mcp-Session-Id", &session)];
        server.post(&headers, &body.to_string()).status
    };
    for body in [&request, &answer, &notice] {
        assert_eq!(status(&bob, body), 404, "{body}");
        assert_ne!(status(&alice, body), 404, "{body}");
    }
    for method in ["GET", "DELETE"] {
        let stolen = format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {bob}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(server.exchange(stolen.as_bytes()).status, 404, "{method}");
    }
    assert_ne!(status(&alice, &request), 404);
}

#[test]
fn sessions_are_bounded_in_number_and_size() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let initialize = |name: &str| {
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name, "version": "1" } },
        })
        .to_string()
    };
    assert_eq!(
        server.post(&[], &initialize(&"x".repeat(100_000))).status,
        413
    );
    let begun = (0..600)
        .map(|_| server.post(&[], &initialize("c")).status)
        .take_while(|status| *status == 200)
        .count();
    assert_eq!(begun, 500);
    assert_eq!(server.post(&[], &initialize("c")).status, 503);
}
