//! What is told of a path that nothing has: what was meant, where a listing would show it.

use rootbound::{Consent, Session};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded};

const COMPOSED: &str = "\u{c4}rger.txt";
const DECOMPOSED: &str = "A\u{308}rger.txt";

fn working(fixture: &Fixture) -> Recorded {
    let builder = Session::builder().work_root(fixture.workspace());
    Recorded::build(builder.overwrite(Consent::Allow).delete(Consent::Allow))
}

fn hint(recorded: &Recorded, tool: &str, arguments: Value) -> String {
    let row = format!("{tool} {arguments}");
    let error = recorded.error(tool, arguments);
    assert_eq!(error.code(), "not-found", "{row}: {error}");
    error.hint().to_owned()
}

/// Each tool that takes a path of something that is there.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": path })),
        ("file_info", json!({ "path": path })),
        ("list_files", json!({ "path": path })),
        ("find_files", json!({ "path": path, "pattern": "*" })),
        ("search_files", json!({ "path": path, "query": "x" })),
        ("read_document", json!({ "path": path })),
        (
            "edit_file",
            json!({ "path": path, "edits": [{ "old_text": "x", "new_text": "y" }] }),
        ),
        ("copy_file", json!({ "from": path, "to": "new/copy" })),
        ("move_file", json!({ "from": path, "to": "new/moved" })),
        ("delete_file", json!({ "path": path })),
        (
            "apply_patch",
            json!({ "patch": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n") }),
        ),
    ]
}

#[test]
fn the_name_that_is_there_is_suggested_by_every_tool() {
    let fixture = Fixture::new();
    fixture.work("docs/Report.md", "x\n");
    let recorded = working(&fixture);
    for (tool, arguments) in calls("docs/report.md") {
        let hint = hint(&recorded, tool, arguments);
        assert!(
            hint.starts_with("did you mean `docs/Report.md`?"),
            "{tool}: {hint}"
        );
    }
    let several = recorded.fields(
        "read_files",
        json!({ "paths": ["docs/report.md", "docs/Report.md"] }),
    );
    let hint = several["files"][0]["error"]["hint"].as_str().unwrap();
    assert!(hint.starts_with("did you mean `docs/Report.md`?"), "{hint}");
    assert_eq!(several["files"][1]["content"], "x\n");
}

#[test]
fn slips_of_every_kind_lead_to_what_was_meant() {
    let fixture = Fixture::new();
    for path in [
        "docs/Report.md",
        "docs/a\u{a0}b.txt",
        "src/deep/main.rs",
        DECOMPOSED,
    ] {
        fixture.work(path, "x");
    }
    let recorded = working(&fixture);
    for (asked, meant) in [
        ("docs/reprot.md", Some("docs/Report.md")),
        ("docs/Report", Some("docs/Report.md")),
        ("./docs//report.md", Some("docs/Report.md")),
        ("Docs/report.md", Some("docs/Report.md")),
        ("docs/a b.txt", Some("docs/a\u{a0}b.txt")),
        ("scr/deeep/mian.rs", Some("src/deep/main.rs")),
        (COMPOSED, Some(DECOMPOSED)),
        ("\u{e4}rger.TXT", Some(DECOMPOSED)),
        ("something/else.md", None),
        ("docs/unlike", None),
        ("docs/../docs/report.md", None),
    ] {
        let hint = hint(&recorded, "read_file", json!({ "path": asked }));
        match meant {
            Some(meant) => {
                assert!(
                    hint.contains(&format!("did you mean `{meant}`")),
                    "{asked}: {hint}"
                );
                recorded
                    .call("read_file", json!({ "path": meant }))
                    .unwrap();
            }
            None => assert!(hint.starts_with("check the spelling"), "{asked}: {hint}"),
        }
    }
}

/// It is told, and never done: a file may well be named so.
#[test]
fn a_path_with_the_escapes_of_urls_is_told_without_them() {
    let fixture = Fixture::new();
    for path in [
        "docs/notes.md",
        "my file.txt",
        "docs-notes.md",
        "a%20b.txt",
        "a b.txt",
    ] {
        fixture.work(path, path);
    }
    let recorded = working(&fixture);
    for (tool, arguments) in calls("docs%2Fnotes.md") {
        let hint = hint(&recorded, tool, arguments);
        let told = "did you mean `docs/notes.md`? nothing in a path is decoded;";
        assert!(hint.starts_with(told), "{tool}: {hint}");
    }
    for (asked, meant) in [
        ("my%20file.txt", "my file.txt"),
        ("./docs%2fnotes%2emd", "docs/notes.md"),
        ("Docs%2Fnotes.md", "docs/notes.md"),
        ("workspace%2Fdocs%2Fnotes.md", "docs/notes.md"),
    ] {
        let hint = hint(&recorded, "read_file", json!({ "path": asked }));
        assert!(hint.contains(&format!("`{meant}`")), "{asked}: {hint}");
    }
    for asked in ["..%2Foutside%2Fsecret", "etc%2Fpasswd"] {
        let hint = hint(&recorded, "read_file", json!({ "path": asked }));
        assert!(hint.starts_with("check the spelling"), "{asked}: {hint}");
    }
    let output = recorded.call("read_file", json!({ "path": "a%20b.txt" }));
    assert_eq!(output.unwrap().text(), Some("a%20b.txt"));
}

