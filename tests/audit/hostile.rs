//! Names and arguments chosen by a stranger: each entry stays one line of JSON, and nothing
//! is in it that should not be.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::{Consent, Session};
use serde_json::{Value, json};

use super::{lines_of, verify};
use crate::support::{Fixture, Recorded};

const STRANGE: [&str; 14] = [
    "a\nb",
    "a\r\nb",
    "\"},{\"kind\":\"call\"",
    "\\\",\\n",
    "\u{0}",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{7f}\u{80}\u{85}\u{9f}",
    "gpj.\u{202e}exe",
    "\u{2028}\u{2029}",
    "\u{200b}\u{feff}",
    "\u{fffd}\u{fffe}\u{ffff}",
    "\u{10ffff}",
    "</script><script>",
    "%00%0a",
];

/// Calls with the text in every place where a caller can put one.
fn calls(text: &str) -> Vec<(String, Value)> {
    let tools = [
        ("read_file", json!({ "path": text })),
        ("list_files", json!({ "path": text })),
        ("file_exists", json!({ "path": text })),
        ("read_pptx", json!({ "path": text })),
        ("delete_file", json!({ "path": text })),
        ("create_directory", json!({ "dir_path": text })),
        ("write_file", json!({ "path": text, "content": text })),
        (
            "create_file",
            json!({ "file_path": text, "content": text, "overwrite": true }),
        ),
        (
            "generate_from_template",
            json!({ "template": text, "variables": { text: text } }),
        ),
        ("read_file", json!({ text: text })),
        (text, json!({})),
    ];
    tools
        .map(|(tool, arguments)| (tool.to_owned(), arguments))
        .into()
}

fn session(fixture: &Fixture) -> Recorded {
    fixture.session_with(|b| b.overwrite(Consent::Allow).delete(Consent::Allow))
}

#[test]
fn strange_names_and_arguments_stay_inside_their_line() {
    let fixture = Fixture::new();
    let recorded = session(&fixture);
    for text in STRANGE {
        for (tool, arguments) in calls(text) {
            let _ = recorded.call(&tool, arguments);
        }
    }
    for line in recorded.lines() {
        assert!(!line.contains(['\n', '\r', '\0', '\u{1b}']), "{line:?}");
    }
    let entries = verify(&recorded.lines());
    let calls = entries
        .iter()
        .filter(|entry| entry["kind"] == "call")
        .count();
    assert_eq!(calls, STRANGE.len() * 11);
    let kinds = ["genesis", "access", "intent", "outcome", "refusal", "call"];
    for entry in entries {
        assert!(kinds.contains(&entry["kind"].as_str().unwrap()), "{entry}");
    }
}

/// A file is split into lines only where an entry ends.
#[test]
fn strange_names_stay_inside_their_line_in_a_file() {
    let fixture = Fixture::new();
    let file = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit_file(&file).build().unwrap();
    for text in STRANGE {
        let _ = session.call(text, json!({}));
        let _ = session.call("read_file", json!({ "path": text }));
    }
    drop(session);
    let bytes = fs::read(&file).unwrap();
    let control = |byte: &&u8| **byte < b' ' && **byte != b'\n';
    assert_eq!(bytes.iter().find(control), None);
    verify(&lines_of(&file));
}

#[test]
fn a_megabyte_of_name_does_not_fill_the_log() {
    let fixture = Fixture::new();
    let recorded = session(&fixture);
    for text in ["ä/".repeat(1 << 19), "\u{1}".repeat(1 << 20)] {
        recorded.forget();
        for (tool, arguments) in calls(&text) {
            let _ = recorded.call(&tool, arguments);
        }
        let size: usize = recorded.lines().iter().map(String::len).sum();
        assert!(size < 1 << 20, "{size} bytes");
    }
}

/// A log with such entries can still be continued: the last line is found again.
#[test]
fn a_log_that_ends_in_a_long_line_is_continued() {
    let fixture = Fixture::new();
    let file = fixture.outside().join("audit.jsonl");
    for _ in 0..2 {
        let builder = Session::builder().read_root(fixture.inputs());
        let session = builder.audit_file(&file).build().unwrap();
        session
            .call(&"\u{1}".repeat(1 << 20), json!({}))
            .unwrap_err();
    }
    verify(&lines_of(&file));
}

#[test]
fn a_root_with_a_strange_name_keeps_every_line_whole() {
    let fixture = Fixture::new();
    let strange = fixture.base().join("in\"p\nu\\ts\u{202e}");
    fs::create_dir(&strange).unwrap();
    fs::write(strange.join("t"), "x").unwrap();
    let recorded = Recorded::build(Session::builder().read_root(&strange));
    let output = recorded.call("read_file", json!({ "path": "t" })).unwrap();
    let printed: Value = serde_json::from_str(&output.to_json()).unwrap();
    let label = printed["root"].as_str().unwrap();
    assert!(!label.contains('\n'), "{label:?}");
    let entries = verify(&recorded.lines());
    assert_eq!(entries[0]["grants"][0]["label"], label);
    assert_eq!(entries[1]["root"], label);
}

#[test]
fn contents_and_host_paths_are_never_in_the_log_nor_in_errors() {
    const SECRET: &str = "the-content-nobody-may-log";
    let fixture = Fixture::new();
    fixture.input("t", SECRET);
    fixture.input("d/t", [SECRET.as_bytes(), b"\xff"].concat());
    fixture.work("old", SECRET);
    let outside = fixture.outside().join("t");
    fs::write(&outside, SECRET).unwrap();
    symlink(&outside, fixture.inputs().join("absolute")).unwrap();
    symlink("../outside/t", fixture.inputs().join("out")).unwrap();
    symlink(&outside, fixture.workspace().join("absolute")).unwrap();
    let recorded = session(&fixture);
    let mut errors = String::new();
    for path in [
        "t",
        "d",
        "d/t",
        "out",
        "absolute",
        "old",
        "new/t",
        "../x",
        "t/x",
        outside.to_str().unwrap(),
    ] {
        for (tool, arguments) in [
            ("read_file", json!({ "path": path })),
            ("read_pptx", json!({ "path": path })),
            ("list_files", json!({ "path": path })),
            ("file_exists", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": SECRET })),
            (
                "create_file",
                json!({ "file_path": path, "content": SECRET }),
            ),
            ("create_directory", json!({ "dir_path": path })),
            ("delete_file", json!({ "path": path })),
            (
                "generate_from_template",
                json!({ "template": SECRET, "variables": {} }),
            ),
        ] {
            if let Err(error) = recorded.call(tool, arguments) {
                errors += &error.to_json().to_string();
            }
        }
    }
    let log = recorded.lines().join("\n");
    assert!(log.lines().count() > 90, "the calls left few entries");
    for text in [&log, &errors] {
        assert!(!text.contains(SECRET));
    }
    // The one host path that may be there is the one that the caller named.
    let base = fixture.base().to_str().unwrap();
    let named = json!(outside.to_str().unwrap()).to_string();
    assert!(!log.replace(&format!("\"path\":{named}"), "").contains(base));
    assert!(!errors.contains(base), "{errors}");
}
