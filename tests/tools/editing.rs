//! `edit_file` and `append_file`: what was asked for, and every other byte as it was.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Barrier;

use rootbound::{CallOptions, Consent, Session, SessionBuilder};
use serde_json::{Value, json};

use crate::support::tree::names;
use crate::support::{Fixture, Recorded};

/// A session that may change everything in one directory, granted both ways.
fn working(fixture: &Fixture, change: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Recorded {
    let builder = Session::builder().work_root(fixture.workspace());
    let builder = builder.overwrite(Consent::Allow).delete(Consent::Allow);
    Recorded::build(change(builder))
}

fn allowing(fixture: &Fixture) -> Recorded {
    working(fixture, |builder| builder)
}

fn one(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "edits": [{ "old_text": old, "new_text": new }] })
}

fn bytes(fixture: &Fixture, path: &str) -> Vec<u8> {
    fs::read(fixture.workspace().join(path)).unwrap()
}

#[test]
fn only_what_was_asked_for_changes() {
    for (before, old, new, after) in [
        (&b"one two three"[..], "two", "2", &b"one 2 three"[..]),
        (b"a\r\nb\nc\rd\r\n", "b", "B", b"a\r\nB\nc\rd\r\n"),
        (
            b"line one\r\nline two\r\nline three\r\n",
            "line one\nline two",
            "line ONE\nline TWO",
            b"line ONE\r\nline TWO\r\nline three\r\n",
        ),
        (
            b"\xef\xbb\xbfparam($x)\r\n",
            "param($x)",
            "param($y)",
            b"\xef\xbb\xbfparam($y)\r\n",
        ),
        (
            b"\xff\xfea\0\r\0\n\0b\0",
            "a\nb",
            "b\nc",
            b"\xff\xfeb\0\r\0\n\0c\0",
        ),
        (
            b"log(\"done\");\nprice\n",
            "log(\"done\");",
            "log(\"$& ok $$ $1 $` $' \\1 \\n\");",
            b"log(\"$& ok $$ $1 $` $' \\1 \\n\");\nprice\n",
        ),
        (b"no final newline", "final ", "", b"no newline"),
        (b"nul\0 here", "here", "there", b"nul\0 there"),
        (b"gone", "gone", "", b""),
    ] {
        let fixture = Fixture::new();
        fixture.work("f", before);
        let output = allowing(&fixture)
            .call("edit_file", one("f", old, new))
            .unwrap();
        assert_eq!(bytes(&fixture, "f"), after, "{old:?} in {before:?}");
        let effects = &output.receipt().unwrap().effects;
        assert_eq!(effects.len(), 1);
        assert_eq!(effects[0].bytes, Some(after.len() as u64));
        assert!(effects[0].sha256.is_some() && effects[0].version.is_some());
    }
}

#[test]
fn edits_apply_in_order_and_all_or_none() {
    let fixture = Fixture::new();
    fixture.work("f", "a b\n");
    let recorded = allowing(&fixture);
    let edits = json!({ "path": "f", "edits": [
        { "old_text": "a", "new_text": "x" },
        { "old_text": "x b", "new_text": "y" },
    ]});
    let fields = recorded.fields("edit_file", edits);
    assert_eq!(fixture.workspace_text("f"), "y\n");
    assert_eq!(fields["replacements"], 2);
    assert_eq!(fields["diff"], "--- f\n+++ f\n@@ -1 +1 @@\n-a b\n+y\n");
    let edits = json!({ "path": "f", "edits": [
        { "old_text": "y", "new_text": "z" },
        { "old_text": "never there", "new_text": "" },
    ]});
    assert_eq!(recorded.error("edit_file", edits).code(), "no-match");
    assert_eq!(fixture.workspace_text("f"), "y\n");
    assert_eq!(names(&fixture.workspace()), ["f"]);
}

