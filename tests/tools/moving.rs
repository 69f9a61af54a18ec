//! `move_file` and `copy_file`: nothing is replaced unless policy and call both say so.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::{Consent, Session};
use serde_json::{Value, json};

use crate::support::tree::names;
use crate::support::{Fixture, Recorded, pipe};

const TOOLS: [&str; 2] = ["move_file", "copy_file"];

fn working(fixture: &Fixture, overwrite: Consent, delete: Consent) -> Recorded {
    let builder = Session::builder().work_root(fixture.workspace());
    Recorded::build(builder.overwrite(overwrite).delete(delete))
}

fn allowing(fixture: &Fixture) -> Recorded {
    working(fixture, Consent::Allow, Consent::Allow)
}

fn paths(from: &str, to: &str) -> Value {
    json!({ "from": from, "to": to })
}

fn with_overwrite(from: &str, to: &str) -> Value {
    json!({ "from": from, "to": to, "overwrite": true })
}

#[test]
fn a_file_gets_its_new_name_and_the_directories_above_it() {
    for tool in TOOLS {
        let fixture = Fixture::new();
        fixture.work("a", b"\xff\0 bytes");
        let output = allowing(&fixture).call(tool, paths("a", "d/e/b")).unwrap();
        assert_eq!(
            fs::read(fixture.workspace().join("d/e/b")).unwrap(),
            b"\xff\0 bytes"
        );
        assert_eq!(fixture.workspace().join("a").exists(), tool == "copy_file");
        let effects = &output.receipt().unwrap().effects;
        let operations: Vec<&str> = effects
            .iter()
            .map(|effect| effect.operation.as_str())
            .collect();
        let last = if tool == "move_file" {
            "rename"
        } else {
            "create"
        };
        assert_eq!(operations.last(), Some(&last), "{operations:?}");
    }
}

#[test]
fn a_name_that_is_taken_is_replaced_only_if_policy_and_call_say_so() {
    for tool in TOOLS {
        for (overwrite, arguments, code) in [
            (Consent::Allow, paths("a", "b"), Some("exists")),
            (Consent::Deny, paths("a", "b"), Some("exists")),
            (
                Consent::Deny,
                with_overwrite("a", "b"),
                Some("overwrite-denied"),
            ),
            (
                Consent::Ask,
                with_overwrite("a", "b"),
                Some("approval-required"),
            ),
            (Consent::Allow, with_overwrite("a", "b"), None),
        ] {
            let fixture = Fixture::new();
            fixture.work("a", "A");
            fixture.work("b", "B");
            let recorded = working(&fixture, overwrite, Consent::Allow);
            let answer = recorded.call(tool, arguments.clone());
            let found = answer.as_ref().err().map(|error| error.code().to_owned());
            assert_eq!(found.as_deref(), code, "{tool} {arguments} {overwrite:?}");
            let expected = if code.is_none() { "A" } else { "B" };
            assert_eq!(fixture.workspace_text("b"), expected);
            assert_eq!(
                fixture.workspace().join("a").exists(),
                tool == "copy_file" || code.is_some()
            );
        }
    }
}

#[test]
fn moving_away_is_governed_like_deleting() {
    let fixture = Fixture::new();
    fixture.work("a", "A");
    for (delete, code) in [
        (Consent::Deny, "delete-denied"),
        (Consent::Ask, "approval-required"),
    ] {
        let recorded = working(&fixture, Consent::Allow, delete);
        assert_eq!(recorded.error("move_file", paths("a", "d/b")).code(), code);
        assert_eq!(names(&fixture.workspace()), ["a"]);
    }
}

#[test]
fn directories_are_moved_whole_and_never_over_anything() {
    for (from, to) in [("d", "e/f"), ("d/", "e/f"), ("d", "e/f/")] {
        let fixture = Fixture::new();
        fixture.work("d/inner/x", "x");
        allowing(&fixture)
            .call("move_file", paths(from, to))
            .unwrap();
        assert_eq!(
            names(&fixture.workspace()),
            ["e", "e/f", "e/f/inner", "e/f/inner/x"],
            "{from} {to}"
        );
    }
    let fixture = Fixture::new();
    fixture.work("d/x", "x");
    fixture.work("file", "file");
    fs::create_dir(fixture.workspace().join("empty")).unwrap();
    let recorded = allowing(&fixture);
    let before = names(&fixture.workspace());
    for (arguments, code) in [
        (paths("d", "empty"), "exists"),
        (with_overwrite("d", "empty"), "exists"),
        (with_overwrite("d", "file"), "exists"),
        (with_overwrite("file", "empty"), "exists"),
        (paths("file/", "g"), "not-a-directory"),
        (paths("file", "g/"), "not-a-directory"),
        (paths("d", "d/inside"), "invalid-arguments"),
    ] {
        assert_eq!(
            recorded.error("move_file", arguments.clone()).code(),
            code,
            "{arguments}"
        );
        assert_eq!(names(&fixture.workspace()), before);
    }
    assert_eq!(
        recorded.error("copy_file", paths("d", "copy")).code(),
        "not-a-file"
    );
}

