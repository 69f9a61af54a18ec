//! What may be deleted: the policy, and what stands there.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::Consent;
use serde_json::json;

use crate::support::tree::tree;
use crate::support::{Fixture, pipe};

const POLICIES: [Consent; 3] = [Consent::Deny, Consent::Ask, Consent::Allow];

/// What stands at the path, how the path is spelled, and the answers under deny, ask (with
/// nobody there to be asked) and allow.
#[rustfmt::skip]
const ROWS: [(&str, &str, [&str; 3]); 16] = [
    ("file",            "t",  ["delete-denied", "approval-required", "deleted"]),
    ("read-only file",  "t",  ["delete-denied", "approval-required", "deleted"]),
    ("hard link",       "t",  ["delete-denied", "approval-required", "deleted"]),
    ("empty directory", "t",  ["delete-denied", "approval-required", "deleted"]),
    ("empty directory", "t/", ["delete-denied", "approval-required", "deleted"]),
    ("full directory",  "t",  ["delete-denied", "not-empty", "not-empty"]),
    ("full directory",  "t/", ["delete-denied", "not-empty", "not-empty"]),
    ("link to a file",  "t",  ["delete-denied", "approval-required", "deleted"]),
    ("link to a directory", "t",  ["delete-denied", "approval-required", "deleted"]),
    ("link to a directory", "t/", ["delete-denied", "not-a-directory", "not-a-directory"]),
    ("link out",        "t",  ["delete-denied", "approval-required", "deleted"]),
    ("dangling link",   "t",  ["delete-denied", "approval-required", "deleted"]),
    ("pipe",            "t",  ["delete-denied", "approval-required", "deleted"]),
    ("nothing",         "t",  ["delete-denied", "not-found", "not-found"]),
    ("nothing",         "t/", ["delete-denied", "not-found", "not-found"]),
    ("file",            "t/", ["delete-denied", "not-a-directory", "not-a-directory"]),
];

fn arrange(state: &str, fixture: &Fixture) {
    let target = fixture.workspace().join("t");
    fixture.work("file", "kept");
    fixture.work("directory/file", "kept");
    fs::write(fixture.outside().join("file"), "kept").unwrap();
    match state {
        "nothing" => {}
        "file" => fs::write(target, "old").unwrap(),
        "read-only file" => {
            fs::write(&target, "old").unwrap();
            let mut permissions = fs::metadata(&target).unwrap().permissions();
            permissions.set_readonly(true);
            fs::set_permissions(target, permissions).unwrap();
        }
        "hard link" => fs::hard_link(fixture.outside().join("file"), target).unwrap(),
        "empty directory" => fs::create_dir(target).unwrap(),
        "full directory" => drop(fixture.work("t/file", "old")),
        "link to a file" => symlink("file", target).unwrap(),
        "link to a directory" => symlink("directory", target).unwrap(),
        "link out" => symlink("../outside/file", target).unwrap(),
        "dangling link" => symlink("missing", target).unwrap(),
        "pipe" => pipe(&target),
        other => panic!("no such state: {other}"),
    }
}

#[test]
fn every_deletion_is_answered_as_the_policy_says() {
    for (state, path, answers) in ROWS {
        for (policy, expected) in POLICIES.into_iter().zip(answers) {
            check(state, path, policy, expected);
        }
    }
}

fn check(state: &str, path: &str, policy: Consent, expected: &str) {
    let fixture = Fixture::new();
    arrange(state, &fixture);
    let mut before = tree(fixture.base());
    let recorded = fixture.session_with(|builder| builder.delete(policy));
    let answer = match recorded.call("delete_file", json!({ "path": path })) {
        Ok(output) => {
            assert_eq!(output.fields()["deleted"], true);
            "deleted".to_owned()
        }
        Err(error) => error.code().to_owned(),
    };
    let row = format!("{state} as {path:?}, {policy:?}");
    assert_eq!(answer, expected, "{row}");
    let mut after = tree(fixture.base());
    if expected == "deleted" {
        assert!(before.remove("workspace/t").is_some(), "{row}");
        // The other name of a file that had two counts one link fewer.
        for tree in [&mut before, &mut after] {
            tree.remove("outside/file");
        }
        let kept = fs::read_to_string(fixture.outside().join("file"));
        assert_eq!(kept.unwrap(), "kept", "{row}");
    }
    assert_eq!(after, before, "{row}");
    let refused = matches!(expected, "delete-denied" | "approval-required");
    let refusals = usize::from(refused);
    assert_eq!(recorded.entries_of("refusal").len(), refusals, "{row}");
}