#[test]
fn refusals_say_where_and_what_to_do() {
    let fixture = Fixture::new();
    fixture.work("f", "fn a() {\n\tone();\n}\nfn b() {\n\tone();\n}\n");
    fixture.work("binary", b"\x89PNG\r\n\x1a\n\xff");
    let recorded = allowing(&fixture);
    let error = recorded.error("edit_file", one("f", "    one();", "two();"));
    assert_eq!(error.code(), "no-match");
    assert_eq!(error.details()["nearest"]["line"], 2);
    let diff = error.details()["nearest"]["diff"].as_str().unwrap();
    assert!(
        diff.contains("-····one();") && diff.contains("+→one();"),
        "{diff}"
    );
    let error = recorded.error("edit_file", one("f", "one();", "two();"));
    assert_eq!(error.code(), "ambiguous-match");
    assert_eq!(error.details()["lines"], json!([2, 5]));
    assert_eq!(
        recorded.error("edit_file", one("f", "", "x")).code(),
        "invalid-arguments"
    );
    assert_eq!(
        recorded.error("edit_file", one("binary", "P", "x")).code(),
        "not-text"
    );
    assert_eq!(
        recorded.error("edit_file", one("none", "a", "b")).code(),
        "not-found"
    );
    let none = json!({ "path": "f", "edits": [] });
    assert_eq!(
        recorded.error("edit_file", none).code(),
        "invalid-arguments"
    );
}

#[test]
fn a_file_is_edited_only_where_it_may_be_read_as_well() {
    let fixture = Fixture::new();
    fixture.work("twin", "workspace");
    fixture.input("twin", "workspace");
    fixture.input("input", "input");
    let recorded = fixture.session_with(|builder| builder.overwrite(Consent::Allow));
    for (path, old) in [("twin", "workspace"), ("input", "input")] {
        let error = recorded.error("edit_file", one(path, old, "x"));
        assert_eq!(error.code(), "not-granted", "{path}");
        assert_ne!(error.hint(), "");
    }
    assert_eq!(fixture.workspace_text("twin"), "workspace");
    assert_eq!(recorded.entries_of("refusal").len(), 2);
    // A read root that reaches the same file by a longer way is as good.
    let builder = Session::builder()
        .read_root(fixture.base())
        .write_root(fixture.workspace());
    let recorded = Recorded::build(builder.overwrite(Consent::Allow));
    recorded
        .call("edit_file", one("twin", "workspace", "edited"))
        .unwrap();
    assert_eq!(fixture.workspace_text("twin"), "edited");
}

#[test]
fn the_policy_and_the_kinds_of_files_hold_for_edits_too() {
    let fixture = Fixture::new();
    fixture.work("f", "text");
    fixture.work("two", "text");
    fs::hard_link(
        fixture.workspace().join("two"),
        fixture.workspace().join("names"),
    )
    .unwrap();
    symlink("f", fixture.workspace().join("link")).unwrap();
    symlink("../outside", fixture.workspace().join("out")).unwrap();
    fs::create_dir(fixture.workspace().join("d")).unwrap();
    fs::write(fixture.outside().join("f"), "text").unwrap();
    for tool in ["edit_file", "append_file"] {
        let arguments = |path: &str| match tool {
            "edit_file" => one(path, "text", "x"),
            _ => json!({ "path": path, "content": "x" }),
        };
        let denying = working(&fixture, |builder| builder.overwrite(Consent::Deny));
        assert_eq!(
            denying.error(tool, arguments("f")).code(),
            "overwrite-denied",
            "{tool}"
        );
        let recorded = allowing(&fixture);
        for (path, code) in [
            ("two", "hard-link"),
            ("link", "not-a-file"),
            ("d", "not-a-file"),
            ("out/f", "escape"),
            ("../outside/f", "invalid-path"),
        ] {
            assert_eq!(
                recorded.error(tool, arguments(path)).code(),
                code,
                "{tool} {path}"
            );
        }
    }
    assert_eq!(fixture.workspace_text("f"), "text");
    assert_eq!(fs::read(fixture.outside().join("f")).unwrap(), b"text");
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let fixture = Fixture::new();
    fixture.work("f", "old\n");
    let options = CallOptions {
        dry_run: true,
        ..CallOptions::default()
    };
    let output = allowing(&fixture)
        .session
        .call_with("edit_file", one("f", "old", "new"), options);
    let output = output.unwrap();
    let effects = output.dry_run().unwrap();
    assert_eq!((effects.len(), effects[0].bytes), (1, Some(4)));
    assert!(output.fields()["diff"].as_str().unwrap().contains("+new"));
    assert_eq!(fixture.workspace_text("f"), "old\n");
}