#[test]
fn copies_come_from_where_may_be_read_and_go_where_may_be_written() {
    let fixture = Fixture::new();
    fixture.input("a", "input");
    fixture.work("w", "work");
    let recorded = fixture.session();
    let fields = recorded.fields("copy_file", paths("a", "a"));
    assert_eq!(
        (&fields["root"], &fields["bytes_written"]),
        (&json!("inputs"), &json!(5))
    );
    assert_eq!(fixture.workspace_text("a"), "input");
    assert_eq!(
        recorded.error("copy_file", paths("w", "v")).code(),
        "not-found"
    );
    assert_eq!(
        recorded.error("move_file", paths("nothing", "v")).code(),
        "not-found"
    );
    assert_eq!(names(&fixture.workspace()), ["a", "w"]);
}

#[test]
fn a_large_copy_is_the_same_and_counts() {
    let fixture = Fixture::new();
    let content: Vec<u8> = (0..3_000_001_u32).map(|n| (n / 7) as u8).collect();
    fixture.input("large", &content);
    fixture.input("too_large", vec![1; 6 << 20]);
    let recorded = fixture.session();
    recorded.call("copy_file", paths("large", "copy")).unwrap();
    assert!(fs::read(fixture.workspace().join("copy")).unwrap() == content);
    let error = recorded.error("copy_file", paths("too_large", "copy2"));
    assert_eq!(
        (error.code(), &error.details()["limit"]),
        ("limit-exceeded", &json!("max_write_bytes"))
    );
}

#[test]
fn what_is_no_regular_file_is_neither_moved_nor_copied() {
    let fixture = Fixture::new();
    fixture.work("two", "x");
    fs::write(fixture.outside().join("secret"), "secret").unwrap();
    symlink("../outside/secret", fixture.workspace().join("out")).unwrap();
    symlink("two", fixture.workspace().join("link")).unwrap();
    pipe(&fixture.workspace().join("pipe"));
    let recorded = allowing(&fixture);
    for (tool, from, code) in [
        ("move_file", "out", "escape"),
        ("copy_file", "out", "escape"),
        ("move_file", "link", "not-a-file"),
        ("move_file", "pipe", "not-a-file"),
        ("copy_file", "pipe", "not-a-file"),
        ("move_file", "../outside/secret", "invalid-path"),
        ("copy_file", "../outside/secret", "invalid-path"),
    ] {
        assert_eq!(
            recorded.error(tool, paths(from, "to")).code(),
            code,
            "{tool} {from}"
        );
    }
    for tool in TOOLS {
        for to in [
            "../outside/new",
            "out",
            "out/new",
            "d/\u{202e}fdp",
            "/tmp/x",
        ] {
            recorded.error(tool, paths("two", to));
        }
    }
    assert_eq!(names(&fixture.outside()), ["secret"]);
}

#[test]
fn the_version_that_is_expected_is_that_of_what_is_destroyed() {
    let fixture = Fixture::new();
    fixture.work("a", "A");
    fixture.work("b", "B");
    let recorded = allowing(&fixture);
    let version =
        |path: &str| recorded.fields("file_exists", json!({ "path": path }))["version"].clone();
    let with = |mut arguments: Value, version: Value| {
        arguments["expected_version"] = version;
        arguments
    };
    let stale = json!("0".repeat(32));
    for (tool, arguments) in [
        ("move_file", paths("a", "c")),
        ("copy_file", with_overwrite("a", "b")),
    ] {
        let error = recorded.error(tool, with(arguments, stale.clone()));
        assert_eq!(error.code(), "conflict", "{tool}");
    }
    recorded
        .call("copy_file", with(with_overwrite("a", "b"), version("b")))
        .unwrap();
    recorded
        .call("move_file", with(paths("a", "c"), version("a")))
        .unwrap();
    assert_eq!(names(&fixture.workspace()), ["b", "c"]);
}

#[test]
fn a_file_is_not_moved_or_copied_onto_itself() {
    let fixture = Fixture::new();
    fixture.work("d/a", "text");
    let recorded = allowing(&fixture);
    for tool in TOOLS {
        for arguments in [
            paths("d/a", "d/a"),
            paths("d/a", "./d//a"),
            with_overwrite("d/a", "d/a"),
        ] {
            let error = recorded.error(tool, arguments.clone());
            let row = format!("{tool} {arguments}: {error}");
            assert_eq!(error.code(), "invalid-arguments", "{row}");
            assert!(error.hint().contains("another path as `to`"), "{row}");
        }
    }
    assert_eq!(
        recorded.error("move_file", paths("d", "d/")).code(),
        "invalid-arguments"
    );
    for tool in TOOLS {
        assert_eq!(recorded.error(tool, paths("b", "b")).code(), "not-found");
    }
    assert_eq!(names(&fixture.workspace()), ["d", "d/a"]);
    assert_eq!(fixture.workspace_text("d/a"), "text");
}

/// One name in two directories is two files.
#[test]
fn a_file_is_copied_under_its_own_name_from_one_root_to_the_other() {
    let fixture = Fixture::new();
    fixture.input("a", "new");
    let recorded = fixture.session_with(|builder| builder.overwrite(Consent::Allow));
    recorded.fields("copy_file", paths("a", "a"));
    assert_eq!(fixture.workspace_text("a"), "new");
    assert_eq!(
        recorded.error("copy_file", paths("a", "a")).code(),
        "exists"
    );
    recorded.fields("copy_file", with_overwrite("a", "a"));
}