#[test]
fn the_root_itself_is_never_deleted() {
    let fixture = Fixture::new();
    let recorded = fixture.session_with(|builder| builder.delete(Consent::Allow));
    for path in [".", "./", "t/.."] {
        let error = recorded.error("delete_file", json!({ "path": path }));
        assert_eq!(error.code(), "invalid-path", "{path:?}");
        assert_eq!(error.reason(), Some("root"), "{path:?}");
    }
    assert!(fixture.workspace().is_dir());
}

#[test]
fn deny_holds_for_what_the_session_made_itself() {
    let fixture = Fixture::new();
    let recorded = fixture.session_with(|builder| builder.delete(Consent::Deny));
    recorded.fields("write_file", json!({ "path": "t", "content": "new" }));
    let error = recorded.error("delete_file", json!({ "path": "t" }));
    assert_eq!(error.code(), "delete-denied");
    let error = recorded.error("write_file", json!({ "path": "t", "content": "x" }));
    assert_eq!(error.code(), "overwrite-denied");
    assert_eq!(fixture.workspace_text("t"), "new");
}

/// `ask` asks about what existed before the session; its own work is a draft.
#[test]
fn ask_lets_a_session_undo_and_rewrite_its_own_work() {
    let fixture = Fixture::new();
    fixture.work("theirs", "old");
    let recorded = fixture.session_with(|b| b.delete(Consent::Ask).overwrite(Consent::Ask));
    for path in ["mine", "d/mine"] {
        recorded.fields("write_file", json!({ "path": path, "content": "1" }));
        recorded.fields("write_file", json!({ "path": path, "content": "2" }));
        assert_eq!(fixture.workspace_text(path), "2");
        recorded.fields("delete_file", json!({ "path": path }));
        assert!(!fixture.workspace().join(path).exists());
    }
    for entry in recorded.entries_of("intent") {
        assert_eq!(entry["risk"], "DRAFT", "{entry}");
    }
    let error = recorded.error("delete_file", json!({ "path": "theirs" }));
    assert_eq!(error.code(), "approval-required");
}

#[test]
fn what_another_changed_is_no_longer_the_sessions_own_work() {
    let fixture = Fixture::new();
    let recorded = fixture.session_with(|b| b.delete(Consent::Ask).overwrite(Consent::Ask));
    recorded.fields("write_file", json!({ "path": "t", "content": "mine" }));
    fixture.work("t", "theirs now");
    for (tool, arguments) in [
        ("delete_file", json!({ "path": "t" })),
        ("write_file", json!({ "path": "t", "content": "x" })),
    ] {
        assert_eq!(recorded.error(tool, arguments).code(), "approval-required");
    }
    assert_eq!(fixture.workspace_text("t"), "theirs now");
}

#[test]
fn a_tree_that_is_too_deep_is_refused_for_its_depth() {
    let fixture = Fixture::new();
    let recorded = fixture.session_with(|builder| builder.delete(Consent::Allow));
    let directory = |depth: usize| format!("t{}", "/d".repeat(depth));
    let delete = || recorded.call("delete_file", json!({ "path": "t", "recursive": true }));
    fs::create_dir_all(fixture.workspace().join(directory(101))).unwrap();
    let error = delete().unwrap_err();
    let expected = json!({ "limit": "deleted_depth", "value": 100, "actual": 101 });
    assert_eq!(error.code(), "limit-exceeded");
    assert_eq!(serde_json::Value::Object(error.details().clone()), expected);
    fs::remove_dir(fixture.workspace().join(directory(101))).unwrap();
    assert_eq!(delete().unwrap().fields()["deleted"], true);
}
