//! Logs that somebody altered while nobody wrote to them: none is continued as if nothing were
//! wrong.

use std::fs;
use std::path::{Path, PathBuf};

use rootbound::{AuditKey, AuditLog, CallError, Session, verify_log};
use serde_json::{Value, json};

use super::{hash_of, lines_of, verify};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};
use crate::support::tree::names;

/// What was done to the lines, from one of them on. Nothing where that cannot be done there.
type Alteration = fn(&mut Vec<String>, usize) -> Option<()>;

const ALTERATIONS: [(&str, Alteration); 8] = [
    ("edited", |lines, at| {
        lines[at] = lines[at].replacen("\"seq\":", "\"seq\":1", 1);
        Some(())
    }),
    ("edited, with a hash that fits", |lines, at| {
        lines[at] = rewritten(&lines[at]);
        // At the end nothing follows that would tell.
        (at + 1 < lines.len()).then_some(())
    }),
    ("removed", |lines, at| {
        lines.remove(at);
        (at < lines.len()).then_some(())
    }),
    ("doubled", |lines, at| {
        lines.insert(at, lines[at].clone());
        Some(())
    }),
    ("inserted, with a hash that fits", |lines, at| {
        lines.insert(at, rewritten(&lines[at]));
        Some(())
    }),
    ("moved behind the next", |lines, at| {
        let next = Some(at + 1).filter(|next| *next < lines.len())?;
        lines.swap(at, next);
        Some(())
    }),
    ("made empty", |lines, at| {
        lines[at].clear();
        Some(())
    }),
    ("cut off", |lines, at| {
        let half = lines[at].len() / 2;
        lines[at].truncate(half);
        Some(())
    }),
];

/// Another entry in the same place.
fn rewritten(line: &str) -> String {
    let mut entry: Value = serde_json::from_str(line).unwrap();
    entry["time"] = json!("2001-01-01T00:00:00.000000Z");
    let hash = hash_of(&entry);
    entry.as_object_mut().unwrap().remove("hash");
    let body = serde_json_canonicalizer::to_string(&entry).unwrap();
    format!("{},\"hash\":\"{hash}\"}}", &body[..body.len() - 1])
}

/// A log of two sessions.
fn whole_log(fixture: &Fixture) -> PathBuf {
    let log = fixture.outside().join("audit.jsonl");
    for _ in 0..2 {
        let builder = Session::builder().read_root(fixture.inputs());
        let session = builder.audit_file(&log).build().unwrap();
        session.call("list_files", "{}").unwrap();
    }
    log
}

/// Starts a session on a log, and would write something.
fn go_on(fixture: &Fixture, log: &Path) -> Result<(), CallError> {
    let log = AuditLog::file(log)?;
    let builder = Session::builder().write_root(fixture.workspace());
    let session = builder.audit(log).build().unwrap();
    session.call("write_file", json!({ "path": "t", "content": "x" }))?;
    Ok(())
}

fn assert_refused(error: &CallError, what: &str) {
    assert_eq!(error.code(), "audit-unavailable", "{what}: {error}");
    assert!(
        error.hint().contains("rootbound audit verify"),
        "{what}: {error}"
    );
    assert!(error.hint().contains("name a new file"), "{what}: {error}");
}

/// Half a line of a log is cut off for the next; the only copy of something else is not.
#[test]
fn a_file_that_is_no_log_is_left_as_it_is() {
    let fixture = Fixture::new();
    let whole = fs::read_to_string(whole_log(&fixture)).unwrap();
    let genesis = whole.lines().next().unwrap();
    let file = fixture.outside().join("theirs");
    for text in [
        "only copy, no newline",
        "\0",
        "{}",
        "{\"kind\":\"genesis\"}",
        "{\"audit\":{}}",
        "{\"audit\":{\"arguments\":\"digest\",\"x\"",
        &genesis[1..],
        &genesis.replace("rootbound-audit/1", "rootbound-audit/2"),
        &genesis.replace("\"durability\":\"fast\"", "\"durability\":\"none\""),
        &genesis.replace("\"seq\":0", "\"seq\":\u{1}0"),
        "several\nlines",
    ] {
        fs::write(&file, text).unwrap();
        assert_refused(&go_on(&fixture, &file).unwrap_err(), text);
        for command in ["check", "call"] {
            let mut run = Cli::new().command([command]);
            if command == "call" {
                run.arg("list_roots");
            }
            run.arg("--work").arg(fixture.workspace());
            let run = Run::of(run.arg("--audit").arg(&file));
            assert_ne!(run.status, Some(0), "{command}: {text}: {run:?}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(names(&fixture.workspace()), [""; 0]);
    }
}

#[test]
fn a_log_that_was_altered_anywhere_is_not_continued() {
    let fixture = Fixture::new();
    let log = whole_log(&fixture);
    let whole = lines_of(&log);
    let mut tried = 0;
    for (what, alter) in ALTERATIONS {
        for at in 0..whole.len() {
            let mut lines = whole.clone();
            if alter(&mut lines, at).is_none() {
                continue;
            }
            tried += 1;
            let what = format!("line {} {what}", at + 1);
            let altered = lines.join("\n") + "\n";
            fs::write(&log, &altered).unwrap();
            let error = go_on(&fixture, &log).unwrap_err();
            assert_refused(&error, &what);
            let fault = verify_log(altered.as_bytes(), None)
                .unwrap_err()
                .to_string();
            let line = fault.split(':').next().unwrap();
            assert!(
                error.message().contains(&format!(" {line}: ")),
                "{what}: {error}, {fault}"
            );
            assert_eq!(fs::read_to_string(&log).unwrap(), altered, "{what}");
            assert_eq!(names(&fixture.workspace()), [""; 0], "{what}");
        }
    }
    assert_eq!(tried, ALTERATIONS.len() * whole.len() - 3);
}

/// The control, and what only the head or a signature tells, as the documentation says.
#[test]
fn a_log_that_shows_nothing_wrong_is_continued() {
    for cut_off in [0, 1, 2] {
        let fixture = Fixture::new();
        let log = whole_log(&fixture);
        let mut lines = lines_of(&log);
        lines.truncate(lines.len() - cut_off);
        fs::write(&log, lines.join("\n") + "\n").unwrap();
        go_on(&fixture, &log).unwrap();
        verify(&lines_of(&log));
        assert_eq!(names(&fixture.workspace()), ["t"]);
    }
}

/// Who signs the end of a log vouches for all of it.
#[test]
fn what_is_said_to_be_signed_with_the_key_must_be() {
    let key = AuditKey::generate();
    let signed = |log: &Path| AuditLog::file(log).unwrap().signed_by(key.clone());
    for forged in [false, true] {
        let fixture = Fixture::new();
        let log = fixture.outside().join("audit.jsonl");
        let session = Session::builder().audit(signed(&log)).build().unwrap();
        session.close().unwrap();
        drop(session);
        let mut lines = lines_of(&log);
        let last = lines.pop().unwrap();
        assert!(last.contains("\"kind\":\"checkpoint\""), "{last}");
        lines.push(if forged { rewritten(&last) } else { last });
        let before = lines.join("\n") + "\n";
        fs::write(&log, &before).unwrap();
        let went_on = Session::builder().audit(signed(&log)).build();
        assert_eq!(went_on.is_err(), forged, "{went_on:?}");
        if let Err(error) = went_on {
            assert!(
                error.to_string().contains("not signed with the key"),
                "{error}"
            );
            assert_eq!(fs::read_to_string(&log).unwrap(), before);
        }
    }
}
