//! A dry run says what would happen, and nothing happens.

use rootbound::{CallOptions, Consent, SessionBuilder};
use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::Cli;
use crate::support::tree::tree;

fn dry() -> CallOptions {
    CallOptions {
        dry_run: true,
        ..CallOptions::default()
    }
}

fn arranged() -> Fixture {
    let fixture = Fixture::new();
    fixture.input("t", "readable");
    fixture.work("old", "old content");
    std::fs::create_dir(fixture.workspace().join("empty")).unwrap();
    fixture
}

fn allowing(builder: SessionBuilder) -> SessionBuilder {
    builder.overwrite(Consent::Allow).delete(Consent::Allow)
}

/// Calls that change something, and the effects that they would have.
fn changes() -> Vec<(&'static str, Value, Value)> {
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let made =
        |path: &str| json!({ "operation": "create-directory", "root": "workspace", "path": path });
    let written = |operation: &str, path: &str| {
        json!({
            "operation": operation, "root": "workspace", "path": path, "bytes": 5, "sha256": hello,
        })
    };
    let gone = |path: &str| json!({ "operation": "delete", "root": "workspace", "path": path });
    vec![
        (
            "write_file",
            json!({ "path": "a/b/new", "content": "hello" }),
            json!([made("a"), made("a/b"), written("create", "a/b/new")]),
        ),
        (
            "write_file",
            json!({ "path": "old", "content": "hello" }),
            json!([written("replace", "old")]),
        ),
        (
            "create_file",
            json!({ "file_path": "new", "content": "hello" }),
            json!([written("create", "new")]),
        ),
        (
            "create_file",
            json!({ "file_path": "old", "content": "hello", "overwrite": true }),
            json!([written("replace", "old")]),
        ),
        (
            "create_directory",
            json!({ "dir_path": "a/b" }),
            json!([made("a"), made("a/b")]),
        ),
        (
            "delete_file",
            json!({ "path": "old" }),
            json!([gone("old")]),
        ),
        (
            "delete_file",
            json!({ "path": "empty" }),
            json!([gone("empty")]),
        ),
    ]
}

#[test]
fn a_dry_run_tells_the_effects_and_changes_nothing() {
    for (tool, arguments, effects) in changes() {
        let fixture = arranged();
        let recorded = fixture.session_with(allowing);
        let before = tree(fixture.base());
        let output = recorded.session.call_with(tool, arguments.clone(), dry());
        let answer: Value = serde_json::from_str(&output.unwrap().to_json()).unwrap();
        assert_eq!(tree(fixture.base()), before, "{tool} {arguments}");
        assert_eq!(answer["dry_run"], true);
        assert_eq!(answer["effects"], effects, "{tool} {arguments}");
        assert!(answer["result"]["receipt"].is_null(), "{answer}");
        let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["dry_run", "result", "effects"]);
        assert_nothing_stayed(&recorded.entries());
    }
}

/// New directories are made at once, and recorded; all else is not even intended.
fn assert_nothing_stayed(entries: &[Value]) {
    let of = |kind: &str, outcome: Value| {
        entries
            .iter()
            .filter(|entry| entry["kind"] == kind && entry["outcome"] == outcome)
            .count()
    };
    for entry in entries {
        if entry["kind"] == "intent" || entry["kind"] == "outcome" {
            assert_eq!(entry["operation"], "create-directory", "{entry}");
        }
    }
    assert_eq!(
        of("outcome", "ok".into()),
        of("outcome", "rolled-back".into())
    );
    assert_eq!(of("call", "ok".into()), 1);
}

/// The control of the test above: the same calls in earnest have just these effects.
#[test]
fn the_effects_of_a_dry_run_are_those_of_the_call() {
    for (tool, arguments, mut effects) in changes() {
        let fixture = arranged();
        let recorded = fixture.session_with(allowing);
        let before = tree(fixture.base());
        let output = recorded.call(tool, arguments.clone()).unwrap();
        assert_ne!(tree(fixture.base()), before, "{tool} {arguments}");
        let mut receipt = output.receipt().unwrap().to_json()["effects"].clone();
        for effect in receipt.as_array_mut().unwrap() {
            effect.as_object_mut().unwrap().remove("version");
        }
        assert_eq!(receipt, effects.take(), "{tool} {arguments}");
    }
}

