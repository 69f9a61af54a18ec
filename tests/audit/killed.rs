//! Processes that are killed while they change something, each with a log of its own: the next
//! start with the same state directory finds out what became of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rootbound::{AuditKey, AuditLog, Consent, LogVerifier, Session, SessionBuilder, VerifiedLog};
use serde_json::{Value, json};

use super::{lines_of, verify};
use crate::durability::strace::{Held, SystemCall, trace};
use crate::support::Fixture;
use crate::support::cli::Cli;

struct Scene {
    fixture: Fixture,
    cli: Cli,
}

impl Scene {
    fn new() -> Self {
        let fixture = Fixture::new();
        fixture.work("old", "old");
        // A checkout is something to warn the operator about, which holds the program.
        fs::create_dir(fixture.workspace().join(".git")).unwrap();
        Self {
            fixture,
            cli: Cli::new(),
        }
    }

    fn command(&self, tool: &str, arguments: &Value) -> Command {
        let mut command = self.cli.command(["call", tool, &arguments.to_string()]);
        command.args(["--overwrite", "allow", "--delete", "allow", "--no-landlock"]);
        command.arg("--work").arg(self.fixture.workspace());
        command
    }

    fn log(&self) -> PathBuf {
        let [log] = &self.cli.audit_files()[..] else {
            panic!("{:?}", self.cli.audit_files());
        };
        log.clone()
    }

    fn state(&self) -> PathBuf {
        self.cli.state().join("rootbound")
    }

    fn marks(&self) -> usize {
        let marks = fs::read_dir(self.state().join("unsettled"));
        marks.map_or(0, Iterator::count)
    }

    /// Kills the program at a system call of a tool call, the first of all its calls.
    fn kill_at(&self, tool: &str, arguments: &Value, at: &SystemCall) {
        let command = self.command(tool, arguments);
        let held = trace(command, Path::new("/no/log"), Some(&at.killing()));
        assert_eq!(held.run.status, None, "{at:?}: {:?}", held.run);
    }

    fn next(&self) -> SessionBuilder {
        Session::builder()
            .work_root(self.fixture.workspace())
            .state_directory(self.state())
            .audit(AuditLog::sink(|_: &str| Ok(())))
    }
}

fn verified(log: &Path) -> VerifiedLog {
    let mut verifier = LogVerifier::new();
    verifier.read(&*fs::read(log).unwrap()).unwrap();
    verifier.finish(None).unwrap()
}

/// The system calls of a tool call from its intent to its outcome, the outcome's included.
fn calls_of(tool: &str, arguments: &Value) -> Vec<SystemCall> {
    let scene = Scene::new();
    let command = scene.command(tool, arguments);
    let traced = trace(command, Path::new("/no/log"), None);
    traced.run.success();
    traced.calls
}

/// For each kind of change: killed at the system call that makes it, and at each one behind it.
#[test]
fn what_a_killed_process_was_about_to_do_is_settled_by_the_next_start() {
    for (tool, arguments, change) in [
        (
            "write_file",
            json!({ "path": "new", "content": "x" }),
            "linkat",
        ),
        (
            "write_file",
            json!({ "path": "old", "content": "x" }),
            "renameat",
        ),
        ("delete_file", json!({ "path": "old" }), "unlinkat"),
        (
            "move_file",
            json!({ "from": "old", "to": "moved" }),
            "renameat",
        ),
    ] {
        let calls = calls_of(tool, &arguments);
        let is_change = |call: &SystemCall| call.name.starts_with(change);
        let at = calls.iter().rposition(is_change);
        let at = at.unwrap_or_else(|| panic!("{tool}: {calls:?}"));
        let behind = calls[at + 1..].iter().find(|call| call.changes());
        for (call, expected) in [(&calls[at], "rolled-back"), (behind.unwrap(), "ok")] {
            let scene = Scene::new();
            scene.kill_at(tool, &arguments, call);
            let what = format!("{tool} killed at {call:?}");
            assert_eq!(verified(&scene.log()).unsettled.len(), 1, "{what}");
            assert_eq!(scene.marks(), 1, "{what}");
            drop(scene.next().build().unwrap());
            let entries = verify(&lines_of(&scene.log()));
            let last = entries.last().unwrap();
            assert_eq!(last["outcome"], expected, "{what}: {last}");
            assert_eq!(last["reason"], "settled", "{what}");
            assert_eq!(entries[entries.len() - 2]["kind"], "genesis", "{what}");
            assert!(verified(&scene.log()).unsettled.is_empty(), "{what}");
            assert_eq!(scene.marks(), 0, "{what}");
        }
    }
}

