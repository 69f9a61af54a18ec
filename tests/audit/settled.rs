//! A process that is killed between an intent and its outcome, and the next one on its log.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rootbound::{AuditLog, Consent, Session, SessionBuilder, verify_log};
use serde_json::{Value, json};

use super::{lines_of, verify};
use crate::support::Fixture;
use crate::support::cli::Cli;

/// When the process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killed {
    /// The intent is written, and the change not made.
    Before,
    /// The change is made, and its outcome not written.
    After,
}

/// A log that takes nothing any more from the first intent on, as that of a killed process.
/// An error keeps the change from being made.
fn dying(file: &Path, when: Killed) -> AuditLog {
    let file = fs::File::create(file).unwrap();
    let dead = AtomicBool::new(false);
    AuditLog::sink(move |line: &str| {
        if dead.load(Ordering::SeqCst) {
            return Err(io::Error::other("dead"));
        }
        writeln!(&file, "{line}")?;
        let is_intent = line.contains("\"kind\":\"intent\"");
        dead.store(is_intent, Ordering::SeqCst);
        match when {
            Killed::Before if is_intent => Err(io::Error::other("dead")),
            _ => Ok(()),
        }
    })
}

struct Crashed {
    fixture: Fixture,
    log: PathBuf,
}

impl Crashed {
    fn during(tool: &str, arguments: &Value, when: Killed) -> Self {
        let fixture = Fixture::new();
        fixture.work("old", "old");
        fixture.work("other", "other");
        fixture.work("tree/a", "a");
        fixture.work("tree/b/c", "cc");
        fs::create_dir(fixture.workspace().join("empty")).unwrap();
        symlink("old", fixture.workspace().join("link")).unwrap();
        let log = fixture.outside().join("audit.jsonl");
        let crashed = Self { fixture, log };
        let builder = crashed.granted().audit(dying(&crashed.log, when));
        let session = builder.build().unwrap();
        let error = session.call(tool, arguments).unwrap_err();
        assert_eq!(error.code(), "audit-unavailable", "{error}");
        crashed
    }

    fn granted(&self) -> SessionBuilder {
        Session::builder()
            .work_root(self.fixture.workspace())
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .state_directory(crate::support::STATE)
    }

    fn unsettled(&self) -> usize {
        let log = fs::read(&self.log).unwrap();
        verify_log(&*log, None).unwrap().unsettled.len()
    }

    /// What the next process on the same log writes about the change.
    fn settle(&self, builder: SessionBuilder) -> Value {
        assert_eq!(self.unsettled(), 1);
        let before = lines_of(&self.log).len();
        builder.audit_file(&self.log).build().unwrap();
        let entries = verify(&lines_of(&self.log));
        assert_eq!(entries.len(), before + 2, "{entries:?}");
        assert_eq!(entries[before]["kind"], "genesis");
        assert_eq!(self.unsettled(), 0);
        let (intent, settlement) = (&entries[before - 1], &entries[before + 1]);
        assert_eq!(settlement["kind"], "outcome");
        assert_eq!(settlement["settles"], intent["seq"]);
        assert_eq!(settlement["session"], entries[before]["session"]);
        for same in [
            "call",
            "tool",
            "operation",
            "risk",
            "root",
            "path",
            "to_path",
        ] {
            assert_eq!(settlement[same], intent[same], "{same}");
        }
        settlement.clone()
    }
}

