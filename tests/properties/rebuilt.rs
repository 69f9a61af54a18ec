//! The tree as someone rebuilds it who has seen it before, and since then only the log.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{cases, lay_out, operations, path, raw, session_over};
use crate::support::tree::{Holds, tree};
use crate::support::{Fixture, Recorded};

/// Paths, with the hash of what files hold; directories have none.
type Known = BTreeMap<String, Option<String>>;

fn known(root: &Path) -> Known {
    let nodes = tree(root).into_iter();
    let known = nodes.map(|(path, node)| match node.holds {
        Holds::File(bytes) => (path, Some(crate::support::sha256(bytes))),
        _ => (path, None),
    });
    known.collect()
}

/// Without links, `..` and `.` mean what they say.
fn plain(path: &str) -> String {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

fn is_at_or_below(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Does what the log says was done.
fn retell(known: &mut Known, entries: &[Value]) {
    for entry in entries.iter().filter(|entry| entry["kind"] == "outcome") {
        let place = |name: &str| plain(entry[name].as_str().unwrap());
        let path = place("path");
        let operation = entry["operation"].as_str().unwrap();
        match (operation, entry["outcome"].as_str().unwrap()) {
            ("create" | "change" | "replace", "ok") => {
                let hash = entry["sha256_after"].as_str().unwrap().to_owned();
                known.insert(path, Some(hash));
            }
            ("create-directory", "ok") => {
                known.insert(path, None);
            }
            ("create-directory", "rolled-back") | ("delete", "ok") => {
                assert!(known.remove(&path).is_some(), "{entry}");
            }
            ("delete-tree", "ok") => known.retain(|other, _| !is_at_or_below(other, &path)),
            ("rename", "ok") => rename(known, &path, &place("to_path")),
            (_, "failed") => {}
            other => panic!("{other:?}: {entry}"),
        }
    }
}

fn rename(known: &mut Known, from: &str, to: &str) {
    if from == to {
        return;
    }
    known.remove(to);
    let moved: Vec<String> = known
        .keys()
        .filter(|path| is_at_or_below(path, from))
        .cloned()
        .collect();
    for path in moved {
        let holds = known.remove(&path).unwrap();
        known.insert(format!("{to}{}", &path[from.len()..]), holds);
    }
}

fn assert_retold(recorded: &Recorded, root: &Path, mut before: Known) -> Result<(), TestCaseError> {
    let entries = recorded.entries();
    retell(&mut before, &entries);
    prop_assert_eq!(before, known(root), "{:#?}", entries);
    Ok(())
}

/// A call that changes what is there already, in all the ways in which a tool does.
fn deed() -> impl Strategy<Value = (&'static str, Value)> {
    let two = || (path(), path(), any::<bool>());
    prop_oneof![
        3 => two().prop_map(|(from, to, overwrite)| {
            ("move_file", json!({ "from": from, "to": to, "overwrite": overwrite }))
        }),
        1 => two().prop_map(|(from, to, overwrite)| {
            ("copy_file", json!({ "from": from, "to": to, "overwrite": overwrite }))
        }),
        1 => path().prop_map(|path| ("append_file", json!({ "path": path, "content": "z" }))),
        1 => path().prop_map(|path| {
            ("edit_file", json!({ "path": path, "edits": [{ "old_text": "b", "new_text": "c" }] }))
        }),
        2 => (path(), path()).prop_map(|(from, to)| ("apply_patch", patch(&from, &to))),
        2 => operations().prop_map(|operations| operations[0].call()),
    ]
}

/// A patch that makes a file, removes one, and moves one.
fn patch(from: &str, to: &str) -> Value {
    let patch = format!(
        "--- /dev/null\n+++ b/{to}/new\n@@ -0,0 +1 @@\n+x\n\
         --- a/a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-aa\n\\ No newline at end of file\n\
         diff --git a/{from} b/{to}/moved\nsimilarity index 100%\nrename from {from}\nrename to {to}/moved\n"
    );
    json!({ "patch": patch })
}

/// How a script ends: as scripts do, abnormally, or not at all.
fn last_step() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![2 => Just(None), 1 => Just(Some("trap")), 1 => Just(Some("spin"))]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_tools_changed_is_what_the_log_says(operations in operations()) {
        let fixture = Fixture::new();
        let root = lay_out(&fixture, &[]);
        let before = known(&root);
        let recorded = session_over(&root);
        for operation in &operations {
            let (tool, arguments) = operation.call();
            let _ = recorded.call(tool, arguments);
        }
        prop_assert_eq!(recorded.entries_of("call").len(), operations.len());
        assert_retold(&recorded, &root, before)?;
    }

    #[test]
    fn what_a_raw_guest_changed_is_what_the_log_says(
        mut steps in prop::collection::vec(raw::step(), 1..12),
        last in last_step(),
    ) {
        let fixture = Fixture::new();
        let root = lay_out(&fixture, &[]);
        let before = known(&root);
        let recorded = raw::session(&root, Duration::from_millis(if last == Some("spin") { 200 } else { 60_000 }));
        steps.extend(last.map(str::to_owned));
        let _ = recorded.call("follow_a_script", json!({"script": steps.join("|")}));
        let calls = recorded.entries_of("call");
        prop_assert_eq!(calls.len(), 1);
        match last {
            Some("trap") => prop_assert_eq!(&calls[0]["outcome"], "trapped"),
            Some(_) => prop_assert_eq!(&calls[0]["outcome"], "timeout"),
            None => {}
        }
        assert_retold(&recorded, &root, before)?;
    }

    /// Moves of directories with what is in them, copies, edits and patches of several files.
    #[test]
    fn what_was_moved_and_patched_is_what_the_log_says(
        deeds in prop::collection::vec(deed(), 1..8),
    ) {
        let fixture = Fixture::new();
        let root = lay_out(&fixture, &[]);
        let before = known(&root);
        let recorded = session_over(&root);
        for (tool, arguments) in &deeds {
            let _ = recorded.call(tool, arguments.clone());
        }
        prop_assert_eq!(recorded.entries_of("call").len(), deeds.len());
        assert_retold(&recorded, &root, before)?;
    }
}
