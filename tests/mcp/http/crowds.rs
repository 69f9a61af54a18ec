//! Callers who take as much as they can get, beside one who does not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::Server;
use crate::mcp::cancelling;
use crate::mcp::garbage::peak_memory;
use crate::support::Fixture;
use crate::support::cli::Cli;

const ALICE: &str = "0123456789abcdef";
const BOB: &str = "fedcba9876543210";

/// More connections than a server has.
const MANY: usize = 400;
/// What is answered at all is answered well before anything here gives up by itself.
const SOON: Duration = Duration::from_secs(9);

/// A server for two callers.
fn start(cli: &Cli, fixture: &Fixture, further: &[&str]) -> Server {
    let file = fixture.outside().join("tokens");
    std::fs::write(&file, format!("alice:{ALICE}\nbob:{BOB}\n")).unwrap();
    let tokens = ["--http-token-file", file.to_str().unwrap()];
    Server::start(cli, fixture, &[&tokens, further].concat())
}

fn begin(server: &Server, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream
}

/// The status of an answer, of which nothing more is read.
fn status(stream: &TcpStream) -> u16 {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1);
    status.and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Bob is answered at once, whatever others do.
fn assert_bob_is_served(server: &Server) {
    let started = Instant::now();
    for _ in 0..10 {
        let params = json!({ "name": "file_exists", "arguments": { "path": "a" } });
        let answer = server.request_as(BOB, "tools/call", params, json!({}));
        assert_eq!(answer.message()["result"]["isError"], false, "{answer:?}");
    }
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

#[test]
fn one_token_cannot_take_all_connections_with_bodies_that_do_not_end() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = start(&cli, &fixture, &[]);
    let request = server.stateless_text(ALICE, "tools/list", json!({}), json!({}));
    let half = &request[..request.len() - 10];
    let crowd: Vec<TcpStream> = (0..MANY).map(|_| begin(&server, half)).collect();
    assert_bob_is_served(&server);
    // Some of Alice's were refused, and what is let go of is there again.
    let refused = server.request_as(ALICE, "tools/list", json!({}), json!({}));
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(crowd);
    let started = Instant::now();
    let again = || server.request_as(ALICE, "tools/list", json!({}), json!({}));
    while again().status != 200 {
        assert!(started.elapsed() < SOON);
    }
}

#[test]
fn one_token_cannot_take_all_connections_with_calls_that_do_not_end() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let further = cancelling::with_long_calls(&fixture);
    let further: Vec<&str> = further.iter().map(String::as_str).collect();
    let server = start(&cli, &fixture, &further);
    let params = json!({ "name": "loop_for_ever", "arguments": {} });
    let call = server.stateless_text(ALICE, "tools/call", params, json!({}));
    let crowd: Vec<TcpStream> = (0..MANY).map(|_| begin(&server, &call)).collect();
    let started = Instant::now();
    // One of the same tool, which has its own few places: there is one for who has none.
    let params = json!({ "name": "reach_siblings", "arguments": {} });
    let answer = server.request_as(BOB, "tools/call", params, json!({}));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    drop(crowd);
}

/// A session goes on without the connections that asked; what they asked for still counts.
#[test]
fn calls_that_nobody_waits_for_count_until_they_end() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let further = cancelling::with_long_calls(&fixture);
    let further: Vec<&str> = further.iter().map(String::as_str).collect();
    let mut server = start(&cli, &fixture, &further);
    server.token = ALICE.to_owned();
    let session = server.open("2025-11-25", &json!({}));
    let mut refused = 0;
    for id in 0..MANY {
        let params = json!({ "name": "loop_for_ever", "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let headers = [("Mcp-Session-Id", session.as_str())];
        let stream = begin(&server, &server.request_text(&headers, &call.to_string()));
        // The head of the stream comes when the call is under way.
        refused += usize::from(status(&stream) == 429);
    }
    assert!(refused > MANY / 2, "{refused}");
    let params = json!({ "name": "reach_siblings", "arguments": {} });
    let answer = server.request_as(BOB, "tools/call", params, json!({}));
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// A stream in which the server may say something that nobody asked for.
fn listen(server: &Server, session: &str) -> TcpStream {
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ALICE}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    );
    let stream = begin(server, &request);
    assert_eq!(status(&stream), 200);
    stream
}

