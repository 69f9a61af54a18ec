//! Many calls, and clients that do not read.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, GENERATIONS};
use super::garbage::{peak_memory, status_of};
use crate::support::Fixture;
use crate::support::cli::Cli;

/// Reads and refusals with eight in flight, some of them cancelled.
#[test]
fn memory_does_not_grow_with_the_number_of_calls() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "hello\n".repeat(700));
    let mut client = Client::over(&fixture, GENERATIONS[1], &["--audit", "none"]);
    round(&mut client, 1000);
    let early = status_of(client.process(), "VmRSS:");
    round(&mut client, 4000);
    let late = status_of(client.process(), "VmRSS:");
    // Instances of the component stay warm, a mebibyte each, and how many there were at one
    // time is chance.
    assert!(late < early + (8 << 10), "{early} KiB became {late} KiB");
    assert_eq!(client.finish().0, Some(0));
}

fn round(client: &mut Client, calls: usize) {
    let mut owed = std::collections::HashSet::new();
    for number in 0..calls {
        let path = if number % 3 == 0 {
            "absent"
        } else {
            "notes.md"
        };
        let id = client.ask_call("read_file", json!({ "path": path }));
        if number % 7 == 0 {
            let params = json!({ "requestId": id });
            client.send(
                &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
            );
        } else {
            owed.insert(id);
        }
        while owed.len() >= 8 {
            owed.remove(&client.receive()["id"].as_i64().unwrap());
        }
    }
    let last = client.ask("ping", json!({}));
    owed.insert(last);
    while !owed.is_empty() {
        owed.remove(&client.receive()["id"].as_i64().unwrap());
    }
}

/// The server stops reading instead of keeping what nobody takes.
#[test]
fn a_client_that_does_not_read_is_not_served_without_end() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "x".repeat(200 << 10));
    let mut command = cli.command(["mcp", "--audit", "none", "--read"]);
    command.arg(fixture.inputs()).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = child.stdout.take().unwrap();
    let requests = 2000;
    let writer = thread::spawn(move || {
        let initialize = json!({
            "jsonrpc": "2.0", "id": -1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
        });
        writeln!(input, "{initialize}").unwrap();
        for id in 0..requests {
            let params = json!({ "name": "read_file", "arguments": { "path": "notes.md" } });
            let request =
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            writeln!(input, "{request}").unwrap();
        }
    });
    // All that could be kept would be 400 MB; give the server time to keep it.
    thread::sleep(Duration::from_secs(2));
    assert!(
        peak_memory(child.id()) < 200 << 10,
        "{} KiB",
        peak_memory(child.id())
    );
    let mut answers = 0;
    for line in BufReader::new(output).lines() {
        let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert!(answer["result"].is_object(), "{answer}");
        answers += 1;
    }
    writer.join().unwrap();
    assert_eq!(answers, requests + 1);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
