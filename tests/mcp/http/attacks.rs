//! Requests that no honest client sends: about where they end, how much they are, and what
//! they ask for.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Answer, Server};
use crate::mcp::client::STATELESS;
use crate::support::Fixture;
use crate::support::cli::Cli;

/// A message that is answered, whoever asks.
fn list() -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params }).to_string()
}

/// The head of a request with these lines between the usual ones and its end.
fn head(server: &Server, lines: &str) -> String {
    let token = &server.token;
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/list\r\n{lines}\r\n"
    )
}

/// The statuses of everything that comes back for some bytes after which nothing more is sent.
fn all_answers(server: &Server, bytes: &str) -> Vec<u16> {
    answers_after(server, bytes, 1)
}

/// The same, where the sending side stays open until so many answers are there: who closes it
/// wants no answer that is not yet out.
fn answers_after(server: &Server, bytes: &str, count: usize) -> Vec<u16> {
    const STATUS: &str = "HTTP/1.1 ";
    let mut stream = TcpStream::connect(server.address).unwrap();
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).unwrap();
    // A server that refuses early does not read the rest.
    let _ = stream.write_all(bytes.as_bytes());
    let (mut answers, mut piece) = (Vec::new(), [0; 1 << 12]);
    while String::from_utf8_lossy(&answers).matches(STATUS).count() < count {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(length) => answers.extend_from_slice(&piece[..length]),
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut answers);
    let text = String::from_utf8_lossy(&answers);
    let statuses = text.split(STATUS).skip(1);
    statuses
        .map(|answer| answer[..3].parse().unwrap())
        .collect()
}

/// Whoever stands before the server must not take the end of a request for another.
#[test]
fn a_request_ends_in_one_place_or_is_not_answered() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let (whole, length) = (list(), list().len());
    let chunked = format!("{length:x}\r\n{whole}\r\n0\r\n\r\n");
    let hidden = format!(
        "{}{whole}",
        head(&server, &format!("Content-Length: {length}\r\n"))
    );
    // The control: two requests on one connection are two, and a chunked one is one.
    let two = format!("{hidden}{hidden}");
    assert_eq!(answers_after(&server, &two, 2), [200, 200]);
    let as_chunks = head(&server, "Transfer-Encoding: chunked\r\n");
    let both = format!("{as_chunks}{chunked}{hidden}");
    assert_eq!(answers_after(&server, &both, 2), [200, 200]);
    // Two ways to say where it ends: one holds, and nothing that follows is a request.
    for lines in [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n".to_owned(),
    ] {
        let request = format!("{}{chunked}{hidden}", head(&server, &lines));
        assert!(all_answers(&server, &request).len() <= 1, "{lines}");
    }
    let refused = |head: &str, body: &str| {
        let answers = all_answers(&server, &format!("{head}{body}{hidden}"));
        assert!(!answers.contains(&200), "{head} {body} {answers:?}");
        assert!(answers.len() <= 1, "{head} {body} {answers:?}");
    };
    for line in [
        format!("Content-Length: {length}\r\nContent-Length: 0\r\n"),
        format!("Content-Length: {length}, {length}\r\n"),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: 0x{length:x}\r\n"),
        "Content-Length: -1\r\n".to_owned(),
        "Content-Length: 99999999999999999999\r\n".to_owned(),
        format!("Content-Length : {length}\r\n"),
        format!("X: y\r\n Content-Length: {length}\r\n"),
    ] {
        refused(&head(&server, &line), &whole);
    }
    for line in [
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: \u{b}chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
    ] {
        refused(&head(&server, line), &chunked);
    }
    for size in ["zz", "0x2c", "-1", "ffffffffffffffffff", "2c,2c", ""] {
        let body = format!("{size}\r\n{whole}\r\n0\r\n\r\n");
        refused(&as_chunks, &body);
    }
    // An older HTTP has no chunks.
    refused(&as_chunks.replace("HTTP/1.1", "HTTP/1.0"), &chunked);
}