#[test]
fn reading_is_the_same_in_a_dry_run() {
    let fixture = arranged();
    let recorded = fixture.session();
    for (tool, arguments) in [
        ("read_file", json!({ "path": "t" })),
        ("list_files", json!({})),
        ("file_exists", json!({ "path": "t" })),
        (
            "generate_from_template",
            json!({ "template": "{{a}}", "variables": { "a": 1 } }),
        ),
    ] {
        let dry = recorded.session.call_with(tool, arguments.clone(), dry());
        let dry: Value = serde_json::from_str(&dry.unwrap().to_json()).unwrap();
        let real = recorded.call(tool, arguments).unwrap().to_json();
        let real: Value = serde_json::from_str(&real).unwrap();
        assert_eq!(
            dry,
            json!({ "dry_run": true, "result": real, "effects": [] })
        );
    }
}

/// What would be refused is refused; what would be asked about is shown, not asked.
#[test]
fn a_dry_run_answers_as_the_policy_would() {
    let fixture = arranged();
    let before = tree(fixture.base());
    for (tool, arguments, policy, expected) in [
        (
            "write_file",
            json!({ "path": "old", "content": "x" }),
            Consent::Deny,
            Err("overwrite-denied"),
        ),
        (
            "write_file",
            json!({ "path": "old", "content": "x" }),
            Consent::Ask,
            Ok("replace"),
        ),
        (
            "delete_file",
            json!({ "path": "old" }),
            Consent::Deny,
            Err("delete-denied"),
        ),
        (
            "delete_file",
            json!({ "path": "old" }),
            Consent::Ask,
            Ok("delete"),
        ),
        (
            "create_file",
            json!({ "file_path": "old", "content": "x" }),
            Consent::Allow,
            Err("exists"),
        ),
        (
            "write_file",
            json!({ "path": "../x", "content": "x" }),
            Consent::Allow,
            Err("invalid-path"),
        ),
        (
            "write_file",
            json!({ "path": "x" }),
            Consent::Allow,
            Err("invalid-arguments"),
        ),
        (
            "delete_file",
            json!({ "path": "x" }),
            Consent::Allow,
            Err("not-found"),
        ),
    ] {
        let recorded = fixture.session_with(|b| b.overwrite(policy).delete(policy));
        let answer = recorded.session.call_with(tool, arguments.clone(), dry());
        let answer = answer.map(|output| output.dry_run().unwrap()[0].operation.as_str());
        let answer = answer.as_ref().map_err(|error| error.code()).copied();
        assert_eq!(answer, expected, "{tool} {arguments}, {policy:?}");
    }
    assert_eq!(tree(fixture.base()), before);
}

#[test]
fn the_command_line_answers_a_dry_run_with_success() {
    let (fixture, cli) = (arranged(), Cli::new());
    let before = tree(fixture.base());
    let arguments = json!({ "path": "a/new", "content": "hello" });
    let workspace = fixture.workspace();
    let further = [
        "--dry-run".as_ref(),
        "--write".as_ref(),
        workspace.as_os_str(),
    ];
    let answer = cli.call("write_file", &arguments, further).success();
    assert_eq!(answer["dry_run"], true);
    assert_eq!(
        answer["result"],
        json!({ "path": "a/new", "bytes_written": 5, "created": true })
    );
    assert_eq!(answer["effects"][1]["operation"], "create");
    assert_eq!(tree(fixture.base()), before);
}

/// To clients of MCP it is an argument.
#[test]
fn the_command_line_names_its_option_where_an_argument_is_given_for_it() {
    let (fixture, cli) = (arranged(), Cli::new());
    let before = tree(fixture.base());
    let workspace = fixture.workspace();
    for name in ["dry_run", "dryrun", "dry-run"] {
        let arguments = json!({ "path": "new", "content": "hello", name: true });
        let further = ["--write".as_ref(), workspace.as_os_str()];
        let error = cli.call("write_file", &arguments, further).refusal();
        let hint = error["hint"].as_str().unwrap();
        assert!(
            hint.starts_with("`--dry-run` on the command line"),
            "{hint}"
        );
        assert!(hint.contains("known arguments: `path`"), "{hint}");
    }
    let arguments = json!({ "path": "new", "content": 5 });
    let answer = cli.call(
        "write_file",
        &arguments,
        ["--write".as_ref(), workspace.as_os_str()],
    );
    assert!(!answer.refusal().to_string().contains("dry-run"));
    assert_eq!(tree(fixture.base()), before);
}
