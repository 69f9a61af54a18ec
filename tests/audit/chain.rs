//! Each line is bound to the one before, whatever happens in between.

use std::fs;
use std::path::Path;
use std::thread;

use rootbound::{AuditLog, Limits, Session};
use serde_json::json;

use super::{lines_of, verify};
use crate::support::Fixture;
use crate::support::cli::Cli;

#[test]
fn the_chain_holds_over_all_kinds_of_entries_and_names() {
    let fixture = Fixture::new();
    let strange = "ä\u{2028}\u{e000}\u{10ffff} \"q\" \u{ad}";
    fixture.input(strange, "x");
    fixture.work("theirs", "");
    let recorded = fixture.session();
    recorded.fields("list_files", json!({}));
    recorded.fields("read_file", json!({ "path": strange }));
    recorded.fields("write_file", json!({ "path": strange, "content": "x" }));
    recorded.fields("write_file", json!({ "path": "d/d/t", "content": "x" }));
    recorded.error(
        "read_file",
        json!({ "path": "\u{1}\u{8}\t\n\u{c}\r\u{1f}\u{7f}\u{85}\\" }),
    );
    recorded.error("\u{0}\u{1b}[2J", json!({}));
    recorded.error("delete_file", json!({ "path": "theirs" }));
    let entries = verify(&recorded.lines());
    let mut kinds: Vec<&str> = entries
        .iter()
        .map(|e| e["kind"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let expected = [
        "access", "approval", "call", "genesis", "intent", "outcome", "refusal",
    ];
    assert_eq!(kinds, expected);
}

/// The control: the check does notice a change of a single character.
#[test]
#[should_panic(expected = "assertion")]
fn a_changed_line_breaks_the_chain() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    recorded.error("read_file", json!({ "path": "secret" }));
    let mut lines = recorded.lines();
    lines[0] = lines[0].replacen("inputs", "output", 1);
    verify(&lines);
}

/// RFC 8785 carries integers up to 2^53 only; what the operator may set goes beyond.
#[test]
fn limits_without_limit_do_not_break_the_chain() {
    let fixture = Fixture::new();
    let limits = Limits {
        max_read_bytes: u64::MAX,
        max_call_read_bytes: (1 << 53) + 1,
        max_write_bytes: u64::MAX - 1,
        max_output_bytes: u64::MAX,
        max_entries: u64::MAX,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|builder| builder.limits(limits));
    verify(&recorded.lines());
}

#[test]
fn calls_at_the_same_time_are_recorded_one_after_the_other() {
    const THREADS: usize = 8;
    const CALLS: usize = 25;
    let fixture = Fixture::new();
    fixture.input("t", "x");
    let recorded = fixture.session();
    thread::scope(|scope| {
        for number in 0..THREADS {
            let session = recorded.session.clone();
            scope.spawn(move || {
                for call in 0..CALLS {
                    let path = format!("{number}/{call}");
                    let write = json!({ "path": path, "content": "x" });
                    session.call("write_file", write).unwrap();
                    session.call("read_file", r#"{"path": "t"}"#).unwrap();
                    session
                        .call("read_file", r#"{"path": "../t"}"#)
                        .unwrap_err();
                }
            });
        }
    });
    let entries = verify(&recorded.lines());
    let calls = entries.iter().filter(|entry| entry["kind"] == "call");
    assert_eq!(calls.count(), THREADS * CALLS * 3);
}

#[test]
fn sessions_that_share_a_log_share_its_chain() {
    let fixture = Fixture::new();
    let file = fixture.outside().join("audit.jsonl");
    let log = AuditLog::file(&file).unwrap();
    let sessions = [1, 2].map(|_| {
        let builder = Session::builder().read_root(fixture.inputs());
        builder.audit(log.clone()).build().unwrap()
    });
    for session in sessions.iter().cycle().take(6) {
        session.call("list_files", "{}").unwrap();
    }
    let entries = verify(&lines_of(&file));
    let genesis = entries.iter().filter(|entry| entry["kind"] == "genesis");
    assert_eq!(genesis.count(), 2);
    assert_ne!(sessions[0].id(), sessions[1].id());
}

#[test]
fn a_file_is_continued_by_the_next_process() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.input("t", "x");
    let file = fixture.outside().join("audit.jsonl");
    let inputs = fixture.inputs();
    let further: [&Path; 4] = ["--audit".as_ref(), &file, "--read".as_ref(), &inputs];
    let mut lengths = Vec::new();
    for path in ["t", "../t", "missing"] {
        cli.call("read_file", &json!({ "path": path }), further);
        lengths.push(lines_of(&file).len());
    }
    assert_eq!(lengths, [3, 6, 8]);
    let entries = verify(&lines_of(&file));
    let genesis = entries.iter().filter(|entry| entry["kind"] == "genesis");
    let previous: Vec<&str> = genesis
        .map(|entry| entry["prev"].as_str().unwrap())
        .collect();
    assert_eq!(previous.len(), 3);
    assert_eq!(previous[0], "0".repeat(64));
    assert_eq!(previous[1], entries[2]["hash"]);
    assert_eq!(previous[2], entries[5]["hash"]);
    assert!(cli.audit_files().is_empty());
}

#[test]
fn an_empty_file_is_the_beginning_of_a_log() {
    let fixture = Fixture::new();
    let file = fixture.outside().join("audit.jsonl");
    fs::write(&file, "").unwrap();
    let builder = Session::builder().audit_file(&file);
    builder.build().unwrap();
    assert_eq!(verify(&lines_of(&file)).len(), 1);
}