#[test]
fn a_glob_is_told_to_be_none() {
    let fixture = Fixture::new();
    fixture.work("docs/one.md", "x");
    let recorded = working(&fixture);
    for path in ["docs/*.md", "**/one.md", "docs/????.txt"] {
        for (tool, arguments) in calls(path) {
            let hint = hint(&recorded, tool, arguments);
            assert!(
                hint.starts_with("a path is no glob"),
                "{tool} {path}: {hint}"
            );
        }
        let found = recorded.fields("find_files", json!({ "pattern": "docs/*.md" }));
        assert_eq!(found["count"], 1);
    }
}

/// Whoever retypes the name composes its letters again.
#[test]
fn a_name_that_looks_the_same_is_spelled_out() {
    let fixture = Fixture::new();
    fixture.work(DECOMPOSED, "x");
    let recorded = working(&fixture);
    let hint = hint(&recorded, "read_file", json!({ "path": COMPOSED }));
    let spelled = hint.split('"').nth(1).unwrap();
    assert_eq!(spelled, "A\\u0308rger.txt");
    let arguments = format!(r#"{{"path":"{spelled}"}}"#);
    recorded.session.call("read_file", arguments).unwrap();
}

#[test]
fn the_label_of_a_root_is_no_part_of_a_path() {
    let fixture = Fixture::new();
    fixture.input("report.txt", "x");
    let recorded = fixture.session();
    let give = |path: &str| {
        format!("is the name of a granted directory and no part of a path: give `{path}`")
    };
    for (asked, meant) in [
        ("inputs/report.txt", "report.txt"),
        ("inputs/reprot.txt", "report.txt"),
        ("inputs", "."),
        ("inputs/", "."),
    ] {
        let hint = hint(&recorded, "file_info", json!({ "path": asked }));
        assert!(hint.contains(&give(meant)), "{asked}: {hint}");
        recorded.fields("file_info", json!({ "path": meant }));
    }
    // What can be written to only is not looked into.
    let error = fixture
        .session_with(|builder| builder.delete(Consent::Allow))
        .error("delete_file", json!({ "path": "workspace/x" }));
    assert!(error.hint().contains(&give("x")), "{}", error.hint());
    let unknown = hint(
        &recorded,
        "read_file",
        json!({ "path": "elsewhere/report.txt" }),
    );
    assert!(unknown.starts_with("check the spelling"), "{unknown}");
}

/// A directory may be called as the root is.
#[test]
fn a_directory_of_the_same_name_is_not_taken_for_the_label() {
    let fixture = Fixture::new();
    fixture.input("inputs/one.txt", "x");
    fixture.input("two.txt", "x");
    let recorded = fixture.session();
    let hint = hint(&recorded, "read_file", json!({ "path": "inputs/One.txt" }));
    assert!(hint.starts_with("did you mean `inputs/one.txt`?"), "{hint}");
}

#[test]
fn nothing_is_suggested_that_may_not_be_listed() {
    let fixture = Fixture::new();
    fixture.work("secret.pem", "x");
    fixture.work("open.pen", "x");
    fixture.work("private/report.md", "x");
    let builder = || Session::builder().work_root(fixture.workspace());
    let recorded = Recorded::build(builder().deny("secret.*").deny("/private"));
    for path in [
        "secrt.pem",
        "secret-pem",
        "privat",
        "privat/report.md",
        "secret%2Epem",
        "private%2Freport.md",
    ] {
        let hint = hint(&recorded, "read_file", json!({ "path": path }));
        assert!(hint.starts_with("check the spelling"), "{path}: {hint}");
    }
    // Without the patterns, each is told.
    let open = Recorded::build(builder());
    for path in ["secrt.pem", "privat/report.md", "private%2Freport.md"] {
        let hint = hint(&open, "read_file", json!({ "path": path }));
        assert!(hint.starts_with("did you mean"), "{path}: {hint}");
    }
    // What can only be written to shows no names.
    fixture.work("written.md", "x");
    let write_only = Session::builder()
        .write_root(fixture.workspace())
        .delete(Consent::Allow);
    let recorded = Recorded::build(write_only);
    for path in ["writen.md", "written%2Emd", "private%2Freport.md"] {
        let hint = hint(&recorded, "delete_file", json!({ "path": path }));
        assert!(hint.starts_with("check the spelling"), "{path}: {hint}");
    }
}

/// What the host looked at for the hint is on record, and nothing of it is a refusal.
#[test]
fn a_suggestion_is_recorded_as_what_it_took() {
    let fixture = Fixture::new();
    fixture.work("docs/Report.md", "x");
    let recorded = working(&fixture);
    recorded.forget();
    hint(&recorded, "read_file", json!({ "path": "docs/report.md" }));
    assert_eq!(recorded.entries_of("refusal"), [] as [Value; 0]);
    let accesses = recorded.entries_of("access");
    let listed = accesses
        .iter()
        .any(|entry| entry.to_string().contains("\"list\""));
    assert!(listed, "{accesses:?}");
}

#[test]
fn a_directory_of_very_many_names_is_left_to_be_listed() {
    let fixture = Fixture::new();
    for number in 0..10_001 {
        fixture.work(&format!("many/file-{number:05}.txt"), "");
    }
    let recorded = working(&fixture);
    let hint = hint(
        &recorded,
        "read_file",
        json!({ "path": "many/file-00001.TXT" }),
    );
    assert!(hint.starts_with("check the spelling"), "{hint}");
}
