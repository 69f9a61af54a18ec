//! Over HTTP: closed by default, and the same tools behind the door.

mod attacks;
mod crowds;
mod replicas;
pub mod server;
mod strangers;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cancelling;
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};
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
    for version in ["2025-06-18", "2025-11-25"] {
        let session = server.open(version, &json!({}));
        let headers = [
            ("Mcp-Session-Id", session.as_str()),
            ("MCP-Protocol-Version", version),
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
        let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" }).to_string();
        let unknown = [("Mcp-Session-Id", "11111111-2222-3333-4444-555555555555")];
        assert_eq!(server.post(&unknown, &list).status, 404);
        assert_eq!(server.post(&headers, &list).status, 200);
        let end = format!(
            "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nMcp-Session-Id: {session}\r\nConnection: close\r\n\r\n",
            server.token
        );
        assert_eq!(server.exchange(end.as_bytes()).status, 204);
        assert_eq!(server.post(&headers, &list).status, 404);
    }
}

#[test]
fn parameters_that_a_method_does_not_take_are_invalid_parameters() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let session = server.open("2025-11-25", &json!({}));
    let headers = [("Mcp-Session-Id", session.as_str())];
    for params in [json!({}), json!({"name": 5})] {
        let request =
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        let answer = server.post(&headers, &request.to_string()).message();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let answer = server.request("tools/call", params, json!({})).message();
        let code = &answer["error"]["code"];
        // Without a name there is a header that differs from the body.
        assert!(*code == -32602 || *code == -32020, "{answer}");
    }
    let unknown = server.request("nonsense", json!({}), json!({}));
    assert_eq!(unknown.message()["error"]["code"], -32601, "{unknown:?}");
}

/// The SDK would answer one of them, and the other never.
#[test]
fn an_id_that_is_under_way_in_a_session_is_refused() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.work("old.md", "old");
    let further = ["--approval-timeout-ms", "60000"];
    let server = Server::start(&cli, &fixture, &further);
    let session = server.open("2025-11-25", &json!({ "elicitation": {} }));
    let request = |id: i64, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let headers = [("Mcp-Session-Id", session.as_str())];
    // It waits for an answer to its question.
    let delete = request(7, "delete_file", json!({"path": "old.md"}));
    let (asked, question) = server.begin(&server.request_text(&headers, &delete));
    let same = server.post(
        &headers,
        &request(7, "file_exists", json!({"path": "old.md"})),
    );
    assert_eq!(same.status, 400, "{same:?}");
    assert_eq!(same.message()["id"], 7, "{same:?}");
    let other = server.post(
        &headers,
        &request(8, "file_exists", json!({"path": "old.md"})),
    );
    assert_eq!(other.message()["result"]["isError"], false);
    let no = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
    assert_eq!(server.post(&headers, &no.to_string()).status, 202);
    assert!(Server::rest(asked).contains("approval-denied"));
    let again = server.post(
        &headers,
        &request(7, "file_exists", json!({"path": "old.md"})),
    );
    assert_eq!(again.message()["result"]["isError"], false, "{again:?}");
}

#[test]
fn every_signal_that_ends_it_is_a_clean_end() {
    for signal in ["TERM", "INT", "HUP"] {
        let (cli, fixture) = (Cli::new(), Fixture::new());
        let server = Server::start(&cli, &fixture, &[]);
        server.call("write_file", json!({"path": "a.md", "content": "x"}));
        assert_eq!(server.end_by(signal), Some(0), "{signal}");
        crate::mcp::ending::assert_verified(&cli);
    }
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
fn what_begins_a_session_is_bounded() {
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
    // What a header says of the method is not what decides.
    let headers = [("Mcp-Method", "tools/list")];
    let long = initialize(&"x".repeat(100_000));
    assert_eq!(server.post(&headers, &long).status, 413);
}

/// Over HTTP, to go away is to cancel.
#[test]
fn a_client_that_goes_away_has_cancelled_its_call() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let further = cancelling::with_long_calls(&fixture);
    let further: Vec<&str> = further.iter().map(String::as_str).collect();
    let server = Server::start(&cli, &fixture, &further);
    let params = json!({ "name": "read_in_small_pieces", "arguments": {}, "_meta": { "progressToken": "p" } });
    let request = server.stateless_text(&server.token, "tools/call", params, json!({}));
    let (reader, told) = server.begin(&request);
    assert_eq!(told["method"], "notifications/progress", "{told}");
    drop(reader);
    let call = || {
        let mut entries = cancelling::entries(&cli).into_iter();
        entries.find(|entry| entry["kind"] == "call")
    };
    // Long before the call's own deadline.
    let started = Instant::now();
    while call().is_none() && started.elapsed() < Duration::from_secs(15) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(call().expect("an end of the call")["outcome"], "cancelled");
}

