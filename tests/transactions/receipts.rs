//! The receipt is the host's own word for what it did, and it is what stands on the disk.

use std::fs;

use rootbound::{Consent, Output};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded, sha256};

/// Everything may be read back: the write root is granted for reading as well.
fn session(fixture: &Fixture) -> Recorded {
    fixture.session_with(|builder| {
        let builder = builder.read_root(fixture.workspace());
        builder.overwrite(Consent::Allow).delete(Consent::Allow)
    })
}

fn effects(output: &Output) -> Vec<Value> {
    let receipt = output.receipt().unwrap().to_json();
    receipt["effects"].as_array().unwrap().clone()
}

fn version_of(recorded: &Recorded, path: &str) -> Value {
    recorded.fields("file_exists", json!({ "path": path }))["version"].clone()
}

#[test]
fn a_receipt_says_what_stands_on_the_disk() {
    let fixture = Fixture::new();
    fixture.work("old", "old");
    let recorded = session(&fixture);
    let large = "0123456789".repeat(200_000);
    for (path, content, operation) in [
        ("new", "", "create"),
        ("d/new", "hello", "create"),
        ("large", &large, "create"),
        ("old", "newer content", "replace"),
        ("old", "", "replace"),
    ] {
        let arguments = json!({ "path": path, "content": content });
        let output = recorded.call("write_file", arguments).unwrap();
        let effect = effects(&output).pop().unwrap();
        let on_disk = fs::read(fixture.workspace().join(path)).unwrap();
        let expected = json!({
            "operation": operation,
            "root": "workspace",
            "path": path,
            "bytes": on_disk.len(),
            "sha256": sha256(&on_disk),
            "version": version_of(&recorded, path),
        });
        assert_eq!(effect, expected);
        let read = recorded.fields("read_file", json!({ "path": path }));
        assert_eq!(read["version"], effect["version"], "{path}");
        assert_eq!(read["size"], effect["bytes"], "{path}");
    }
}

#[test]
fn a_receipt_names_the_directories_that_were_made() {
    let fixture = Fixture::new();
    fixture.work("a/old", "");
    let recorded = session(&fixture);
    for (tool, arguments, made) in [
        (
            "write_file",
            json!({ "path": "a/b/c/t", "content": "" }),
            &["a/b", "a/b/c"][..],
        ),
        (
            "create_file",
            json!({ "file_path": "a/e/t", "content": "" }),
            &["a/e"],
        ),
        (
            "create_directory",
            json!({ "dir_path": "x/y" }),
            &["x", "x/y"],
        ),
    ] {
        let effects = effects(&recorded.call(tool, arguments).unwrap());
        let directories: Vec<&Value> = effects
            .iter()
            .filter(|effect| effect["operation"] == "create-directory")
            .collect();
        let paths: Vec<&Value> = directories.iter().map(|effect| &effect["path"]).collect();
        assert_eq!(paths, made, "{tool}");
        for effect in directories {
            let path = effect["path"].as_str().unwrap();
            assert_eq!(
                effect["version"],
                version_of(&recorded, path),
                "{tool} {path}"
            );
        }
    }
}

#[test]
fn what_is_gone_has_no_version() {
    let fixture = Fixture::new();
    fixture.work("t", "old");
    fs::create_dir(fixture.workspace().join("d")).unwrap();
    let recorded = session(&fixture);
    for path in ["t", "d"] {
        let output = recorded
            .call("delete_file", json!({ "path": path }))
            .unwrap();
        let expected = json!({ "operation": "delete", "root": "workspace", "path": path });
        assert_eq!(effects(&output), [expected]);
    }
}

#[test]
fn a_receipt_is_the_audit_logs_own_account() {
    let fixture = Fixture::new();
    fixture.work("old", "old");
    let recorded = session(&fixture);
    let before = version_of(&recorded, "old");
    let arguments = json!({ "path": "old", "content": "new" });
    let output = recorded.call("write_file", arguments).unwrap();
    let receipt = output.receipt().unwrap().to_json();
    let effect = &receipt["effects"][0];
    let outcome = recorded.entries_of("outcome").pop().unwrap();
    assert_eq!(outcome["call"], receipt["call"]);
    assert_eq!(outcome["version_before"], before);
    for (of_entry, of_effect) in [
        ("operation", "operation"),
        ("root", "root"),
        ("path", "path"),
        ("bytes", "bytes"),
        ("sha256_after", "sha256"),
        ("version_after", "version"),
    ] {
        assert_eq!(outcome[of_entry], effect[of_effect], "{of_entry}");
    }
}

#[test]
fn a_call_that_changed_nothing_has_no_receipt() {
    let fixture = Fixture::new();
    fixture.input("t", "hello");
    let recorded = session(&fixture);
    for (tool, arguments) in [
        ("read_file", json!({ "path": "t" })),
        ("list_files", json!({})),
        ("file_exists", json!({ "path": "t" })),
    ] {
        let output = recorded.call(tool, arguments).unwrap();
        assert!(output.receipt().is_none(), "{tool}");
        assert!(!output.to_json().contains("receipt"), "{tool}");
    }
}

#[test]
fn a_version_changes_with_the_file_and_only_then() {
    let fixture = Fixture::new();
    let recorded = session(&fixture);
    recorded.fields("write_file", json!({ "path": "t", "content": "one" }));
    let first = version_of(&recorded, "t");
    assert_eq!(version_of(&recorded, "t"), first);
    fs::read(fixture.workspace().join("t")).unwrap();
    assert_eq!(version_of(&recorded, "t"), first);
    recorded.fields("write_file", json!({ "path": "t", "content": "two" }));
    let second = version_of(&recorded, "t");
    assert_ne!(second, first);
    fixture.work("t", "longer");
    assert_ne!(version_of(&recorded, "t"), second);
    let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let second = second.as_str().unwrap();
    assert!(
        second.len() == 32 && second.chars().all(hexadecimal),
        "{second}"
    );
}
