//! How the server ends: by the end of its input, by a signal, by a client that is gone.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, GENERATIONS, Streams};
use crate::support::Fixture;
use crate::support::cli::Cli;

fn signal(process: u32, name: &str) {
    let sent = std::process::Command::new("kill")
        .args(["-s", name, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Every audit log that a server left behind is whole.
pub fn assert_verified(cli: &Cli) {
    let files = cli.audit_files();
    assert!(!files.is_empty());
    for file in files {
        let run = cli.run(["audit".as_ref(), "verify".as_ref(), file.as_os_str()]);
        assert_eq!(run.status, Some(0), "{run:?}");
    }
}

#[test]
fn the_end_of_the_input_is_a_clean_end_after_all_answers() {
    for generation in GENERATIONS {
        for streams in [Streams::Pipes, Streams::Sockets] {
            let (cli, fixture) = (Cli::new(), Fixture::new());
            let mut client = Client::spawn(&cli, &fixture, generation, &[], json!({}), streams);
            for number in 0..50 {
                let path = format!("{number}.md");
                client.ask_call("write_file", json!({"path": path, "content": "x"}));
            }
            let (status, lines) = client.finish();
            assert_eq!((status, lines.len()), (Some(0), 50), "{generation:?}");
            assert!(lines.iter().all(|line| line.contains("\"isError\":false")));
            assert_verified(&cli);
        }
    }
}

#[test]
fn a_signal_is_a_clean_end_in_the_middle_of_changes() {
    for name in ["TERM", "INT", "HUP"] {
        let (cli, fixture) = (Cli::new(), Fixture::new());
        let mut client = Client::spawn(
            &cli,
            &fixture,
            GENERATIONS[1],
            &[],
            json!({}),
            Streams::Pipes,
        );
        let content = "line\n".repeat(200_000);
        for number in 0..30 {
            let path = format!("{number}.md");
            client.ask_call("write_file", json!({"path": path, "content": content}));
        }
        client.receive();
        let started = Instant::now();
        signal(client.process(), name);
        let (status, lines) = client.wait();
        assert_eq!(status, Some(0), "{name}");
        assert!(started.elapsed() < Duration::from_secs(30));
        for line in lines {
            serde_json::from_str::<serde_json::Value>(&line).expect("whole lines only");
        }
        // Each file is there whole or not at all.
        for entry in std::fs::read_dir(fixture.workspace()).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            assert_eq!(text.len(), content.len());
        }
        assert_verified(&cli);
    }
}

#[test]
fn a_client_that_closes_both_pipes_leaves_no_server_behind() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("notes.md", "x".repeat(200 << 10));
    let mut command = cli.command(["mcp", "--read"]);
    command
        .arg(fixture.inputs())
        .stdin(std::process::Stdio::piped());
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
    });
    std::io::Write::write_all(&mut input, format!("{request}\n").as_bytes()).unwrap();
    // The input stays open: that nobody reads the answers is enough.
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(input);
    assert_verified(&cli);
}

/// `nohup` has the signal ignored, and means it.
#[test]
fn a_closed_terminal_does_not_end_a_server_that_ignores_it() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let mut command = cli.command(["mcp", "--read"]);
    let server = command.arg(fixture.inputs());
    let mut ignoring = std::process::Command::new("bash");
    ignoring.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]);
    ignoring.arg(server.get_program()).args(server.get_args());
    for (name, value) in server.get_envs() {
        match value {
            Some(value) => ignoring.env(name, value),
            None => ignoring.env_remove(name),
        };
    }
    let mut child = ignoring
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (
        child.stdin.take().unwrap(),
        BufReader::new(child.stdout.take().unwrap()),
    );
    let mut answer = || {
        writeln!(
            input,
            "{}",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
        )
        .unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        line
    };
    assert!(answer().contains("result"));
    signal(child.id(), "HUP");
    assert!(answer().contains("result"));
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The standard output is the protocol's, also where nothing starts.
#[test]
fn a_log_that_cannot_be_opened_is_told_beside_the_protocol() {
    let cli = Cli::new();
    let run = cli.run(["mcp", "--audit", "/nonexistent/audit.jsonl"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("audit-unavailable"), "{run:?}");
}
