//! `write_file`, `create_file`, `create_directory` and `delete_file`, as far as the policy
//! has no say in it.

use std::fs;

use rootbound::Consent;
use serde_json::{Value, json};

use crate::support::tree::names;
use crate::support::{Fixture, Recorded};

fn allowing(fixture: &Fixture) -> Recorded {
    fixture.session_with(|builder| builder.overwrite(Consent::Allow).delete(Consent::Allow))
}

#[test]
fn what_is_written_is_what_was_given() {
    let fixture = Fixture::new();
    let recorded = allowing(&fixture);
    for content in [
        "",
        "x",
        "line\r\nline\n",
        "\u{feff}\0\u{7f}\"\\/",
        "ä\u{10ffff}\u{fffd}",
    ] {
        for (tool, name) in [("write_file", "path"), ("create_file", "file_path")] {
            let mut arguments = json!({ name: "t", "content": content });
            if tool == "create_file" {
                arguments["overwrite"] = true.into();
            }
            let fields = recorded.fields(tool, arguments);
            assert_eq!(fixture.workspace_text("t"), content, "{tool}");
            assert_eq!(fields["path"], "t");
            assert_eq!(fields["bytes_written"], content.len(), "{tool}");
        }
    }
}

/// Escapes in the arguments mean what JSON says, wherever they stand.
#[test]
fn arguments_may_be_spelled_in_any_way_that_json_allows() {
    let fixture = Fixture::new();
    let text = r#" { "\u0070ath" : "d\/\u00e4" , "content":"\ud83d\ude00\u0000\t" } "#;
    allowing(&fixture).session.call("write_file", text).unwrap();
    assert_eq!(fixture.workspace_text("d/ä"), "\u{1f600}\0\t");
}

#[test]
fn the_ways_to_spell_a_target_lead_to_one_file() {
    for path in ["d/t", "./d/t", "d//t", "d/./t", "x/../d/t", "d/e/../t"] {
        let fixture = Fixture::new();
        for directory in ["x", "d/e"] {
            fs::create_dir_all(fixture.workspace().join(directory)).unwrap();
        }
        allowing(&fixture).fields("write_file", json!({ "path": path, "content": "x" }));
        let expected = ["d", "d/e", "d/t", "x"];
        assert_eq!(names(&fixture.workspace()), expected, "{path}");
    }
}

#[test]
fn directories_are_made_with_those_above_them() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for (path, expected) in [
        ("a", &["a"][..]),
        ("a/b/c", &["a", "a/b", "a/b/c"]),
        ("d/", &["a", "a/b", "a/b/c", "d"]),
        ("./e/", &["a", "a/b", "a/b/c", "d", "e"]),
    ] {
        let fields = recorded.fields("create_directory", json!({ "dir_path": path }));
        assert_eq!(fields["created"], true, "{path}");
        assert_eq!(fields["path"], path);
        assert_eq!(names(&fixture.workspace()), expected, "{path}");
    }
}

#[test]
fn an_existing_target_of_create_directory_is_an_error() {
    let fixture = Fixture::new();
    fixture.work("d/t", "");
    let recorded = allowing(&fixture);
    for path in ["d", "d/", "d/t", "d/../d"] {
        let error = recorded.error("create_directory", json!({ "dir_path": path }));
        assert_eq!(error.code(), "exists", "{path}");
        assert_ne!(error.hint(), "", "{path}");
    }
}

/// Where a file must not be, by the tool's own path argument.
#[test]
fn what_can_be_no_file_is_refused() {
    let fixture = Fixture::new();
    fixture.work("t", "");
    let recorded = allowing(&fixture);
    let staged = format!(".rootbound-{}.tmp", "0".repeat(32));
    for (path, code, reason) in [
        (&*staged, "invalid-path", Some("reserved")),
        ("", "invalid-path", Some("empty")),
        (".", "invalid-path", Some("root")),
        ("d/..", "invalid-path", Some("root")),
        ("new/", "invalid-path", Some("trailing-slash")),
        ("new/.", "invalid-path", Some("trailing-slash")),
        ("t/new", "not-a-directory", None),
        ("new.", "invalid-path", Some("unsafe-name")),
        ("new ", "invalid-path", Some("unsafe-name")),
    ] {
        for (tool, name) in [("write_file", "path"), ("create_file", "file_path")] {
            let error = recorded.error(tool, json!({ name: path, "content": "x" }));
            assert_eq!(
                (error.code(), error.reason()),
                (code, reason),
                "{tool} {path:?}"
            );
            assert_ne!(error.hint(), "", "{tool} {path:?}");
        }
    }
    assert_eq!(names(&fixture.workspace()), ["t"]);
}

#[test]
fn each_of_the_writers_says_whether_it_created() {
    let fixture = Fixture::new();
    let recorded = allowing(&fixture);
    let write = json!({ "path": "t", "content": "x" });
    let create = json!({ "file_path": "t", "content": "x", "overwrite": true });
    for (tool, arguments, created) in [
        ("write_file", &write, true),
        ("write_file", &write, false),
        ("create_file", &create, false),
    ] {
        let fields = recorded.fields(tool, arguments.clone());
        assert_eq!(fields["created"], created, "{tool}");
    }
}

#[test]
fn deleting_answers_with_what_was_deleted() {
    let fixture = Fixture::new();
    fixture.work("d/t", "x");
    let recorded = allowing(&fixture);
    for path in ["d/t", "d"] {
        let fields: Value = recorded.fields("delete_file", json!({ "path": path }));
        assert_eq!(fields["path"], path);
        assert_eq!(fields["deleted"], true);
        let error = recorded.error("delete_file", json!({ "path": path }));
        assert_eq!(error.code(), "not-found", "{path}");
    }
    assert_eq!(names(&fixture.workspace()), [""; 0]);
}
