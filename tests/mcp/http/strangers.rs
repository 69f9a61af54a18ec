//! Requests of web pages, of programs without the token, and of the hostile.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::{Answer, Server};
use crate::support::Fixture;
use crate::support::cli::Cli;

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn initialize() -> String {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
    })
    .to_string()
}

#[test]
fn without_the_token_nothing_is_answered() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let prefix = format!("Bearer {}", &server.token[..20]);
    let longer = format!("Bearer {}0", server.token);
    let basic = format!("Basic {}", server.token);
    for authorization in [
        "",
        "Bearer",
        "Bearer ",
        &prefix,
        &longer,
        &basic,
        &server.token,
    ] {
        let answer = server.post(&[("Authorization", authorization)], &initialize());
        assert_eq!(answer.status, 401, "{authorization}");
        assert_eq!(answer.header("www-authenticate"), Some("bearer"));
        assert!(!answer.body.contains("result"), "{answer:?}");
    }
    // The control: with the token it is.
    assert_eq!(server.post(&[], &initialize()).status, 200);
    assert_eq!(server.token.len(), 64);
}

#[test]
fn a_page_that_was_lured_to_the_port_is_refused_even_with_the_token() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let port = server.address.port();
    let (rebound, own_name) = (format!("evil.example:{port}"), format!("localhost:{port}"));
    let same_origin = format!("http://evil.example:{port}");
    for headers in [
        [("Host", rebound.as_str()), ("X", "y")],
        [("Host", rebound.as_str()), ("Origin", same_origin.as_str())],
        [
            ("Host", own_name.as_str()),
            ("Origin", "https://evil.example"),
        ],
        [("Host", own_name.as_str()), ("Origin", "null")],
        [
            ("Host", own_name.as_str()),
            ("Origin", "http://localhost:3000"),
        ],
        [("Host", "127.0.0.1.evil.example"), ("X", "y")],
    ] {
        let answer = server.post(&headers, &initialize());
        assert_eq!(answer.status, 403, "{headers:?} {answer:?}");
    }
    let answer = server.post(&[("Host", own_name.as_str())], &initialize());
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// The refusals by the door and by the SDK say why in the same form.
fn why(answer: &Answer) -> String {
    assert_eq!(
        answer.header("content-type"),
        Some("application/json"),
        "{answer:?}"
    );
    let message = answer.message();
    assert_eq!(message["jsonrpc"], "2.0", "{answer:?}");
    let why = message["error"]["message"].as_str().unwrap().to_owned();
    assert!(!why.is_empty());
    why
}

#[test]
fn a_server_has_one_name_at_a_time() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let port = server.address.port();
    for (hosts, status) in [
        (&["localhost"][..], 200),
        (&["LOCALHOST:1"], 200),
        (&["[::1]:80"], 200),
        (&["127.0.0.1"], 200),
        (&["localhost."], 403),
        (&["127.0.0.1.nip.io"], 403),
        (&["[::ffff:127.0.0.1]"], 403),
        (&["localhost", "evil.example"], 400),
        (&["localhost", "localhost"], 400),
        (&["evil.example@localhost"], 400),
        (&["localhost:99999"], 400),
        (&[""], 400),
    ] {
        let hosts: Vec<_> = hosts.iter().map(|host| ("Host", *host)).collect();
        let answer = server.post(&hosts, &initialize());
        assert_eq!(answer.status, status, "{hosts:?} {answer:?}");
        if status != 200 {
            why(&answer);
        }
    }
    // The target may be absolute, as for a proxy, and then names the server too.
    for (target, status) in [
        (format!("http://localhost:{port}/mcp"), 200),
        ("http://evil.example/mcp".to_owned(), 403),
        ("/mcp?x=y".to_owned(), 200),
        ("/MCP".to_owned(), 404),
        ("/mcp/".to_owned(), 404),
        ("/..//mcp".to_owned(), 404),
        ("*".to_owned(), 404),
    ] {
        let body = initialize();
        let request = format!(
            "POST {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            server.token,
            body.len(),
        );
        let answer = server.exchange(request.as_bytes());
        assert_eq!(answer.status, status, "{target} {answer:?}");
    }
}

