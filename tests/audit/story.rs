//! A short session as an investigator finds it.

use rootbound::Consent;
use serde_json::{Value, json};

use super::verify;
use crate::support::Fixture;
use crate::support::snapshot::assert_accepted;

/// Fields that differ from run to run, or from build to build.
const VOLATILE: [&str; 13] = [
    "approval",
    "component",
    "device",
    "duration_us",
    "hash",
    "inode",
    "log",
    "prev",
    "session",
    "time",
    "version_after",
    "version_before",
    "version",
];

#[test]
fn a_story_of_five_calls_reads_as_it_should() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "buy milk\n");
    let recorded = fixture.session_with(|builder| builder.overwrite(Consent::Allow));
    recorded.fields("read_file", json!({ "path": "notes.md" }));
    let write = |content: &str| json!({ "path": "out/report.md", "content": content });
    recorded.fields("write_file", write("draft"));
    recorded.fields("write_file", write("final"));
    recorded.error("read_file", json!({ "path": "../secret" }));
    fixture.work("theirs", "");
    recorded.error("delete_file", json!({ "path": "theirs" }));
    verify(&recorded.lines());
    let session = recorded.session.id().to_owned();
    let mut text = String::new();
    for mut entry in recorded.entries() {
        mask(&mut entry, &session);
        text += &format!("{entry}\n");
    }
    assert_accepted("audit/story.jsonl", &text);
}

fn mask(value: &mut Value, session: &str) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if VOLATILE.contains(&name.as_str()) {
                    *member = json!("…");
                } else {
                    mask(member, session);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, session)),
        Value::String(text) => *text = text.replace(session, "…"),
        _ => {}
    }
}

#[test]
fn every_entry_has_the_fields_and_forms_that_readers_rely_on() {
    let fixture = Fixture::new();
    fixture.input("t", "x");
    let recorded = fixture.session();
    recorded.fields("read_file", json!({ "path": "t" }));
    recorded.fields("write_file", json!({ "path": "d/t", "content": "x" }));
    recorded.error("write_file", json!({ "path": "d/t", "content": "y" }));
    for (line, entry) in recorded.lines().iter().zip(recorded.entries()) {
        let time = entry["time"].as_str().unwrap();
        assert_eq!(time.len(), "2000-01-01T00:00:00.000000Z".len(), "{line}");
        assert!(time.ends_with('Z'), "{line}");
        assert_eq!(entry["session"], recorded.session.id(), "{line}");
        let genesis = entry["kind"] == "genesis";
        assert_eq!(entry["call"].is_null(), genesis, "{line}");
        assert_eq!(entry["tool"].is_null(), genesis, "{line}");
        // Absent is absent; there are no empty fields to be told apart from it.
        let absent = |value: &Value| value.is_null() || *value == "" || *value == json!([]);
        assert!(!entry.as_object().unwrap().values().any(absent), "{line}");
        assert!(all_integers(&entry), "{line}");
        let hash = entry["hash"].as_str().unwrap();
        assert!(line.ends_with(&format!(",\"hash\":\"{hash}\"}}")), "{line}");
    }
}

fn all_integers(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_u64(),
        Value::Array(items) => items.iter().all(all_integers),
        Value::Object(members) => members.values().all(all_integers),
        _ => true,
    }
}
