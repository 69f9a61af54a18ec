//! Clients that ask without end and read nothing. The server stops reading them instead of
//! keeping what they are owed, and answers everything once they read.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::STATELESS;
use super::garbage::peak_memory;
use crate::support::Fixture;
use crate::support::cli::Cli;

/// A writer that waits longer than this is not read any more.
const PATIENCE: Duration = Duration::from_secs(1);
/// More lines than the server reads of any client that owes it a look at its answers.
const MANY: usize = 150_000;
/// Mebibytes that a server may have in memory at most while it is asked for small things.
const MOST: u64 = 64;

/// What is asked for again and again, and how often a line of it is answered.
struct Flood {
    name: &'static str,
    line: String,
    count: usize,
    answers: usize,
    most: u64,
}

fn flood(name: &'static str, line: impl ToString, answers: usize) -> Flood {
    Flood {
        name,
        line: line.to_string(),
        count: MANY,
        answers,
        most: MOST,
    }
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

fn stateless(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(method, params)
}

fn call(tool: &str, arguments: Value) -> Value {
    request(
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    )
}

fn with_id(id: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn notice(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn small() -> Vec<Flood> {
    let cancelled = notice("notifications/cancelled", json!({ "requestId": 7 }));
    let list = request("tools/list", json!({}));
    let reads = call("read_file", json!({ "path": "notes.md" }));
    vec![
        flood("lists", &list, 1),
        flood("stateless lists", stateless("tools/list", json!({})), 1),
        flood("pings", with_id(json!(7)), 1),
        flood("unknown methods", request("nonsense", json!({})), 1),
        flood("wrong parameters", request("tools/call", json!({})), 1),
        flood("unknown tools", call("nonsense", json!({})), 1),
        flood("reads", &reads, 1),
        flood("parse errors", "hello", 1),
        flood("batches", "[{}]", 1),
        flood("blank lines", "", 0),
        flood("long ids", with_id(json!("i".repeat(1000))), 1),
        flood("notices", notice("notifications/initialized", json!({})), 0),
        flood("cancellations", &cancelled, 0),
        flood(
            "answers to nothing",
            json!({ "jsonrpc": "2.0", "id": 7, "result": {} }),
            0,
        ),
        flood("cancelled lists", format!("{list}\n{cancelled}"), 0),
    ]
}

/// Lines of megabytes, of which fewer do.
fn large() -> Vec<Flood> {
    let text = "x".repeat(2 << 20);
    let values: Vec<u8> = vec![0; 90_000];
    let mut told = call("read_file", json!({ "path": "notes.md" }));
    told["params"]["_meta"] = json!({ "progressToken": text });
    let floods = [
        flood("ids of megabytes", with_id(json!(text)), 1),
        flood("methods of megabytes", request(&text, json!({})), 1),
        flood(
            "paths of megabytes",
            call("read_file", json!({ "path": text })),
            1,
        ),
        flood("tokens of megabytes", &told, 1),
        flood(
            "contents",
            call("write_file", json!({ "path": "../a", "content": text })),
            1,
        ),
        flood(
            "many values",
            call("read_file", json!({ "path": values })),
            1,
        ),
        flood(
            "too many values",
            call("read_file", json!({ "path": vec![0; 900_000] })),
            1,
        ),
        flood("batches of megabytes", json!([text]), 1),
        flood(
            "notices of megabytes",
            notice("notifications/x", json!({ "x": text })),
            0,
        ),
        flood(
            "notices of many values",
            notice("notifications/x", json!({ "x": values })),
            0,
        ),
        flood(
            "answers of many values",
            json!({ "jsonrpc": "2.0", "id": 7, "result": { "x": values } }),
            0,
        ),
        flood(
            "depths",
            format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
            1,
        ),
        flood(
            "parameters of megabytes",
            request("tools/list", json!({ "cursor": text })),
            1,
        ),
    ];
    let fewer = |flood| Flood {
        count: 200,
        most: 192,
        ..flood
    };
    floods.map(fewer).into()
}

/// A server whose answers nobody reads yet.
fn start(cli: &Cli, fixture: &Fixture) -> (Child, UnixStream, UnixStream) {
    let (input, theirs) = UnixStream::pair().unwrap();
    let (output, their_output) = UnixStream::pair().unwrap();
    let mut command = cli.command(["mcp", "--audit", "none", "--read"]);
    command
        .arg(fixture.inputs())
        .stdin(OwnedFd::from(theirs))
        .stdout(OwnedFd::from(their_output));
    (command.spawn().unwrap(), input, output)
}

/// Writes lines until they are all there or are not taken any more; says how many it has
/// written or broken off.
fn pour(input: &mut UnixStream, line: &str, count: usize) -> usize {
    input.set_write_timeout(Some(PATIENCE)).unwrap();
    let line = format!("{line}\n");
    for before in 0..count {
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            match input.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return before + usize::from(rest.len() < line.len());
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    count
}

fn survive(flood: &Flood) {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "x".repeat(100 << 10));
    let (mut child, mut input, output) = start(&cli, &fixture);
    let initialize = request(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        }),
    );
    pour(&mut input, &initialize.to_string(), 1);
    let lines = pour(&mut input, &flood.line, flood.count);
    let peak = peak_memory(child.id()) >> 10;
    input.shutdown(Shutdown::Write).unwrap();
    let answers = BufReader::new(output).lines().inspect(|line| {
        let line = line.as_ref().unwrap();
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    });
    // The first is to `initialize`.
    let answers = answers.count() - 1;
    let name = flood.name;
    assert_eq!(child.wait().unwrap().code(), Some(0), "{name}");
    assert!(peak < flood.most, "{name}: {peak} MiB after {lines} lines");
    // A line that was broken off is answered too, as what it is.
    assert!(
        flood.answers == 0 || answers == lines,
        "{name}: {answers} answers to {lines} lines"
    );
}

#[test]
fn a_flood_of_small_requests_that_nobody_reads_the_answers_of_takes_little_memory() {
    for flood in small() {
        survive(&flood);
    }
}

#[test]
fn a_flood_of_long_lines_takes_no_more_memory_than_a_few_of_them() {
    for flood in large() {
        survive(&flood);
    }
}
