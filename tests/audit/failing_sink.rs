//! What cannot be recorded does not happen, and no result leaves that was not recorded.

use std::io;
use std::sync::{Arc, Mutex};

use rootbound::{AuditLog, CallError, Consent, Session, StartError};
use serde_json::{Value, json};

use super::verify;
use crate::support::Fixture;
use crate::support::tree::{names, tree};

/// A log that takes all entries but the one with that number, counted over all attempts.
struct Faulty {
    log: AuditLog,
    lines: Arc<Mutex<Vec<String>>>,
}

fn fails_at(number: usize) -> Faulty {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&lines);
    let attempts = Mutex::new(0);
    let log = AuditLog::sink(move |line: &str| {
        let mut attempts = attempts.lock().unwrap();
        *attempts += 1;
        if *attempts - 1 == number {
            return Err(io::Error::other("the disk of the log is full"));
        }
        taken.lock().unwrap().push(line.to_owned());
        Ok(())
    });
    Faulty { log, lines }
}

impl Faulty {
    fn session(&self, fixture: &Fixture) -> Result<Session, StartError> {
        Session::builder()
            .read_root(fixture.inputs())
            .write_root(fixture.workspace())
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .audit(self.log.clone())
            .build()
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

fn assert_unavailable(error: &CallError) {
    assert_eq!(error.code(), "audit-unavailable", "{error}");
    assert!(!error.hint().is_empty());
}

#[test]
fn without_its_first_entry_no_session_starts() {
    let fixture = Fixture::new();
    let error = fails_at(0).session(&fixture).unwrap_err();
    match error {
        StartError::Audit(error) => assert_unavailable(&error),
        other => panic!("{other}"),
    }
}

/// The entries of a call that makes a directory and a file in it are, after the session's
/// first: intent and outcome of the directory, intent and outcome of the file, the call.
#[test]
fn a_new_file_stands_only_if_its_intent_was_recorded() {
    for (number, failed, stands) in [
        (1, "intent of the directory", false),
        (2, "outcome of the directory", false),
        (3, "intent of the file", false),
        (4, "outcome of the file", true),
        (5, "the call", true),
    ] {
        let fixture = Fixture::new();
        let faulty = fails_at(number);
        let session = faulty.session(&fixture).unwrap();
        let arguments = json!({ "path": "d/t", "content": "x" });
        let error = session.call("write_file", arguments).unwrap_err();
        assert_unavailable(&error);
        let names = names(&fixture.workspace());
        let committed = error.details().get("committed");
        if stands {
            assert_eq!(names, ["d", "d/t"], "{failed}");
            let last = committed.unwrap().as_array().unwrap().last().unwrap();
            assert_eq!(last["operation"], "create", "{failed}");
            assert_eq!(last["path"], "d/t", "{failed}");
        } else {
            assert_eq!(names, [""; 0], "{failed}");
            assert_eq!(committed, None, "{failed}");
        }
        verify(&faulty.lines());
    }
}

#[test]
fn what_destroys_is_not_done_without_its_intent() {
    for (tool, arguments) in [
        ("write_file", json!({ "path": "t", "content": "new" })),
        ("delete_file", json!({ "path": "t" })),
    ] {
        let fixture = Fixture::new();
        fixture.work("t", "old");
        let before = tree(fixture.base());
        let session = fails_at(1).session(&fixture).unwrap();
        let error = session.call(tool, arguments.clone()).unwrap_err();
        assert_unavailable(&error);
        assert_eq!(tree(fixture.base()), before, "{tool}");
        // The control: with a log that works again, the same call does it.
        session.call(tool, arguments).unwrap();
        assert_ne!(tree(fixture.base()), before, "{tool}");
    }
}

#[test]
fn no_result_leaves_before_its_access_is_recorded() {
    let fixture = Fixture::new();
    fixture.input("t", "the content");
    for (tool, arguments) in [
        ("read_file", json!({ "path": "t" })),
        ("list_files", json!({})),
        ("file_exists", json!({ "path": "t" })),
    ] {
        // The access and the call.
        for number in [1, 2] {
            let session = fails_at(number).session(&fixture).unwrap();
            let error = session.call(tool, arguments.clone()).unwrap_err();
            assert_unavailable(&error);
            let text = error.to_json().to_string();
            assert!(!text.contains("the content"), "{text}");
            session.call(tool, arguments.clone()).unwrap();
        }
    }
}

#[test]
fn a_refusal_that_cannot_be_recorded_ends_the_call() {
    let fixture = Fixture::new();
    let session = fails_at(1).session(&fixture).unwrap();
    let error = session
        .call("read_file", r#"{"path": "../x"}"#)
        .unwrap_err();
    assert_unavailable(&error);
    let error = session
        .call("read_file", r#"{"path": "../x"}"#)
        .unwrap_err();
    assert_eq!(error.reason(), Some("traversal"));
}

/// A sink that failed once goes on: what it did take is a chain without gap or fork.
#[test]
fn the_chain_survives_a_failure_anywhere() {
    for number in 1..12 {
        let fixture = Fixture::new();
        fixture.input("t", "x");
        let faulty = fails_at(number);
        let session = faulty.session(&fixture).unwrap();
        for (tool, arguments) in [
            ("read_file", json!({ "path": "t" })),
            ("write_file", json!({ "path": "d/t", "content": "x" })),
            ("read_file", json!({ "path": "../t" })),
            ("delete_file", json!({ "path": "d/t" })),
            ("read_file", json!({ "path": "t" })),
        ] {
            let _ = session.call(tool, arguments);
        }
        verify(&faulty.lines());
    }
}

#[test]
fn what_the_log_says_of_the_failure_is_not_shown_with_host_paths() {
    let fixture = Fixture::new();
    let file = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit_file(&file).build().unwrap();
    std::fs::remove_file(&file).unwrap();
    let error = session.call("list_files", json!({})).unwrap_err();
    assert_unavailable(&error);
    let text = Value::to_string(&error.to_json());
    assert!(!text.contains(fixture.base().to_str().unwrap()), "{text}");
}