#[test]
fn heads_and_bodies_are_bounded_however_they_come() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let length = format!("Content-Length: {}\r\n", list().len());
    let of_lines = |lines: &str| {
        let request = format!("{}{}", head(&server, &format!("{lines}{length}")), list());
        all_answers(&server, &request)
    };
    assert_eq!(of_lines("X: y\r\n"), [200]);
    let many: String = (0..100).map(|number| format!("X{number}: y\r\n")).collect();
    let long = format!("X: {}\r\n", "y".repeat(100 << 10));
    for lines in [
        &many,
        &long,
        "X: a\0b\r\n",
        "X\0: y\r\n",
        ": y\r\n",
        "no colon\r\n",
    ] {
        let answers = of_lines(lines);
        let refused = answers.iter().all(|status| matches!(status, 400 | 431));
        assert!(refused && answers.len() <= 1, "{lines:.20} {answers:?}");
    }
    let target = format!("POST /mcp?{}", "x".repeat(100 << 10));
    let request = head(&server, &length).replace("POST /mcp", &target) + &list();
    let answers = all_answers(&server, &request);
    assert!(
        answers.iter().all(|status| matches!(status, 414 | 431)),
        "{answers:?}"
    );
    // A body without a length ends where it is too long, and so does one of too many values.
    let piece = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
    let chunks = piece.repeat(20) + "0\r\n\r\n";
    let endless = head(&server, "Transfer-Encoding: chunked\r\n") + &chunks;
    assert_eq!(all_answers(&server, &endless), [413]);
    let values = format!("[{}0]", "0,".repeat(1_000_000));
    let answer = server.post(&[], &values);
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("values"), "{answer:?}");
    let id = "i".repeat(100_000);
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
    let answer = server.post(&[], &request);
    assert_eq!(answer.status, 400);
    assert!(answer.body.len() < 1000, "{answer:?}");
    assert_eq!(server.post(&[], "{}").status, 400);
}

#[test]
fn a_token_is_taken_from_one_place_only() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let token = server.token.clone();
    let of = |target: &str, lines: &str| {
        let length = format!("{lines}Content-Length: {}\r\n", list().len());
        let request = head(&server, &length)
            .replace("POST /mcp", &format!("POST {target}"))
            .replacen(&format!("Authorization: Bearer {token}\r\n"), "", 1);
        all_answers(&server, &(request + &list()))
    };
    let header = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(of("/mcp", &header), [200]);
    assert_eq!(of("/mcp", ""), [401]);
    for name in ["access_token", "token", "authorization"] {
        assert_eq!(of(&format!("/mcp?{name}={token}"), ""), [401], "{name}");
        assert_eq!(
            of("/mcp", &format!("Cookie: {name}={token}\r\n")),
            [401],
            "{name}"
        );
    }
    assert_eq!(of(&format!("http://{token}@localhost/mcp"), ""), [401]);
    assert_eq!(of("/mcp", &format!("X-Api-Key: {token}\r\n")), [401]);
    assert_eq!(of("/mcp", &format!("Proxy-{header}")), [401]);
    // One that is there too does no harm, and none is repeated in an answer.
    let answer = server.post(&[("Authorization", &format!("Bearer {token}x"))], &list());
    assert!(!answer.body.contains(&token) && !answer.head.contains(&token));
}

/// What the headers say has to be what the body says (revision 2026-07-28).
#[test]
fn headers_that_disagree_with_the_body_are_refused() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "hello");
    let server = Server::start(&cli, &fixture, &[]);
    let params = json!({ "name": "read_file", "arguments": { "path": "notes.md" } });
    let request = server.stateless_text(&server.token, "tools/call", params, json!({}));
    let without = |line: &str| request.replacen(line, "", 1);
    let (method, name) = ("Mcp-Method: tools/call\r\n", "Mcp-Name: read_file\r\n");
    let version = format!("MCP-Protocol-Version: {STATELESS}\r\n");
    let answer = server.exchange(request.as_bytes());
    assert_eq!(answer.message()["result"]["isError"], false, "{answer:?}");
    for (what, request) in [
        (
            "another method",
            request.replacen(method, "Mcp-Method: tools/list\r\n", 1),
        ),
        (
            "two methods",
            request.replacen(method, &format!("{method}Mcp-Method: ping\r\n"), 1),
        ),
        ("no method", without(method)),
        (
            "another name",
            request.replacen(name, "Mcp-Name: delete_file\r\n", 1),
        ),
        ("no name", without(name)),
        (
            "another version",
            request.replacen(&version, "MCP-Protocol-Version: 2025-06-18\r\n", 1),
        ),
        (
            "an unknown version",
            request.replacen(&version, "MCP-Protocol-Version: 1999-01-01\r\n", 1),
        ),
        ("no version", without(&version)),
        (
            "two versions, the right one first",
            request.replacen(
                &version,
                &format!("{version}MCP-Protocol-Version: 2025-06-18\r\n"),
                1,
            ),
        ),
        (
            "two versions, the right one last",
            request.replacen(
                &version,
                &format!("MCP-Protocol-Version: 2025-06-18\r\n{version}"),
                1,
            ),
        ),
    ] {
        let answer = server.exchange(request.as_bytes());
        assert_eq!(answer.status, 400, "{what} {answer:?}");
        assert!(error_of(&answer)["code"].is_i64(), "{what} {answer:?}");
    }
}

fn error_of(answer: &Answer) -> Value {
    answer.message()["error"].clone()
}
