//! Many calls, and clients that do not read.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, GENERATIONS, Streams};
use super::ending::assert_verified;
use super::garbage::{peak_memory, status_of};
use crate::support::Fixture;
use crate::support::cli::Cli;

/// Ten thousand calls of all kinds with eight in flight, some of them cancelled.
#[test]
fn memory_does_not_grow_with_the_number_of_calls() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "hello\n".repeat(700));
    let mut client = Client::spawn(
        &cli,
        &fixture,
        GENERATIONS[1],
        &["--durability", "fast", "--overwrite", "allow"],
        json!({}),
        Streams::Pipes,
    );
    round(&mut client, 0..1000);
    let early = status_of(client.process(), "VmRSS:");
    round(&mut client, 1000..10_000);
    let late = status_of(client.process(), "VmRSS:");
    // Instances of the component stay warm, a mebibyte each, and how many there were at one
    // time is chance.
    assert!(late < early + (8 << 10), "{early} KiB became {late} KiB");
    assert_eq!(client.finish().0, Some(0));
    assert_verified(&cli);
}

fn round(client: &mut Client, calls: Range<u64>) {
    let mut owed = HashSet::new();
    let mut cancelled = HashSet::new();
    for number in calls {
        let (tool, arguments) = some_call(number);
        let id = client.ask_call(tool, arguments);
        owed.insert(id);
        // As good as random, and the same each time.
        if number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61 == 0 {
            let params = json!({ "requestId": id });
            let notice =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            client.send(&notice);
            owed.remove(&id);
            cancelled.insert(id);
        }
        while owed.len() >= 8 {
            take_answer(client, &mut owed, &cancelled);
        }
    }
    owed.insert(client.ask("ping", json!({})));
    while !owed.is_empty() {
        take_answer(client, &mut owed, &cancelled);
    }
}

fn some_call(number: u64) -> (&'static str, Value) {
    match number % 8 {
        0 => ("read_file", json!({ "path": "absent" })),
        1 => ("list_files", json!({})),
        2 => (
            "search_files",
            json!({ "query": "hello", "max_results": 3 }),
        ),
        3 => {
            let path = format!("{}.md", number % 50);
            ("write_file", json!({ "path": path, "content": "done\n" }))
        }
        4 => ("read_file", json!({ "path": "../outside" })),
        5 => ("file_info", json!({ "path": "notes.md", "surprise": true })),
        _ => ("read_file", json!({ "path": "notes.md" })),
    }
}

/// Takes an answer that is owed; one that crossed its cancellation may come too.
fn take_answer(client: &Client, owed: &mut HashSet<i64>, cancelled: &HashSet<i64>) {
    let answer = client.receive();
    let id = answer["id"].as_i64().unwrap();
    assert!(owed.remove(&id) || cancelled.contains(&id), "{answer}");
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
