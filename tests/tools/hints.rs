//! A refusal can be acted on without reading documentation: what agents get wrong, and what
//! they are told.

use std::fs;

use rootbound::{Consent, Session, Toolset};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded};

fn allowing(fixture: &Fixture) -> Recorded {
    let builder = Session::builder().work_root(fixture.workspace());
    Recorded::build(builder.overwrite(Consent::Allow).delete(Consent::Allow))
}

fn assert_told(recorded: &Recorded, tool: &str, arguments: Value, code: &str, hint: &str) {
    let row = format!("{tool} {arguments}");
    let error = recorded.error(tool, arguments);
    assert_eq!(error.code(), code, "{row}: {error}");
    assert!(error.hint().contains(hint), "{row}: {}", error.hint());
}

#[test]
fn arguments_by_other_names_are_taken_for_what_they_stand_for() {
    let fixture = Fixture::new();
    let recorded = allowing(&fixture);
    for (tool, arguments, meant) in [
        ("read_file", json!({ "file_path": "a" }), "path"),
        ("read_file", json!({ "filename": "a" }), "path"),
        ("read_file", json!({ "path": "a", "start_line": 3 }), ""),
        ("read_file", json!({ "path": "a", "lines": 3 }), "limit"),
        ("read_files", json!({ "files": ["a"] }), "paths"),
        ("list_files", json!({ "dir": "." }), "path"),
        ("list_files", json!({ "directory": "." }), "path"),
        ("list_files", json!({ "folder": "." }), "path"),
        ("find_files", json!({ "glob": "*" }), "pattern"),
        ("find_files", json!({ "name": "*" }), "pattern"),
        ("search_files", json!({ "pattern": "x" }), "query"),
        ("search_files", json!({ "text": "x" }), "query"),
        (
            "write_file",
            json!({ "filepath": "a", "content": "x" }),
            "path",
        ),
        ("write_file", json!({ "path": "a", "text": "x" }), "content"),
        (
            "create_file",
            json!({ "path": "a", "content": "x" }),
            "file_path",
        ),
        ("create_directory", json!({ "path": "a" }), "dir_path"),
        (
            "copy_file",
            json!({ "from": "a", "destination": "b" }),
            "to",
        ),
        ("move_file", json!({ "source": "a", "to": "b" }), "from"),
        (
            "move_file",
            json!({ "path": "a", "new_path": "b" }),
            "from`, `to",
        ),
        ("read_file", json!({ "path": "a", "head": 3 }), "limit"),
        ("read_file", json!({ "path": "a", "tail": 3 }), "offset"),
        (
            "read_file",
            json!({ "path": "a", "start_line": 3, "end_line": 5 }),
            "offset`, `limit",
        ),
        ("list_files", json!({ "pattern": "*" }), ""),
        ("apply_patch", json!({ "diff": "x" }), "patch"),
        (
            "delete_file",
            json!({ "path": "a", "force": true }),
            "recursive",
        ),
    ] {
        let error = recorded.error(tool, arguments.clone());
        let row = format!("{tool} {arguments}: {}", error.hint());
        assert_eq!(error.code(), "invalid-arguments", "{row}");
        assert!(error.hint().contains("known arguments: `"), "{row}");
        let did_you = format!("did you mean `{meant}`?");
        assert!(
            meant.is_empty() || error.hint().starts_with(&did_you),
            "{row}"
        );
    }
}

#[test]
fn what_is_wrong_inside_of_a_list_is_told_with_its_place() {
    let fixture = Fixture::new();
    let recorded = allowing(&fixture);
    let edits = |edit: Value| json!({ "path": "a", "edits": [edit] });
    for (edit, hint) in [
        (
            json!({ "oldText": "a", "newText": "b" }),
            "known in `edits[0]`: `old_text`, `new_text`, `replace_all`",
        ),
        (
            json!({ "old_text": "a" }),
            "give `edits[0].new_text` as a string",
        ),
        (
            json!({ "old_text": "a", "new_text": 1 }),
            "give `edits[0].new_text` as a string",
        ),
        (json!("a"), "give `edits[0]` as an object"),
    ] {
        assert_told(
            &recorded,
            "edit_file",
            edits(edit),
            "invalid-arguments",
            hint,
        );
    }
    let text = json!({ "path": "a", "edits": "[{\"old_text\": \"a\"}]" });
    let hint = "itself, not as a string that holds it";
    assert_told(&recorded, "edit_file", text, "invalid-arguments", hint);
}