#[test]
fn the_mode_of_an_edited_file_stays() {
    let fixture = Fixture::new();
    let file = fixture.work("run.sh", "#!/bin/sh\necho hi\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let recorded = allowing(&fixture);
    recorded
        .call("edit_file", one("run.sh", "hi", "ho"))
        .unwrap();
    recorded
        .call(
            "append_file",
            json!({ "path": "run.sh", "content": "exit\n" }),
        )
        .unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o755);
    assert_eq!(
        fixture.workspace_text("run.sh"),
        "#!/bin/sh\necho ho\nexit\n"
    );
}

#[test]
fn a_caller_that_has_seen_another_version_is_in_conflict() {
    let fixture = Fixture::new();
    fixture.work("f", "a b");
    let recorded = allowing(&fixture);
    let version = recorded.fields("file_exists", json!({ "path": "f" }))["version"].clone();
    for (tool, mut arguments) in [
        ("edit_file", one("f", "a", "x")),
        ("append_file", json!({ "path": "f", "content": "+" })),
    ] {
        arguments["expected_version"] = "0".repeat(32).into();
        assert_eq!(
            recorded.error(tool, arguments.clone()).code(),
            "conflict",
            "{tool}"
        );
        assert_eq!(fixture.workspace_text("f"), "a b");
        arguments["path"] = "absent".into();
        assert_ne!(recorded.call(tool, arguments).map(|_| ()), Ok(()), "{tool}");
        assert_eq!(names(&fixture.workspace()), ["f"]);
    }
    let mut edit = one("f", "a", "x");
    edit["expected_version"] = version;
    recorded.call("edit_file", edit).unwrap();
    assert_eq!(fixture.workspace_text("f"), "x b");
}

/// Every writer reads, edits and writes; none may write over what it has not read.
#[test]
fn no_edit_of_several_writers_gets_lost() {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 15;
    let fixture = Fixture::new();
    let lines: String = (0..WRITERS)
        .map(|writer| format!("writer {writer}: \n"))
        .collect();
    fixture.work("f", lines);
    let barrier = Barrier::new(WRITERS);
    let write = |writer: usize| {
        let recorded = allowing(&fixture);
        barrier.wait();
        for _ in 0..ROUNDS {
            let edit = one(
                "f",
                &format!("writer {writer}: "),
                &format!("writer {writer}: x"),
            );
            while let Err(error) = recorded.call("edit_file", edit.clone()) {
                assert_eq!(error.code(), "conflict", "{error}");
            }
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || write(writer));
        }
    });
    let expected: String = (0..WRITERS)
        .map(|writer| format!("writer {writer}: {}\n", "x".repeat(ROUNDS)))
        .collect();
    assert_eq!(fixture.workspace_text("f"), expected);
}

#[test]
fn what_is_appended_stands_at_the_end_as_it_was_given() {
    let fixture = Fixture::new();
    fixture.work("f", b"\xff no newline");
    // The write root alone is enough: nothing is read.
    let recorded = fixture.session_with(|builder| builder.overwrite(Consent::Allow));
    let append = |path: &str, content: &str| {
        recorded.fields("append_file", json!({ "path": path, "content": content }))
    };
    let fields = append("f", "more\r\n");
    assert_eq!(
        (&fields["created"], &fields["bytes_written"]),
        (&json!(false), &json!(6))
    );
    append("f", "");
    assert_eq!(bytes(&fixture, "f"), b"\xff no newlinemore\r\n");
    let fields = append("logs/new/f", "first");
    assert_eq!(fields["created"], true);
    assert_eq!(fixture.workspace_text("logs/new/f"), "first");
    let long = "x".repeat(3 << 20);
    append("logs/new/f", &long);
    assert_eq!(fixture.workspace_text("logs/new/f"), format!("first{long}"));
}