/// Killed when all of a tree is gone but for the directory itself, as the log then says.
#[test]
fn a_recursive_deletion_is_settled_by_what_is_left() {
    let delete = json!({ "path": "tree", "recursive": true });
    let scene = || {
        let scene = Scene::new();
        scene.fixture.work("tree/a", "a");
        scene.fixture.work("tree/b/c", "cc");
        scene
    };
    let traced = trace(
        scene().command("delete_file", &delete),
        Path::new("/no/log"),
        None,
    );
    traced.run.success();
    let is_removal = |call: &&SystemCall| call.name == "unlinkat";
    let removals: Vec<&SystemCall> = traced.calls.iter().filter(is_removal).collect();
    assert_eq!(removals.len(), 4, "{removals:?}");
    let gone = [(0, 0, 0), (1, 0, 1), (2, 0, 3), (2, 1, 3)];
    for (call, (files, directories, bytes)) in removals.into_iter().zip(gone) {
        let scene = scene();
        scene.kill_at("delete_file", &delete, call);
        drop(scene.next().build().unwrap());
        let entries = verify(&lines_of(&scene.log()));
        let last = entries.last().unwrap();
        let (outcome, reason) = match files {
            0 => ("rolled-back", "settled"),
            _ => ("failed", "partial"),
        };
        assert_eq!(last["outcome"], outcome, "{call:?}: {last}");
        assert_eq!(last["reason"], reason, "{call:?}: {last}");
        if files > 0 {
            let covers = json!({ "files": files, "directories": directories, "bytes": bytes });
            assert_eq!(last["covers"], covers, "{call:?}");
        }
        assert!(verified(&scene.log()).unsettled.is_empty(), "{call:?}");
        assert_eq!(scene.marks(), 0, "{call:?}");
    }
}

/// A log with an intent, as a process leaves it that is killed right behind it.
fn left_by_the_dead() -> (Scene, PathBuf) {
    let scene = Scene::new();
    let write = json!({ "path": "new", "content": "x" });
    let command = scene.command("write_file", &write);
    trace(command, Path::new("/no/log"), None).run.success();
    let log = scene.log();
    let lines = lines_of(&log);
    let is_intent = |line: &String| line.contains("\"kind\":\"intent\"");
    let intent = lines.iter().position(is_intent).unwrap();
    fs::write(&log, lines[..=intent].join("\n") + "\n").unwrap();
    fs::create_dir_all(scene.state().join("unsettled")).unwrap();
    let mark = scene
        .state()
        .join("unsettled")
        .join(log.file_name().unwrap());
    fs::write(mark, "").unwrap();
    (scene, log)
}

/// The same label on another directory is another grant.
#[test]
fn who_is_granted_another_directory_does_not_say_what_became_of_it() {
    let (scene, log) = left_by_the_dead();
    let before = fs::read(&log).unwrap();
    let other = scene.fixture.base().join("other/workspace");
    fs::create_dir_all(&other).unwrap();
    let builder = || {
        Session::builder()
            .state_directory(scene.state())
            .audit(AuditLog::sink(|_: &str| Ok(())))
    };
    for stranger in [
        builder(),
        builder().work_root(&other),
        builder().read_root(&other),
    ] {
        drop(stranger.build().unwrap());
        assert_eq!(fs::read(&log).unwrap(), before);
        assert_eq!(scene.marks(), 1);
    }
    // The control: whoever is granted it does, by whatever label.
    let same = scene.fixture.base().join("same");
    fs::rename(scene.fixture.workspace(), &same).unwrap();
    drop(builder().work_root(&same).build().unwrap());
    assert_eq!(verify(&lines_of(&log)).last().unwrap()["outcome"], "ok");
    assert_eq!(scene.marks(), 0);
}

