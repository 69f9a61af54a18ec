//! The caller's trace, from wherever it is said, in each entry of the call.

use std::fs;

use rootbound::{CallOptions, Session, TraceParent};
use serde_json::{Value, json};

use super::{initialize, lines_of, tool_call, verify};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

pub(super) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub(super) const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// The traces that the entries of calls name, in order.
fn traces(lines: &[String]) -> Vec<Value> {
    let entries = verify(lines).into_iter();
    let of_calls = entries.filter(|entry| !entry["call"].is_null());
    of_calls.map(|entry| entry["traceparent"].clone()).collect()
}

#[test]
fn every_entry_of_a_call_names_its_trace() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().work_root(fixture.workspace());
    let session = builder.audit_file(&log).build().unwrap();
    let trace: TraceParent = PARENT.parse().unwrap();
    for (tool, arguments) in [
        ("write_file", json!({ "path": "d/t", "content": "x" })),
        ("read_file", json!({ "path": "d/t" })),
        ("read_file", json!({ "path": "../t" })),
        ("delete_file", json!({ "path": "d", "recursive": true })),
        ("no_such_tool", json!({})),
    ] {
        let options = CallOptions {
            trace: Some(trace),
            ..CallOptions::default()
        };
        let _ = session.call_with(tool, arguments, options);
    }
    let named = traces(&lines_of(&log));
    assert!(
        named.len() > 12 && named.iter().all(|trace| trace == PARENT),
        "{named:?}"
    );
    // The control: a call that belongs to none names none.
    let before = named.len();
    session.call("list_files", "{}").unwrap();
    let named = traces(&lines_of(&log));
    assert!(named[before..].iter().all(Value::is_null), "{named:?}");
}

#[test]
fn the_environment_of_a_command_names_it() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.outside().join("audit.jsonl");
    let mut expected = Vec::new();
    for (variable, named) in [
        (Some(PARENT), json!(PARENT)),
        (None, Value::Null),
        // What is none is as good as absent.
        (Some("hello\u{1b}[2J"), Value::Null),
        (Some(""), Value::Null),
    ] {
        let mut command = cli.command(["call", "list_files", "{}"]);
        command
            .arg("--read")
            .arg(fixture.inputs())
            .arg("--audit")
            .arg(&log);
        match variable {
            Some(variable) => command.env("TRACEPARENT", variable),
            None => command.env_remove("TRACEPARENT"),
        };
        Run::of(&mut command).success();
        expected.extend([named.clone(), named]);
    }
    assert_eq!(traces(&lines_of(&log)), expected);
}

/// As the revision 2026-07-28 has it, and as clients of earlier ones do.
#[test]
fn a_request_to_the_server_names_it() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.outside().join("audit.jsonl");
    let mut command = cli.command(["mcp"]);
    command
        .arg("--read")
        .arg(fixture.inputs())
        .arg("--audit")
        .arg(&log);
    let call = |id, meta| tool_call(id, "list_files", json!({}), meta);
    let messages = [
        initialize(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        call(2, json!({ "traceparent": PARENT })),
        call(3, json!({ "traceparent": 1 })),
    ];
    let input: String = messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
    let run = Run::with_input(&mut command, input.as_bytes());
    assert_eq!(run.status, Some(0), "{run:?}");
    let mut named = traces(&lines_of(&log));
    named.sort_by_key(Value::is_null);
    assert_eq!(
        named,
        [json!(PARENT), json!(PARENT), Value::Null, Value::Null]
    );
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(text.matches(TRACE).count(), 2);
}