#[test]
fn a_body_that_is_no_message_is_refused_in_json_that_says_why() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let plain = |kind| [("Content-Type", kind)];
    for kind in [
        "",
        "text/plain",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json, text/plain",
    ] {
        let answer = server.post(&plain(kind), &initialize());
        assert_eq!(answer.status, 415, "{kind} {answer:?}");
        assert!(why(&answer).contains("application/json"));
    }
    for kind in ["application/json; charset=utf-8", "Application/JSON"] {
        assert_eq!(
            server.post(&plain(kind), &initialize()).status,
            200,
            "{kind}"
        );
    }
    let twice = [
        ("Content-Type", "application/json"),
        ("Content-Type", "text/plain"),
    ];
    assert_eq!(server.post(&twice, &initialize()).status, 415);
    let packed = server.post(&[("Content-Encoding", "gzip")], &initialize());
    assert_eq!(packed.status, 415, "{packed:?}");
    for accept in [
        "",
        "text/html",
        "application/json",
        "text/event-stream",
        "*/*",
    ] {
        let answer = server.post(&[("Accept", accept)], &initialize());
        assert_eq!(answer.status, 406, "{accept}");
        assert!(why(&answer).contains("application/json and text/event-stream"));
    }
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("\u{1}", -32700),
        ("[]", -32600),
        ("{\"id\":4}", -32600),
        ("42", -32600),
    ] {
        let answer = server.post(&[], body);
        assert_eq!(answer.status, 400, "{body} {answer:?}");
        why(&answer);
        assert_eq!(answer.message()["error"]["code"], code, "{body}");
    }
    for method in ["PUT", "PATCH", "HEAD", "TRACE", "FOO"] {
        let request = format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            server.token
        );
        assert_eq!(server.exchange(request.as_bytes()).status, 405, "{method}");
    }
}

#[test]
fn two_tokens_are_none() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let own = format!("Bearer {}", server.token);
    let twice = [
        ("Authorization", own.as_str()),
        ("Authorization", "Bearer x"),
    ];
    let answer = server.post(&twice, &initialize());
    assert_eq!(answer.status, 401);
    why(&answer);
}

/// Connections of strangers, which never show a token, keep nobody with one waiting.
#[test]
fn connections_that_ask_nothing_give_way() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let kept_alive = |number: usize| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        match number % 3 {
            0 => {}
            1 => stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: lo").unwrap(),
            _ => {
                let body = initialize();
                let request = format!(
                    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
                    server.token,
                    body.len(),
                );
                stream.write_all(request.as_bytes()).unwrap();
                let mut piece = [0; 64];
                assert_ne!(stream.read(&mut piece).unwrap(), 0);
            }
        }
        stream
    };
    let started = Instant::now();
    let idle: Vec<TcpStream> = (0..600).map(kept_alive).collect();
    for _ in 0..20 {
        assert_eq!(server.post(&[], &initialize()).status, 200);
    }
    // Well before the ten seconds after which each of them would be dropped anyway.
    assert!(
        started.elapsed() < Duration::from_secs(9),
        "{:?}",
        started.elapsed()
    );
    drop(idle);
}

#[test]
fn an_origin_or_host_that_the_operator_names_is_taken() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let further = [
        "--http-origin",
        "http://localhost:6274",
        "--http-host",
        "files.example",
    ];
    let server = Server::start(&cli, &fixture, &further);
    let headers = [
        ("Host", "files.example"),
        ("Origin", "http://localhost:6274"),
    ];
    assert_eq!(server.post(&headers, &initialize()).status, 200);
    let other = [
        ("Host", "files.example"),
        ("Origin", "http://localhost:6275"),
    ];
    assert_eq!(server.post(&other, &initialize()).status, 403);
}