#[test]
fn a_file_is_moved_into_a_directory_by_the_path_that_the_refusal_names() {
    let fixture = Fixture::new();
    fixture.work("a.md", "x");
    fixture.work("d/other.md", "x");
    let recorded = allowing(&fixture);
    for to in ["d/", "d"] {
        let error = recorded.error("move_file", json!({ "from": "a.md", "to": to }));
        assert!(error.hint().contains("`d/a.md`"), "{error:?}");
    }
    recorded.fields("move_file", json!({ "from": "a.md", "to": "d/a.md" }));
}

#[test]
fn a_directory_with_entries_is_deleted_by_the_word_that_the_refusal_names() {
    let fixture = Fixture::new();
    fixture.work("d/f", "x");
    let recorded = allowing(&fixture);
    let arguments = json!({ "path": "d" });
    assert_told(
        &recorded,
        "delete_file",
        arguments,
        "not-empty",
        "`recursive: true`",
    );
    recorded.fields("delete_file", json!({ "path": "d", "recursive": true }));
    assert!(!fixture.workspace().join("d").exists());
}

#[test]
fn a_patch_that_deletes_asks_for_a_deletion() {
    let patch = json!({ "patch": "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n" });
    let fixture = Fixture::new();
    fixture.work("gone", "gone\n");
    let builder = || Session::builder().work_root(fixture.workspace());
    let denied = Recorded::build(builder().overwrite(Consent::Allow).delete(Consent::Deny));
    assert_eq!(
        denied.error("apply_patch", patch.clone()).code(),
        "delete-denied"
    );
    assert!(fixture.workspace().join("gone").exists());
    let allowed = Recorded::build(builder().overwrite(Consent::Deny).delete(Consent::Allow));
    allowed.fields("apply_patch", patch);
    assert!(!fixture.workspace().join("gone").exists());
}

#[test]
fn globs_that_could_find_nothing_are_refused() {
    let fixture = Fixture::new();
    fixture.work("a", "x");
    let recorded = allowing(&fixture);
    for pattern in ["../*", "a/../b", "[a", "*.[ch"] {
        let arguments = json!({ "pattern": pattern });
        assert_told(&recorded, "find_files", arguments, "invalid-arguments", "");
        let arguments = json!({ "query": "x", "glob": pattern });
        assert_told(
            &recorded,
            "search_files",
            arguments,
            "invalid-arguments",
            "",
        );
    }
    let found = recorded.fields("find_files", json!({ "pattern": "[a]" }));
    assert_eq!(found["count"], 1);
}

/// Each rule takes memory; what is left out is said.
#[test]
fn an_ignore_file_of_many_megabytes_is_left_out_and_counted() {
    let fixture = Fixture::new();
    let rules = "*a*b*c?[d]*\n".repeat(400_000);
    let mut directory = fixture.workspace();
    for _ in 0..4 {
        fs::write(directory.join(".gitignore"), &rules).unwrap();
        directory.push("d");
        fs::create_dir(&directory).unwrap();
    }
    fixture.work("f", "x");
    let found = allowing(&fixture).fields("find_files", json!({ "pattern": "f" }));
    assert_eq!(found["count"], 1);
    assert_eq!(found["skipped"]["too_large"], 4);
    assert_eq!(found["skipped"]["examples"][0], ".gitignore");
}

#[test]
fn a_file_that_nothing_was_written_to_is_no_text() {
    let fixture = Fixture::new();
    fixture.work("blank", [0; 4096]);
    let recorded = allowing(&fixture);
    let arguments = json!({ "path": "blank" });
    assert_told(
        &recorded,
        "read_file",
        arguments,
        "not-text",
        "nothing was written",
    );
    let info = recorded.fields("file_info", json!({ "path": "blank" }));
    assert_eq!(info["mime_type"], "application/octet-stream");
    assert!(info.get("encoding").is_none());
    let bytes = json!({ "path": "blank", "encoding": "base64" });
    assert!(recorded.call("read_file", bytes).is_ok());
}

