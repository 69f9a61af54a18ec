//! `list_files`: one directory, in order of names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{Fixture, pipe};

fn names(listing: &Value) -> Vec<&str> {
    let entries = listing["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect()
}

#[test]
fn entries_stand_in_the_order_of_their_bytes() {
    let fixture = Fixture::new();
    for name in [
        "b",
        "B",
        "a10",
        "a2",
        "Z",
        "ä",
        ".hidden",
        "-rf",
        " lead",
        "\u{10ffff}",
    ] {
        fixture.input(name, "");
    }
    let recorded = fixture.session();
    let listing = recorded.fields("list_files", json!({}));
    let expected = [
        " lead",
        "-rf",
        ".hidden",
        "B",
        "Z",
        "a10",
        "a2",
        "b",
        "ä",
        "\u{10ffff}",
    ];
    assert_eq!(names(&listing), expected);
    assert_eq!(listing["count"], 10);
    assert_eq!(listing["truncated"], false);
    assert_eq!(listing["next_cursor"], Value::Null);
}

#[test]
fn each_entry_says_what_it_is() {
    let fixture = Fixture::new();
    fixture.input("d/deep", "");
    fixture.input("file", "hello");
    pipe(&fixture.inputs().join("pipe"));
    symlink("file", fixture.inputs().join("link")).unwrap();
    symlink("/nowhere", fixture.inputs().join("out")).unwrap();
    let recorded = fixture.session();
    let listing = recorded.fields("list_files", json!({ "details": false }));
    let expected = json!([
        { "name": "d", "type": "directory" },
        { "name": "file", "type": "file" },
        { "name": "link", "type": "symlink" },
        { "name": "out", "type": "symlink" },
        { "name": "pipe", "type": "other" },
    ]);
    assert_eq!(listing["entries"], expected);
    let detailed = recorded.fields("list_files", json!({}));
    for entry in detailed["entries"].as_array().unwrap() {
        assert!(entry["size"].is_u64(), "{entry}");
        assert!(
            entry["modified"].as_str().unwrap().ends_with('Z'),
            "{entry}"
        );
    }
    assert_eq!(detailed["entries"][1]["size"], 5);
}

#[test]
fn a_directory_is_listed_by_any_path_to_it() {
    let fixture = Fixture::new();
    fixture.input("d/e/t", "");
    symlink("d/e", fixture.inputs().join("link")).unwrap();
    let recorded = fixture.session();
    for path in ["d/e", "d/e/", "./d/e", "d/../d/e", "link", "link/."] {
        let listing = recorded.fields("list_files", json!({ "path": path }));
        assert_eq!(names(&listing), ["t"], "{path}");
        assert_eq!(listing["path"], path);
    }
    for arguments in [json!({}), json!({ "path": "." })] {
        let listing = recorded.fields("list_files", arguments);
        assert_eq!(names(&listing), ["d", "link"]);
        assert_eq!(listing["path"], ".");
    }
}

#[test]
fn an_empty_directory_has_no_entries() {
    let fixture = Fixture::new();
    let listing = fixture.session().fields("list_files", json!({}));
    assert_eq!(listing["entries"], json!([]));
    assert_eq!(listing["count"], 0);
}

/// A page's number, a name, or a listing of another kind would leave entries out silently.
#[test]
fn a_cursor_that_no_listing_gave_is_refused() {
    let fixture = Fixture::new();
    for name in ["a", "b", "c"] {
        fixture.input(name, "");
    }
    let recorded = fixture.session();
    for recursive in [false, true] {
        let with = |cursor: &Value| json!({ "limit": 2, "recursive": recursive, "cursor": cursor });
        let first = recorded.fields("list_files", with(&Value::Null));
        let cursor = &first["next_cursor"];
        assert_eq!(names(&recorded.fields("list_files", with(cursor))), ["c"]);
        let other = json!({ "recursive": !recursive, "cursor": cursor });
        assert_eq!(
            recorded.error("list_files", other).code(),
            "invalid-arguments"
        );
        for foreign in ["", "2", "b", "somewhere", "0:0:../b", "7:0:b"] {
            let error = recorded.error("list_files", with(&foreign.into()));
            assert_eq!(error.code(), "invalid-arguments", "{foreign:?}");
            assert!(error.hint().contains("next_cursor"), "{foreign:?}");
        }
    }
}

#[test]
fn what_is_no_directory_is_refused() {
    let fixture = Fixture::new();
    fixture.input("t", "");
    pipe(&fixture.inputs().join("pipe"));
    let recorded = fixture.session();
    for (path, code) in [
        ("t", "not-a-directory"),
        ("t/", "not-a-directory"),
        ("t/x", "not-a-directory"),
        ("pipe", "not-a-directory"),
        ("x", "not-found"),
    ] {
        let error = recorded.error("list_files", json!({ "path": path }));
        assert_eq!(error.code(), code, "{path}");
        assert_ne!(error.hint(), "", "{path}");
    }
}

/// Names that no path can carry are shown, marked, and stay unreachable as they are shown.
#[test]
fn names_that_cannot_be_used_are_shown_as_such() {
    let fixture = Fixture::new();
    let unusable: [(&[u8], &str); 6] = [
        (b"bad-\xff\xfe", "bad-\\xff\\xfe"),
        (b"line\nbreak", "line\nbreak"),
        (b"C:drive", "C:drive"),
        (b"back\\slash", "back\\slash"),
        (b"nul.txt", "nul.txt"),
        (b"esc\x1b[2J", "esc\u{1b}[2J"),
    ];
    for (name, _) in unusable {
        fs::write(fixture.inputs().join(OsStr::from_bytes(name)), "secret").unwrap();
    }
    fixture.input("usable", "");
    let recorded = fixture.session();
    let listing = recorded.fields("list_files", json!({}));
    let entries = listing["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 7);
    for (_, shown) in unusable {
        let entry = json!({ "name": shown, "type": "file", "usable": false });
        assert!(entries.contains(&entry), "{shown:?} in {listing}");
        let error = recorded.error("read_file", json!({ "path": shown }));
        assert_eq!(error.code(), "invalid-path", "{shown:?}");
    }
    let usable = entries.iter().find(|entry| entry["name"] == "usable");
    assert!(usable.unwrap().get("usable").is_none());
}

/// Names as an operator on Linux may have them, taken on request; no bytes but UTF-8 even then.
#[test]
fn names_of_other_systems_can_be_allowed() {
    let fixture = Fixture::new();
    for name in ["C:drive", "back\\slash", "nul.txt"] {
        fixture.input(name, "found");
    }
    fs::write(
        fixture.inputs().join(OsStr::from_bytes(b"bad-\xff")),
        "secret",
    )
    .unwrap();
    let recorded = fixture.session_with(|builder| builder.portable_names(false));
    let listing = recorded.fields("list_files", json!({}));
    for entry in listing["entries"].as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        let answer = recorded.call("read_file", json!({ "path": name }));
        if name.starts_with("bad-") {
            assert_eq!(entry["usable"], false);
            assert_eq!(answer.unwrap_err().code(), "invalid-path");
        } else {
            assert!(entry.get("usable").is_none(), "{entry}");
            assert_eq!(answer.unwrap().text(), Some("found"), "{name}");
        }
    }
}

/// A process that was killed may have left one; no tool sees or touches it.
#[test]
fn files_of_a_writer_at_work_are_not_shown() {
    let fixture = Fixture::new();
    let staged = format!(".rootbound-{}.tmp", "0123456789abcdef".repeat(2));
    fixture.input(&staged, "half a file");
    fixture.input(".rootbound-notes.tmp", "a name like any other");
    let recorded = fixture.session();
    let listing = recorded.fields("list_files", json!({}));
    assert_eq!(names(&listing), [".rootbound-notes.tmp"]);
    let error = recorded.error("read_file", json!({ "path": staged }));
    assert_eq!(error.reason(), Some("reserved"));
}