/// They are not what the end has to wait for.
#[test]
fn streams_that_listen_end_with_the_server() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let mut server = start(&cli, &fixture, &[]);
    server.token = ALICE.to_owned();
    let session = server.open("2025-11-25", &json!({}));
    let mut stream = listen(&server, &session);
    let started = Instant::now();
    assert_eq!(server.terminate(), Some(0));
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "{:?}",
        started.elapsed()
    );
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "{rest:?}");
}

#[test]
fn one_token_cannot_take_all_connections_with_streams_that_listen() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let mut server = start(&cli, &fixture, &[]);
    server.token = ALICE.to_owned();
    let sessions: Vec<String> = (0..20)
        .map(|_| server.open("2025-11-25", &json!({})))
        .collect();
    let crowd: Vec<TcpStream> = (0..MANY)
        .map(|number| listen(&server, &sessions[number % sessions.len()]))
        .collect();
    assert_bob_is_served(&server);
    drop(crowd);
}

#[test]
fn one_token_cannot_take_all_sessions() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let mut server = start(&cli, &fixture, &[]);
    server.token = ALICE.to_owned();
    let initialize = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
    });
    let begun = || server.post(&[], &initialize.to_string()).status;
    let taken = (0..600).take_while(|_| begun() == 200).count();
    assert_eq!((taken, begun()), (250, 429));
    server.token = BOB.to_owned();
    server.open("2025-11-25", &json!({}));
}

/// Answers wait for their turn on the connection, and what follows waits unread.
#[test]
fn requests_without_end_whose_answers_nobody_reads_take_little_memory() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "x".repeat(100 << 10));
    let server = start(&cli, &fixture, &["--audit", "none"]);
    let params = json!({ "name": "read_file", "arguments": { "path": "notes.md" } });
    let kept_alive = |text: String| text.replacen("Connection: close\r\n", "", 1);
    let read = kept_alive(server.stateless_text(ALICE, "tools/call", params, json!({})));
    let list = kept_alive(server.stateless_text(ALICE, "tools/list", json!({}), json!({})));
    thread::scope(|scope| {
        for request in [&read, &list].into_iter().cycle().take(80) {
            let server = &server;
            scope.spawn(move || pour(server, &request.repeat(20)));
        }
    });
    let peak = peak_memory(server.process()) >> 10;
    assert!(peak < 96, "{peak} MiB");
    assert_bob_is_served(&server);
}

/// Writes until nothing is taken any more.
fn pour(server: &Server, requests: &str) {
    let mut stream = begin(server, "");
    let patience = Some(Duration::from_secs(1));
    stream.set_write_timeout(patience).unwrap();
    for _ in 0..500 {
        if stream.write_all(requests.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_body_that_does_not_come_does_not_hold_up_the_end() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = start(&cli, &fixture, &[]);
    let request = server.stateless_text(ALICE, "tools/list", json!({}), json!({}));
    let head = request.split_inclusive("\r\n\r\n").next().unwrap();
    // The server has read the head once it asks for the body.
    let head = head.replacen("\r\n", "\r\nExpect: 100-continue\r\n", 1);
    let mut stream = begin(&server, &head);
    let mut told = [0; 25];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"{").unwrap();
    assert_eq!(server.end_by("TERM"), Some(0));
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    crate::mcp::ending::assert_verified(&cli);
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = start(&cli, &fixture, &[]);
    let request = server.stateless_text(ALICE, "tools/list", json!({}), json!({}));
    let mut stream = begin(&server, &request[..request.len() - 10]);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let error: Value = serde_json::from_str(answer.lines().last().unwrap()).unwrap();
    assert_eq!(error["id"], Value::Null);
}