#[test]
fn what_is_too_large_to_copy_is_not_asked_for_in_parts_alone() {
    let fixture = Fixture::new();
    fixture.work("large", vec![b'x'; 20_000]);
    let limited = |change: fn(&mut rootbound::Limits)| {
        let mut limits = rootbound::Limits::default();
        change(&mut limits);
        let builder = Session::builder().work_root(fixture.workspace());
        Recorded::build(builder.limits(limits))
    };
    let arguments = json!({ "from": "large", "to": "copy" });
    let hint = "copied";
    let reading = limited(|limits| limits.max_read_bytes = 10_000);
    assert_told(
        &reading,
        "copy_file",
        arguments.clone(),
        "limit-exceeded",
        hint,
    );
    let whole = json!({ "path": "large" });
    assert_told(
        &reading,
        "read_file",
        whole,
        "limit-exceeded",
        "negative `offset`",
    );
    let writing = limited(|limits| limits.max_write_bytes = 10_000);
    assert_told(&writing, "copy_file", arguments, "limit-exceeded", hint);
}

#[test]
fn counts_in_templates_are_refused_before_they_take_memory() {
    let recorded = Fixture::new().session();
    for template in [
        "{{ [1]|batch(4000000000) }}",
        "{{ [1]|slice(4000000000) }}",
        "{{ 'a\nb'|indent(4000000000) }}",
        "{{ '%4000000000d'|format(1) }}",
        "{{ 'x' * 4000000000 }}",
        "{{ range(4000000000)|join }}",
    ] {
        let arguments = json!({ "template": template, "variables": {} });
        let error = recorded.error("generate_from_template", arguments);
        let is_told = matches!(error.code(), "invalid-arguments" | "limit-exceeded");
        assert!(is_told && !error.hint().is_empty(), "{template}: {error}");
    }
}

#[test]
fn base64_is_not_recommended_by_whom_it_is_refused() {
    let fixture = Fixture::new();
    fixture.work("a", "x");
    let recorded = allowing(&fixture);
    let edits = json!([{ "old_text": "x", "new_text": "y" }]);
    for label in ["base64", "BASE64", "klingon"] {
        for (tool, arguments) in [
            (
                "edit_file",
                json!({ "path": "a", "edits": edits, "encoding": label }),
            ),
            (
                "append_file",
                json!({ "path": "a", "content": "eA==", "encoding": label }),
            ),
            ("search_files", json!({ "query": "x", "encoding": label })),
            (
                "apply_patch",
                json!({ "patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", "encoding": label }),
            ),
        ] {
            let error = recorded.error(tool, arguments);
            assert_eq!(error.code(), "unsupported-encoding", "{tool} {label}");
            assert!(!error.hint().contains("base64"), "{tool}: {}", error.hint());
            assert!(
                error.hint().contains("`windows-1252`"),
                "{tool}: {}",
                error.hint()
            );
        }
    }
    let error = recorded.error("read_file", json!({ "path": "a", "encoding": "klingon" }));
    assert!(error.hint().contains("`base64`"), "{}", error.hint());
}

#[test]
fn what_was_not_found_is_told_where_else_to_look() {
    let fixture = Fixture::new();
    fixture.work("s/a.md", "word");
    fixture.work(".gitignore", "left.md\n");
    fixture.work("left.md", "word");
    fixture.work("d/e/f/deep.md", "word");
    let recorded = allowing(&fixture);
    let hint = |tool: &str, arguments: Value| {
        let fields = recorded.fields(tool, arguments);
        assert_eq!(fields["count"], 0, "{fields}");
        fields["hint"].as_str().unwrap_or_default().to_owned()
    };
    let find = |arguments| hint("find_files", arguments);
    for (arguments, give) in [
        (json!({ "pattern": "s/a.md", "path": "s" }), "give `a.md`"),
        (
            json!({ "pattern": "!*.md" }),
            "`!` is taken for a part of names: `*.md`",
        ),
        (
            json!({ "pattern": "left.md" }),
            "1 name was left out by ignore files: `gitignore: false`",
        ),
        (
            json!({ "pattern": "deep.md", "path": "d", "depth": 1 }),
            "1 directory lies too deep",
        ),
        (
            json!({ "pattern": "f/deep.md", "path": "d" }),
            "`**/f/*deep.md*`",
        ),
    ] {
        let said = find(arguments.clone());
        assert!(said.contains(give), "{arguments}: {said}");
    }
    for (pattern, path) in [("a.md", "s"), ("**/f/*deep.md*", "d")] {
        let found = recorded.fields("find_files", json!({ "pattern": pattern, "path": path }));
        assert_eq!(found["count"], 1, "{pattern}");
    }
    for (arguments, give) in [
        (
            json!({ "query": "word", "glob": "s/a.md", "path": "s" }),
            "give `a.md`",
        ),
        (
            json!({ "query": "word", "glob": "left.md" }),
            "ignore files",
        ),
        (json!({ "query": "absent" }), "ignore files"),
        (
            json!({ "query": "word", "path": "d", "depth": 1 }),
            "too deep",
        ),
    ] {
        let said = hint("search_files", arguments.clone());
        assert!(said.contains(give), "{arguments}: {said}");
    }
}