/// A process that lives has its log locked, and settles its changes itself.
#[test]
fn the_log_of_a_living_process_is_left_alone() {
    let (scene, log) = left_by_the_dead();
    let alive = AuditLog::file(&log).unwrap();
    let before = fs::read(&log).unwrap();
    drop(scene.next().build().unwrap());
    assert_eq!(fs::read(&log).unwrap(), before);
    assert_eq!(scene.marks(), 1);
    drop(alive);
    drop(scene.next().build().unwrap());
    assert!(verified(&log).unsettled.is_empty());
}

#[test]
fn half_a_line_behind_the_intent_is_cut_off_and_said() {
    let (scene, log) = left_by_the_dead();
    let torn = [&fs::read(&log).unwrap()[..], b"{\"half\":"].concat();
    fs::write(&log, torn).unwrap();
    drop(scene.next().build().unwrap());
    let entries = verify(&lines_of(&log));
    assert_eq!(entries[entries.len() - 2]["reason"], "repaired");
    assert_eq!(entries.last().unwrap()["outcome"], "ok");
}

#[test]
fn a_mark_without_a_log_and_a_log_that_is_damaged_stop_nobody() {
    let (scene, log) = left_by_the_dead();
    fs::write(scene.state().join("unsettled/gone.jsonl"), "").unwrap();
    fs::write(&log, "no log\n").unwrap();
    drop(scene.next().build().unwrap());
    assert_eq!(scene.marks(), 1);
    assert_eq!(fs::read(&log).unwrap(), b"no log\n");
}

/// The control for all of this: who ends as usual leaves no mark, and who only reads makes none.
#[test]
fn a_process_that_ends_as_usual_leaves_nothing_to_settle() {
    let scene = Scene::new();
    for (tool, arguments) in [
        ("read_file", json!({ "path": "old" })),
        ("write_file", json!({ "path": "made/new", "content": "x" })),
        ("write_file", json!({ "path": "old/new", "content": "x" })),
        ("delete_file", json!({ "path": "old" })),
    ] {
        Held::start(scene.command(tool, &arguments)).go_on();
        assert_eq!(scene.marks(), 0, "{tool}");
    }
    let session = Session::builder()
        .work_root(scene.fixture.workspace())
        .delete(Consent::Allow)
        .state_directory(scene.state())
        .build()
        .unwrap();
    session.call("list_files", "{}").unwrap();
    assert_eq!(scene.marks(), 0);
    let write = json!({ "path": "more", "content": "x" });
    session.call("write_file", write).unwrap();
    assert_eq!(scene.marks(), 1);
    drop(session);
    assert_eq!(scene.marks(), 0);
}

/// Who did not sign the log before does not sign what is added to it.
#[test]
fn what_is_added_is_signed_by_the_one_who_signs_the_log() {
    for same in [true, false] {
        let scene = Scene::new();
        let (key, other) = (
            scene.fixture.base().join("key"),
            scene.fixture.base().join("other"),
        );
        let signer = AuditKey::generate();
        signer.write_new(&key).unwrap();
        AuditKey::generate().write_new(&other).unwrap();
        let write = json!({ "path": "new", "content": "x" });
        let mut command = scene.command("write_file", &write);
        command.arg("--audit-key").arg(&key);
        // Killed when the new file has its name.
        let calls = calls_of("write_file", &write);
        let at = calls
            .iter()
            .rposition(|call| call.name == "linkat")
            .unwrap();
        let behind = calls[at + 1..].iter().find(|call| call.changes()).unwrap();
        trace(command, Path::new("/no/log"), Some(&behind.killing()));
        let key = if same { &key } else { &other };
        drop(scene.next().audit_key(key).build().unwrap());
        let entries = verify(&lines_of(&scene.log()));
        let last = entries.last().unwrap();
        assert_eq!(last["kind"], if same { "checkpoint" } else { "outcome" });
        let mut verifier = LogVerifier::new().signed_by(signer.public_key());
        verifier.read(&*fs::read(scene.log()).unwrap()).unwrap();
        assert_eq!(verifier.finish(None).is_ok(), same);
    }
}
