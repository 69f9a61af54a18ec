//! Half a line at the end of a log, as a killed process or a full disk leaves it.

use std::fs;
use std::path::Path;

use rootbound::{AuditKey, AuditLog, Durability, Session};
use serde_json::{Value, json};

use super::{lines_of, verify};
use crate::support::{Fixture, sha256};

/// A log of three whole lines.
fn whole_log(fixture: &Fixture) -> Vec<u8> {
    let file = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit_file(&file).build().unwrap();
    session.call("list_files", "{}").unwrap();
    drop(session);
    fs::read(&file).unwrap()
}

#[test]
fn half_a_line_is_cut_off_and_the_next_genesis_says_so() {
    let fixture = Fixture::new();
    let whole = whole_log(&fixture);
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let file = fixture.outside().join("audit.jsonl");
    for kept in 0..lines.len() {
        let (before, line) = (lines[..kept].concat(), lines[kept]);
        for length in [1, line.len() / 2, line.len() - 1] {
            let torn = &line[..length];
            fs::write(&file, [&before, torn].concat()).unwrap();
            Session::builder().audit_file(&file).build().unwrap();
            let entries = verify(&lines_of(&file));
            assert_eq!(entries.len(), kept + 1, "{length} bytes of line {kept}");
            assert_eq!(entries[kept]["reason"], "repaired");
            let said = json!({ "bytes": length, "sha256": sha256(torn) });
            assert_eq!(entries[kept]["repaired"], said);
        }
    }
}

/// Wherever a process can have been stopped in its first line, and however it keeps its log.
#[test]
fn every_beginning_of_a_first_line_is_half_a_line() {
    let fixture = Fixture::new();
    let file = fixture.outside().join("audit.jsonl");
    let of = |file: &Path| AuditLog::file(file).unwrap();
    let kept: [fn(AuditLog) -> AuditLog; 3] = [
        |log| log,
        |log| log.signed_by(AuditKey::generate()),
        |log| log.durability(Durability::Full),
    ];
    for keep in kept {
        fs::write(&file, "").unwrap();
        let builder = Session::builder().read_root(fixture.inputs());
        drop(builder.audit(keep(of(&file))).build().unwrap());
        let whole = fs::read(&file).unwrap();
        let genesis = whole.iter().position(|byte| *byte == b'\n').unwrap();
        for length in 1..=genesis {
            fs::write(&file, &whole[..length]).unwrap();
            drop(of(&file));
        }
    }
}

/// The control: where nothing is cut off, nothing is said of it.
#[test]
fn a_whole_log_is_not_repaired() {
    let fixture = Fixture::new();
    whole_log(&fixture);
    let file = fixture.outside().join("audit.jsonl");
    let session = Session::builder().audit_file(&file).build().unwrap();
    session.call("list_files", "{}").unwrap_err();
    let entries = verify(&lines_of(&file));
    assert!(entries.iter().all(|entry| entry["repaired"] == Value::Null));
}

/// Whoever only opens a log and starts no session leaves it as it is.
#[test]
fn nothing_is_cut_off_before_that_is_recorded() {
    let fixture = Fixture::new();
    let whole = whole_log(&fixture);
    let file = fixture.outside().join("audit.jsonl");
    let torn = &whole[..whole.len() - 9];
    fs::write(&file, torn).unwrap();
    drop(AuditLog::file(&file).unwrap());
    assert_eq!(fs::read(&file).unwrap(), torn);
}