/// A call, and how its change is settled when the process was killed before and after it.
fn rows() -> [(&'static str, Value, Value, Value); 11] {
    let made = || json!("ok");
    let not_made = || json!("rolled-back");
    [
        (
            "write_file",
            json!({ "path": "new", "content": "x" }),
            not_made(),
            made(),
        ),
        (
            "write_file",
            json!({ "path": "old", "content": "x" }),
            not_made(),
            made(),
        ),
        (
            "append_file",
            json!({ "path": "old", "content": "x" }),
            not_made(),
            made(),
        ),
        (
            "edit_file",
            json!({ "path": "old", "edits": [{ "old_text": "old", "new_text": "x" }] }),
            not_made(),
            made(),
        ),
        ("delete_file", json!({ "path": "old" }), not_made(), made()),
        (
            "delete_file",
            json!({ "path": "empty" }),
            not_made(),
            made(),
        ),
        ("delete_file", json!({ "path": "link" }), not_made(), made()),
        (
            "delete_file",
            json!({ "path": "tree", "recursive": true }),
            not_made(),
            made(),
        ),
        (
            "move_file",
            json!({ "from": "old", "to": "new" }),
            not_made(),
            made(),
        ),
        (
            "move_file",
            json!({ "from": "old", "to": "other", "overwrite": true }),
            not_made(),
            made(),
        ),
        // A directory without its outcome is taken back, by this process or the next.
        (
            "create_directory",
            json!({ "dir_path": "made" }),
            not_made(),
            not_made(),
        ),
    ]
}

#[test]
fn the_next_process_looks_and_says_what_became_of_a_change() {
    for (tool, arguments, before, after) in rows() {
        for (when, expected) in [(Killed::Before, before), (Killed::After, after)] {
            let crashed = Crashed::during(tool, &arguments, when);
            let settlement = crashed.settle(crashed.granted());
            let what = format!("{tool} {arguments}, killed {when:?}: {settlement}");
            assert_eq!(settlement["outcome"], expected, "{what}");
            assert_eq!(settlement["reason"], "settled", "{what}");
        }
    }
}

/// A deletion that was killed half-way, as its intent and what is left tell.
#[test]
fn what_is_gone_of_a_tree_is_counted() {
    let covers = |files: u64, directories: u64, bytes: u64| json!({ "files": files, "directories": directories, "bytes": bytes });
    let rows: [(&str, &[&str], Value); 4] = [
        ("the first file", &["a"], covers(1, 0, 1)),
        ("a file further in", &["b/c"], covers(1, 0, 2)),
        ("a directory too", &["a", "b/c", "b"], covers(2, 1, 3)),
        ("one of them", &["b/c", "b"], covers(1, 1, 2)),
    ];
    for (what, gone, covers) in rows {
        let delete = json!({ "path": "tree", "recursive": true });
        let crashed = Crashed::during("delete_file", &delete, Killed::Before);
        let tree = crashed.fixture.workspace().join("tree");
        for path in gone.iter().map(|path| tree.join(path)) {
            match path.is_dir() {
                true => fs::remove_dir(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
        let settlement = crashed.settle(crashed.granted());
        assert_eq!(settlement["outcome"], "failed", "{what}: {settlement}");
        assert_eq!(settlement["reason"], "partial", "{what}: {settlement}");
        assert_eq!(settlement["covers"], covers, "{what}");
        assert_eq!(settlement["bytes"], covers["bytes"], "{what}");
    }
}

/// What came to a tree, or was changed in it, keeps what is gone from being counted.
#[test]
fn a_tree_that_somebody_else_changed_is_not_counted() {
    for file in ["tree/new", "tree/a"] {
        let delete = json!({ "path": "tree", "recursive": true });
        let crashed = Crashed::during("delete_file", &delete, Killed::Before);
        crashed.fixture.work(file, "theirs");
        let settlement = crashed.settle(crashed.granted());
        assert_eq!(settlement["outcome"], Value::Null, "{settlement}");
        assert_eq!(settlement["reason"], "unknown", "{settlement}");
    }
}

/// Not of the one that looked.
#[test]
fn a_summary_tells_a_settled_change_of_the_session_that_made_it() {
    let tree = json!({ "path": "tree", "recursive": true });
    let write = json!({ "path": "new", "content": "x" });
    let rows = [
        (
            "write_file",
            write,
            Killed::After,
            "written   workspace:new",
        ),
        (
            "delete_file",
            tree,
            Killed::Before,
            "deleted   workspace:tree  (in part)",
        ),
    ];
    for (tool, arguments, when, told) in rows {
        let crashed = Crashed::during(tool, &arguments, when);
        fs::remove_file(crashed.fixture.workspace().join("tree/a")).unwrap();
        let settlement = crashed.settle(crashed.granted());
        let (session, _) = settlement["call"]
            .as_str()
            .unwrap()
            .rsplit_once('-')
            .unwrap();
        let later = settlement["session"].as_str().unwrap();
        let log = crashed.log.to_str().unwrap();
        let run = Cli::new().run(["audit", "show", log, "--summary"]);
        let expected = format!("session {session}: 0 calls\n  {told}\nsession {later}: 0 calls\n");
        assert_eq!(run.stdout, expected);
    }
}

#[test]
fn a_change_is_settled_once() {
    let write = json!({ "path": "new", "content": "x" });
    let crashed = Crashed::during("write_file", &write, Killed::After);
    crashed.settle(crashed.granted());
    let before = lines_of(&crashed.log).len();
    let builder = crashed.granted().audit_file(&crashed.log);
    builder.build().unwrap();
    assert_eq!(lines_of(&crashed.log).len(), before + 1);
}

#[test]
fn what_somebody_else_changed_since_is_not_guessed() {
    for (tool, arguments) in [
        ("write_file", json!({ "path": "new", "content": "x" })),
        ("write_file", json!({ "path": "old", "content": "x" })),
        ("move_file", json!({ "from": "old", "to": "new" })),
    ] {
        let crashed = Crashed::during(tool, &arguments, Killed::After);
        // Renamed over, so that no object is made anew with the number of the one before.
        for name in ["old", "new"] {
            let theirs = crashed.fixture.work("theirs", "theirs");
            fs::rename(theirs, crashed.fixture.workspace().join(name)).unwrap();
        }
        let settlement = crashed.settle(crashed.granted());
        assert_eq!(settlement["outcome"], Value::Null, "{settlement}");
        assert_eq!(settlement["reason"], "unknown", "{settlement}");
    }
}

#[test]
fn where_nothing_is_granted_nobody_looks() {
    let write = json!({ "path": "new", "content": "x" });
    let crashed = Crashed::during("write_file", &write, Killed::After);
    let inputs = crashed.fixture.inputs();
    let settlement = crashed.settle(Session::builder().read_root(inputs));
    assert_eq!(settlement["outcome"], Value::Null);
    assert_eq!(settlement["reason"], "not-granted");
}

/// The killed process made a directory, recorded it, and went no further.
#[test]
fn a_directory_that_was_cleared_away_is_recorded_as_taken_back() {
    for stands in [true, false] {
        let fixture = Fixture::new();
        let log = fixture.outside().join("audit.jsonl");
        let build = || {
            let builder = Session::builder().work_root(fixture.workspace());
            builder.audit_file(&log).build().unwrap()
        };
        let session = build();
        session
            .call("create_directory", r#"{"dir_path": "made"}"#)
            .unwrap();
        drop(session);
        let lines = lines_of(&log);
        assert!(lines[3].contains("\"kind\":\"call\""), "{lines:?}");
        fs::write(&log, lines[..3].join("\n") + "\n").unwrap();
        if !stands {
            fs::remove_dir(fixture.workspace().join("made")).unwrap();
        }
        build();
        let entries = verify(&lines_of(&log));
        let expected = if stands { "ok" } else { "rolled-back" };
        assert_eq!(entries[4]["outcome"], expected);
        assert_eq!(entries[4]["settles"], 1);
    }
}

#[test]
fn verify_and_show_name_the_change() {
    let write = json!({ "path": "new", "content": "x" });
    let crashed = Crashed::during("write_file", &write, Killed::Before);
    for command in ["verify", "show"] {
        let arguments = ["audit".as_ref(), command.as_ref(), crashed.log.as_os_str()];
        let run = Cli::new().run(arguments);
        assert_eq!(run.status, Some(0), "{run:?}");
        assert!(
            run.stderr.contains("line 2: `create` of workspace:new"),
            "{run:?}"
        );
    }
    let arguments = ["audit".as_ref(), "verify".as_ref(), crashed.log.as_os_str()];
    let verified = Cli::new().run(arguments).json();
    assert_eq!(verified["unsettled"][0]["line"], 2);
    assert_eq!(verified["unsettled"][0]["path"], "new");
}
