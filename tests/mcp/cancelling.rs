//! Calls that nobody wants any more, and calls beside long ones.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, GENERATIONS, Generation, Streams};
use crate::hostile::component;
use crate::support::Fixture;
use crate::support::cli::Cli;

/// Arguments for a server whose tools run for ever, or read four gibibytes of nothing a
/// thousand bytes at a time.
pub fn with_long_calls(fixture: &Fixture) -> Vec<String> {
    let file = std::fs::File::create(fixture.inputs().join("data.bin")).unwrap();
    file.set_len(4 << 30).unwrap();
    let file = fixture.base().join("hostile.wasm");
    std::fs::write(&file, component::bytes()).unwrap();
    let words = [
        "--component",
        file.to_str().unwrap(),
        "--timeout-ms",
        "30000",
        "--max-read-bytes",
        "8GiB",
        "--max-call-read-bytes",
        "8GiB",
    ];
    words.map(str::to_owned).into()
}

/// A server whose tools run for ever.
fn start(cli: &Cli, fixture: &Fixture, generation: Generation) -> Client {
    let further = with_long_calls(fixture);
    let further: Vec<&str> = further.iter().map(String::as_str).collect();
    Client::spawn(
        cli,
        fixture,
        generation,
        &further,
        json!({}),
        Streams::Pipes,
    )
}

pub fn entries(cli: &Cli) -> Vec<Value> {
    let files = cli.audit_files();
    let text: String = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    // A line that is being written is no entry yet.
    let whole = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    whole
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_cancelled_call_stops_and_is_not_answered() {
    for generation in GENERATIONS {
        let (cli, fixture) = (Cli::new(), Fixture::new());
        let mut client = start(&cli, &fixture, generation);
        let started = Instant::now();
        let id = client.ask_call("loop_for_ever", json!({}));
        let params = json!({ "requestId": id });
        client.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        );
        // The end of the input waits for calls that run; this one does not any more.
        let (status, lines) = client.finish();
        assert_eq!((status, lines), (Some(0), vec![]), "{generation:?}");
        assert!(started.elapsed() < Duration::from_secs(15));
        let entries = entries(&cli);
        let call = entries
            .iter()
            .find(|entry| entry["kind"] == "call")
            .unwrap();
        assert_eq!(
            (&call["outcome"], &call["code"]),
            (&json!("cancelled"), &json!("cancelled"))
        );
    }
}

#[test]
fn a_short_call_does_not_wait_for_a_long_one() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let mut client = start(&cli, &fixture, GENERATIONS[0]);
    for _ in 0..4 {
        client.ask_call("loop_for_ever", json!({}));
    }
    for _ in 0..20 {
        let id = client.ask("ping", json!({}));
        let answer = client
            .receive_within(Duration::from_secs(5))
            .expect("an answer");
        assert_eq!(answer["id"], id);
    }
}

/// A tool has some of the places for calls that run, and never all.
#[test]
fn a_short_call_waits_for_no_long_ones_however_many_they_are() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let mut client = start(&cli, &fixture, GENERATIONS[0]);
    for _ in 0..100 {
        client.ask_call("loop_for_ever", json!({}));
    }
    for _ in 0..3 {
        let id = client.ask_call("reach_siblings", json!({}));
        // The long ones take thirty seconds.
        let answer = client
            .receive_within(Duration::from_secs(15))
            .expect("an answer");
        assert_eq!(answer["id"], id);
    }
}

#[test]
fn a_caller_who_wants_to_hears_how_far_a_call_is() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    for generation in GENERATIONS {
        let mut client = start(&cli, &fixture, generation);
        let params = json!({ "name": "read_in_small_pieces", "arguments": {}, "_meta": { "progressToken": "p" } });
        let id = client.ask("tools/call", params);
        let mut last = 0.0;
        for _ in 0..3 {
            let told = client.receive();
            assert_eq!(told["method"], "notifications/progress", "{told}");
            assert_eq!(told["params"]["progressToken"], "p");
            let progress = told["params"]["progress"].as_f64().unwrap();
            assert!(progress > last, "{told}");
            last = progress;
        }
        let params = json!({ "requestId": id });
        client.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        );
        assert_eq!(client.finish().0, Some(0));
    }
}