/// The trace of a request stands in its `_meta`, as the revision 2026-07-28 has it, and in HTTP's
/// header; the request itself knows better.
#[test]
fn a_request_names_the_callers_trace() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let trace = |digit: &str| format!("00-{}-00f067aa0ba902b7-01", digit.repeat(32));
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
    });
    let opened = server.post(&[], &initialize.to_string());
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let header = trace("a");
    let headers = [
        ("Mcp-Session-Id", session.as_str()),
        ("MCP-Protocol-Version", "2025-06-18"),
        ("traceparent", header.as_str()),
    ];
    for meta in [
        json!({}),
        json!({ "traceparent": trace("b") }),
        json!({ "traceparent": "x" }),
    ] {
        let params = json!({ "name": "list_files", "arguments": {}, "_meta": meta });
        let request =
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        server.post(&headers, &request.to_string());
    }
    let params = json!({
        "name": "list_files", "arguments": {}, "_meta": { "traceparent": trace("c") },
    });
    server.request("tools/call", params, json!({}));
    assert_eq!(server.terminate(), Some(0));
    let log = std::fs::read_to_string(&cli.audit_files()[0]).unwrap();
    let entries = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let calls = entries.filter(|entry: &Value| entry["kind"] == "call");
    let named: Vec<Value> = calls.map(|entry| entry["traceparent"].clone()).collect();
    assert_eq!(named, ["a", "b", "a", "c"].map(|digit| json!(trace(digit))));
}

/// Two tokens of one name would be one caller, of whom each approves what the other asked for.
#[test]
fn tokens_that_cannot_be_told_apart_are_refused_at_the_start() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let file = fixture.outside().join("tokens");
    let (one, other) = ("0123456789abcdef", "fedcba9876543210");
    for (tokens, why) in [
        (format!("{one}\n{other}\n"), "NAME:TOKEN"),
        (format!("default:{one}\n{other}\n"), "NAME:TOKEN"),
        (format!("a:{one}\na:{other}\n"), "NAME:TOKEN"),
        (format!("a:{one}\nb:{one}\n"), "under another name"),
        (format!("{one}\nb:{one}\n"), "under another name"),
    ] {
        std::fs::write(&file, &tokens).unwrap();
        let file = file.to_str().unwrap();
        let run = cli.run(["mcp", "--http", "127.0.0.1:0", "--http-token-file", file]);
        assert_eq!(run.status, Some(2), "{tokens} {run:?}");
        assert!(run.stderr.contains(why), "{tokens} {run:?}");
        assert!(!run.stderr.contains(one), "{run:?}");
    }
    std::fs::write(&file, format!("{one}\nb:{other}\n")).unwrap();
    let further = ["--http-token-file", file.to_str().unwrap()];
    Server::start(&cli, &fixture, &further);
}

#[test]
fn a_token_of_the_environment_is_one_or_is_named_as_none() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let with = |token: &str| {
        let mut command = cli.command(["mcp", "--http", "127.0.0.1:0", "--read"]);
        command.arg(fixture.inputs());
        command.env("ROOTBOUND_HTTP_TOKEN", token);
        command
    };
    for wrong in ["short", "a:b:0123456789abcdef", "0123456789 abcdef"] {
        let run = Run::of(&mut with(wrong));
        assert_eq!(run.status, Some(2), "{wrong} {run:?}");
        assert!(run.stderr.contains("ROOTBOUND_HTTP_TOKEN"), "{run:?}");
        assert!(!run.stderr.contains(wrong), "{run:?}");
    }
    // An empty one is none, and means a new one.
    for empty in ["", " "] {
        let server = Server::of(with(empty), false);
        assert!(server.token.len() >= 16, "{}", server.token);
        for (token, status) in [(server.token.as_str(), 200), ("", 401), (" ", 401)] {
            let answer = server.request_as(token, "tools/list", json!({}), json!({}));
            assert_eq!(answer.status, status, "{token:?} {answer:?}");
        }
    }
}

#[test]
fn the_log_says_whose_token_called() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let (tokens, log) = (
        fixture.outside().join("tokens"),
        fixture.outside().join("log"),
    );
    std::fs::write(&tokens, "alice:0123456789abcdef\nbob:fedcba9876543210\n").unwrap();
    let further = [
        "--http-token-file",
        tokens.to_str().unwrap(),
        "--audit",
        log.to_str().unwrap(),
    ];
    let server = Server::start(&cli, &fixture, &further);
    for token in ["0123456789abcdef", "fedcba9876543210"] {
        let params = json!({ "name": "list_files", "arguments": {} });
        server.request_as(token, "tools/call", params, json!({}));
    }
    assert_eq!(server.terminate(), Some(0));
    let text = std::fs::read_to_string(&log).unwrap();
    let entries = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls = entries.filter(|entry| entry["kind"] == "call");
    let callers: Vec<Value> = calls.map(|call| call["principal"].clone()).collect();
    assert_eq!(callers, ["http:alice", "http:bob"]);
}