#[test]
fn what_may_be_appended_is_bounded_by_what_may_be_read() {
    let fixture = Fixture::new();
    let limits = rootbound::Limits {
        max_write_bytes: 10,
        ..rootbound::Limits::default()
    };
    let builder = Session::builder().work_root(fixture.workspace());
    let recorded = Recorded::build(builder.limits(limits));
    let arguments = json!({ "path": "a", "content": "x".repeat(11) });
    assert_told(
        &recorded,
        "write_file",
        arguments,
        "limit-exceeded",
        "up to `max_read_bytes`",
    );
}

#[test]
fn a_last_line_that_is_too_long_is_shown_from_a_cursor() {
    let fixture = Fixture::new();
    let utf_16: Vec<u8> = std::iter::once(0xfeff)
        .chain("\u{1f642}".repeat(50_000).encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    fixture.work("utf-8", format!("first\n{}x", "\u{20ac}".repeat(50_000)));
    fixture.work("utf-16", utf_16);
    let limits = rootbound::Limits {
        max_read_bytes: 90_000,
        ..rootbound::Limits::default()
    };
    let builder = Session::builder().work_root(fixture.workspace());
    let recorded = Recorded::build(builder.limits(limits));
    for path in ["utf-8", "utf-16"] {
        let error = recorded.error("read_file", json!({ "path": path, "offset": -1 }));
        assert_eq!(error.code(), "limit-exceeded", "{error}");
        let cursor = &error.details()["next_cursor"];
        assert!(
            error.hint().contains(cursor.as_str().unwrap()),
            "{}",
            error.hint()
        );
        let output = recorded
            .call("read_file", json!({ "path": path, "cursor": cursor }))
            .unwrap();
        let end = if path == "utf-8" {
            "\u{20ac}x"
        } else {
            "\u{1f642}"
        };
        assert!(output.text().unwrap().ends_with(end));
        assert_eq!(output.fields()["truncated"], false);
    }
}

/// An agent that has one tool is not sent to others.
#[test]
fn the_single_tool_names_no_others() {
    let fixture = Fixture::new();
    fixture.work("d/f", "x");
    fixture.work("bytes", b"\xff\xfe\xff");
    fixture.work("large", vec![b'x'; 20_000]);
    let names: Vec<String> = {
        let files = fixture.session();
        let tools = files.session.tools().unwrap().iter();
        tools.map(|tool| format!("`{}`", tool.name)).collect()
    };
    let limits = {
        let mut limits = rootbound::Limits::default();
        (limits.max_read_bytes, limits.max_write_bytes) = (10_000, 10_000);
        limits
    };
    let builder = Session::builder().work_root(fixture.workspace());
    let recorded = Recorded::build(builder.toolset(Toolset::Single).limits(limits));
    for (operation, path) in [
        ("read", "absent"),
        ("read", "d"),
        ("read", "bytes"),
        ("read", "large"),
        ("read", "d/f/g"),
        ("read", ""),
        ("read", "/etc/passwd"),
        ("read", "../x"),
        ("list", "d/f"),
        ("list", "absent"),
        ("info", "absent"),
        ("write", "d"),
        ("write", "d/f"),
        ("write", "d/f/g"),
        ("createDir", "d"),
        ("createDir", "x/y/z"),
        ("delete", "d"),
        ("delete", "absent"),
    ] {
        let arguments =
            json!({ "operation": operation, "path": path, "content": "x".repeat(20_000) });
        let Err(error) = recorded.call("sandbox_filesystem", arguments) else {
            panic!("{operation} {path:?} was not refused");
        };
        let told = Toolset::Single.failure(&error)["error"]["hint"].clone();
        let told = told.as_str().unwrap();
        let named = names.iter().find(|name| told.contains(&***name));
        assert_eq!(named, None, "{operation} {path:?}: {told}");
        assert_ne!(told, "", "{operation} {path:?}: {error}");
    }
}
