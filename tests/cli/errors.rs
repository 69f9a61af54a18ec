//! The error object: its keys are a contract.

use std::fs;

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::Cli;

/// The members of every error object, in this order.
const BASE: [&str; 4] = ["code", "reason", "message", "hint"];

/// A call, its code and reason, and the members that this code has besides.
type Row = (
    &'static str,
    Value,
    &'static str,
    Option<&'static str>,
    &'static [&'static str],
);

#[test]
fn an_error_object_has_the_documented_members_and_no_others() {
    let rows: [Row; 15] = [
        (
            "read_file",
            json!({ "path": "missing" }),
            "not-found",
            None,
            &[],
        ),
        (
            "read_file",
            json!({ "path": "../x" }),
            "invalid-path",
            Some("traversal"),
            &[],
        ),
        ("read_file", json!({ "path": "d" }), "not-a-file", None, &[]),
        ("read_file", json!({ "path": "out" }), "escape", None, &[]),
        (
            "read_file",
            json!({ "path": "bytes" }),
            "not-text",
            None,
            &["offset", "mime_type"],
        ),
        (
            "read_file",
            json!({ "path": "large" }),
            "limit-exceeded",
            None,
            &["limit", "value", "actual"],
        ),
        (
            "read_file",
            json!({ "path": "d", "x": 1 }),
            "invalid-arguments",
            None,
            &["known", "example"],
        ),
        (
            "read_file",
            json!({}),
            "invalid-arguments",
            None,
            &["known", "example"],
        ),
        (
            "read_file",
            json!([]),
            "invalid-arguments",
            None,
            &["known", "example"],
        ),
        ("no_such_tool", json!({}), "unknown-tool", None, &["known"]),
        (
            "write_file",
            json!({ "path": "old", "content": "x" }),
            "overwrite-denied",
            None,
            &[],
        ),
        (
            "create_file",
            json!({ "file_path": "old", "content": "x" }),
            "exists",
            None,
            &[],
        ),
        (
            "delete_file",
            json!({ "path": "old" }),
            "approval-required",
            None,
            &[],
        ),
        (
            "list_files",
            json!({ "path": "bytes" }),
            "not-a-directory",
            None,
            &[],
        ),
        (
            "generate_from_template",
            json!({ "template": "{{a}}", "variables": {} }),
            "invalid-arguments",
            None,
            &["missing"],
        ),
    ];
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.input("d/t", "");
    fixture.input("bytes", b"\xff");
    fixture.input("large", "x".repeat(11));
    fixture.work("old", "old");
    std::os::unix::fs::symlink("../outside", fixture.inputs().join("out")).unwrap();
    let (inputs, workspace) = (fixture.inputs(), fixture.workspace());
    let further = [
        "--read",
        inputs.to_str().unwrap(),
        "--write",
        workspace.to_str().unwrap(),
        "--max-read-bytes=10",
    ];
    for (tool, arguments, code, reason, besides) in rows {
        let run = cli.call(tool, &arguments, further);
        let error = run.refusal();
        let keys: Vec<&String> = error.as_object().unwrap().keys().collect();
        let expected: Vec<&&str> = BASE.iter().chain(besides).collect();
        assert_eq!(keys, expected, "{tool} {arguments}");
        assert_eq!(error["code"], code, "{tool} {arguments}");
        assert_eq!(error["reason"], json!(reason), "{tool} {arguments}");
        let whole = run.json();
        assert_eq!(whole.as_object().unwrap().len(), 1, "{whole}");
        assert_well_worded(&error);
    }
}

/// Lower case, no full stop, and a hint to act on.
fn assert_well_worded(error: &Value) {
    let message = error["message"].as_str().unwrap();
    let first = message.chars().next().unwrap();
    assert!(!first.is_uppercase(), "{error}");
    assert!(!message.ends_with('.'), "{error}");
    assert_ne!(error["hint"], "", "{error}");
}

#[test]
fn an_unwritable_log_is_an_error_object_too() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let audit = fixture.outside();
    for command in ["call", "check"] {
        let mut arguments = vec![command.as_ref(), "--audit".as_ref(), audit.as_os_str()];
        if command == "call" {
            arguments.insert(1, "list_files".as_ref());
        }
        let error = cli.run(arguments).refusal();
        assert_eq!(error["code"], "audit-unavailable", "{command}");
    }
}

/// The agent sees roots by label and paths as it gave them; the operator's directories are
/// none of its business.
#[test]
fn no_error_object_names_a_host_path() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let base = fixture.base().to_str().unwrap().to_owned();
    fixture.input("t", "");
    fs::create_dir(fixture.workspace().join("d")).unwrap();
    let (inputs, workspace) = (fixture.inputs(), fixture.workspace());
    let further = [
        "--read".as_ref(),
        inputs.as_os_str(),
        "--write".as_ref(),
        workspace.as_os_str(),
    ];
    for (tool, name) in [
        ("read_file", "path"),
        ("list_files", "path"),
        ("read_pptx", "path"),
        ("write_file", "path"),
        ("create_directory", "dir_path"),
        ("delete_file", "path"),
    ] {
        for path in ["missing", "t", "d", "t/x", "../x", "/etc/hosts", ""] {
            let mut arguments = json!({ name: path });
            if tool == "write_file" {
                arguments["content"] = "x".into();
            }
            let run = cli.call(tool, &arguments, further);
            assert!(!run.stdout.contains(&base), "{tool} {path}: {}", run.stdout);
        }
    }
}