#[test]
fn no_page_may_read_an_answer_from_another_origin() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let preflight = format!(
        "OPTIONS /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n",
        server.address
    );
    let answer = server.exchange(preflight.as_bytes());
    assert!(answer.status >= 400, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[test]
fn other_machines_are_let_in_only_where_the_operator_says_so() {
    let cli = Cli::new();
    let run = cli.run(["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("--http-allow-remote"), "{run:?}");
}

#[test]
fn what_is_too_large_is_refused() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let long = "x".repeat(100 << 10);
    let answer = server.post(&[("X-Long", &long)], LIST);
    assert!(matches!(answer.status, 0 | 431), "{}", answer.status);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        server.address,
        server.token,
        64 << 20
    );
    let answer = server.exchange(head.as_bytes());
    assert_eq!(answer.status, 413, "{answer:?}");
    // It is still there for others.
    assert_eq!(server.post(&[], &initialize()).status, 200);
}

#[test]
fn a_client_that_never_finishes_its_headers_is_let_go() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
    let started = Instant::now();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(started.elapsed() < Duration::from_secs(40));
}

#[test]
fn the_token_is_not_in_the_process_list_and_not_in_the_log() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let environment = [("ROOTBOUND_HTTP_TOKEN", "a-token-that-nobody-may-see")];
    let mut server = Server::start_with(&cli, &fixture, &[], &environment);
    server.token = environment[0].1.to_owned();
    let written = server.call("write_file", json!({"path": "a.md", "content": "x"}));
    assert_eq!(written["isError"], false, "{written}");
    let arguments = std::fs::read(format!("/proc/{}/cmdline", server.process())).unwrap();
    assert!(!String::from_utf8_lossy(&arguments).contains(&server.token));
    for file in cli.audit_files() {
        let log = std::fs::read_to_string(file).unwrap();
        assert!(log.contains("\"write_file\"") && !log.contains(&server.token));
    }
}

#[test]
fn an_origin_without_a_port_does_not_let_in_every_port() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let further = [
        "--http-origin",
        "https://app.example",
        "--http-origin",
        "http://localhost",
    ];
    let server = Server::start(&cli, &fixture, &further);
    for (origin, expected) in [
        ("https://app.example", 200),
        ("https://app.example:443", 200),
        ("http://localhost", 200),
        ("https://app.example:8443", 403),
        ("http://localhost:3000", 403),
        ("http://app.example", 403),
    ] {
        let answer = server.post(&[("Origin", origin)], &initialize());
        assert_eq!(answer.status, expected, "{origin} {answer:?}");
        let names_option = answer.body.contains("--http-origin");
        assert_eq!(names_option, expected == 403, "{answer:?}");
    }
}

#[test]
fn a_name_or_an_origin_that_nothing_can_match_is_refused_at_the_start() {
    let cli = Cli::new();
    for (option, value) in [
        ("--http-origin", "*"),
        ("--http-origin", "localhost:6274"),
        ("--http-origin", "null"),
        ("--http-host", "*"),
        ("--http-host", "https://files.example"),
    ] {
        let run = cli.run(["mcp", "--http", "127.0.0.1:0", option, value]);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(option), "{run:?}");
        assert!(run.stderr.contains("example"), "{run:?}");
    }
}

#[test]
fn headers_are_bounded_where_the_manual_says() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let server = Server::start(&cli, &fixture, &[]);
    let with = |bytes: usize| {
        let long = "x".repeat(bytes);
        server.post(&[("X-Long", &long)], &initialize()).status
    };
    assert_eq!(with(31 << 10), 200);
    for bytes in [32 << 10, 40 << 10, 47 << 10] {
        assert_eq!(with(bytes), 431, "{bytes}");
    }
}