#[test]
fn a_line_in_a_large_file_is_edited_within_the_limits() {
    let fixture = Fixture::new();
    let mut content = "a line like any other\n".repeat(200_000);
    content.push_str("the line\nlast\n");
    fixture.work("large", &content);
    let recorded = allowing(&fixture);
    recorded
        .call("edit_file", one("large", "the line\n", "one\ntwo\n"))
        .unwrap();
    assert!(fixture.workspace_text("large") == content.replace("the line\n", "one\ntwo\n"));
    // What stands before the change is not written again, so it does not count.
    let narrow = working(&fixture, |builder| {
        builder.limits(rootbound::Limits {
            max_write_bytes: 100,
            ..rootbound::Limits::default()
        })
    });
    narrow.call("edit_file", one("large", "two", "2")).unwrap();
    let error = narrow.error(
        "edit_file",
        json!({
            "path": "large",
            "edits": [{ "old_text": "any", "new_text": "every", "replace_all": true }],
        }),
    );
    assert_eq!(error.code(), "limit-exceeded");
}

/// Size and hash of the whole would tell what stood there; a short content can be guessed.
#[test]
fn adding_to_a_file_that_may_not_be_read_tells_nothing_of_it() {
    let fixture = Fixture::new();
    fixture.work("pin", "4711");
    let recorded = fixture.session_with(|builder| builder.overwrite(Consent::Allow));
    let arguments = json!({ "path": "pin", "content": "x" });
    let dry = CallOptions {
        dry_run: true,
        ..CallOptions::default()
    };
    let session = &recorded.session;
    let previewed = session
        .call_with("append_file", arguments.clone(), dry)
        .unwrap();
    let added = session.call("append_file", arguments.clone()).unwrap();
    for told in [previewed.to_json(), added.to_json()] {
        assert!(!told.contains("sha256"), "{told}");
        assert!(!told.contains("\"bytes\""), "{told}");
    }
    assert_eq!(fixture.workspace_text("pin"), "4711x");
    // Where it may be read, both are told.
    let both = allowing(&fixture).call("append_file", arguments).unwrap();
    assert!(both.to_json().contains("sha256"), "{}", both.to_json());
}

#[test]
fn what_is_added_to_utf_16_is_utf_16() {
    let fixture = Fixture::new();
    fixture.work("u", b"\xff\xfeo\0\n\0");
    let arguments = json!({ "path": "u", "content": "a\u{e9}" });
    let fields = allowing(&fixture).fields("append_file", arguments);
    assert_eq!(fields["bytes_written"], 4);
    assert_eq!(bytes(&fixture, "u"), b"\xff\xfeo\0\n\0a\0\xe9\0");
}

#[test]
fn nothing_is_appended_to_what_is_no_text() {
    let fixture = Fixture::new();
    fixture.work("latin", b"caf\xe9\n");
    let arguments = json!({ "path": "latin", "content": "\u{e9}\n" });
    let error = allowing(&fixture).error("append_file", arguments);
    assert_eq!(error.code(), "not-text");
    assert_eq!(bytes(&fixture, "latin"), b"caf\xe9\n");
    let mut long = "text\n".repeat(2000).into_bytes();
    long.extend(b"caf\xe9\n");
    fixture.work("long", &long);
    let arguments = json!({ "path": "long", "content": "x" });
    let error = allowing(&fixture).error("append_file", arguments);
    assert_eq!(error.details()["offset"], 10_003);
}
