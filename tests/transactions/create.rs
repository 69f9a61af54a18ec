//! New files and directories: exclusive, complete, and gone again when the call fails.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex};

use rootbound::{AuditLog, Consent, Limits, Session};
use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::tree::{names, tree};

#[test]
fn a_file_appears_whole_with_its_directories() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let content = "ä\n\0 \u{10ffff}".repeat(1000);
    let arguments = json!({ "path": "a/b/t", "content": content });
    let fields = recorded.fields("write_file", arguments);
    assert_eq!(fields["bytes_written"], content.len());
    assert_eq!(fields["created"], true);
    assert_eq!(fixture.workspace_text("a/b/t"), content);
    assert_eq!(names(&fixture.workspace()), ["a", "a/b", "a/b/t"]);
}

#[test]
fn what_is_made_has_the_permissions_that_any_program_would_give_it() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.outside().join("d")).unwrap();
    fs::write(fixture.outside().join("d/t"), "").unwrap();
    let arguments = json!({ "path": "d/t", "content": "" });
    fixture.session().fields("write_file", arguments);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    for path in ["d", "d/t"] {
        let (ours, plain) = (fixture.workspace().join(path), fixture.outside().join(path));
        assert_eq!(mode(&ours), mode(&plain), "{path}");
    }
}

/// Calls that fail after some of what they asked for was done or staged, and their codes.
#[test]
fn a_failed_call_leaves_nothing_behind() {
    let content = |length| json!({ "path": "a/b/c/t", "content": "x".repeat(length) });
    let rows = [
        ("write_file", content(11), "limit-exceeded"),
        (
            "write_file",
            json!({ "path": "old/new/t", "content": "x".repeat(11) }),
            "limit-exceeded",
        ),
        (
            "create_file",
            json!({ "file_path": "a/t", "content": "x".repeat(11) }),
            "limit-exceeded",
        ),
        (
            "write_file",
            json!({ "path": "a/b/c\u{202e}", "content": "" }),
            "invalid-path",
        ),
        (
            "create_directory",
            json!({ "dir_path": "a/b/c\u{202e}" }),
            "invalid-path",
        ),
        (
            "create_directory",
            json!({ "dir_path": "a/b/../../old" }),
            "exists",
        ),
        (
            "write_file",
            json!({ "path": "a/../old/file/t", "content": "" }),
            "not-a-directory",
        ),
        (
            "write_file",
            json!({ "path": "old/file/d/t", "content": "" }),
            "not-a-directory",
        ),
        (
            "create_directory",
            json!({ "dir_path": "old/file/d" }),
            "not-a-directory",
        ),
        (
            "create_directory",
            json!({ "dir_path": "old/link/d" }),
            "escape",
        ),
        (
            "write_file",
            json!({ "path": "old/link/d/t", "content": "" }),
            "escape",
        ),
        (
            "create_directory",
            json!({ "dir_path": "old/file" }),
            "exists",
        ),
    ];
    for (tool, arguments, code) in rows {
        let fixture = Fixture::new();
        fixture.work("old/file", "kept");
        let link = fixture.workspace().join("old/link");
        std::os::unix::fs::symlink("../../outside", link).unwrap();
        let limits = Limits {
            max_write_bytes: 10,
            ..Limits::default()
        };
        let recorded = fixture.session_with(|b| b.limits(limits).overwrite(Consent::Allow));
        let before = tree(fixture.base());
        let error = recorded.error(tool, arguments.clone());
        assert_eq!(error.code(), code, "{tool} {arguments}: {error}");
        assert_eq!(tree(fixture.base()), before, "{tool} {arguments}");
        assert!(
            error.details().get("committed").is_none(),
            "{tool} {arguments}"
        );
        assert_directories_are_accounted_for(&recorded.entries());
    }
}

/// Whatever was recorded as made must be recorded as rolled back.
fn assert_directories_are_accounted_for(entries: &[Value]) {
    let paths = |outcome: &str| -> Vec<&str> {
        let mut paths: Vec<&str> = entries
            .iter()
            .filter(|entry| entry["kind"] == "outcome" && entry["outcome"] == outcome)
            .map(|entry| entry["path"].as_str().unwrap())
            .collect();
        paths.sort_unstable();
        paths
    };
    assert_eq!(paths("ok"), paths("rolled-back"));
}

/// The audit log hears of every step, so its sink can act in the middle of a call.
fn session_that_acts(
    fixture: &Fixture,
    act: impl Fn(&Value) -> io::Result<()> + Send + Sync + 'static,
) -> Session {
    let log = AuditLog::sink(move |line: &str| act(&serde_json::from_str(line).unwrap()));
    let builder = Session::builder().write_root(fixture.workspace());
    builder.audit(log).build().unwrap()
}

#[test]
fn a_directory_that_someone_else_uses_by_now_is_left_to_them() {
    let fixture = Fixture::new();
    let theirs = fixture.workspace().join("a/theirs");
    let also_theirs = theirs.clone();
    let session = session_that_acts(&fixture, move |entry| {
        if entry["kind"] == "outcome" && entry["path"] == "a" && entry["outcome"] == "ok" {
            fs::write(&also_theirs, "theirs")?;
        }
        Ok(())
    });
    let unsafe_name = json!({ "dir_path": "a/b/c\u{202e}" });
    session.call("create_directory", unsafe_name).unwrap_err();
    assert_eq!(names(&fixture.workspace()), ["a", "a/theirs"]);
    assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs");
}

#[test]
fn a_name_that_someone_else_takes_during_the_call_is_theirs() {
    let fixture = Fixture::new();
    let theirs = fixture.workspace().join("d/t");
    let also_theirs = theirs.clone();
    let session = session_that_acts(&fixture, move |entry| {
        if entry["kind"] == "intent" && entry["operation"] == "create" {
            fs::write(&also_theirs, "theirs")?;
        }
        Ok(())
    });
    let arguments = json!({ "path": "d/t", "content": "ours" });
    let error = session.call("write_file", arguments).unwrap_err();
    assert_eq!(error.code(), "exists");
    assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs");
    assert_eq!(names(&fixture.workspace()), ["d", "d/t"]);
}

#[test]
fn of_many_who_create_one_file_exactly_one_does() {
    const WRITERS: usize = 8;
    let fixture = Fixture::new();
    let answers = Arc::new(Mutex::new(Vec::new()));
    let start = Arc::new(Barrier::new(WRITERS));
    let shared = fixture.session().session;
    let writers = (0..WRITERS).map(|number| {
        // Half of them in one session, half in sessions of their own.
        let session = match number % 2 {
            0 => shared.clone(),
            _ => fixture.session().session,
        };
        let (answers, start) = (Arc::clone(&answers), Arc::clone(&start));
        std::thread::spawn(move || {
            let content = format!("{number}").repeat(10_000);
            let arguments = json!({ "file_path": "d/t", "content": content });
            start.wait();
            let answer = session.call("create_file", arguments);
            let code = answer.map_or_else(|error| error.code().to_owned(), |_| content);
            answers.lock().unwrap().push(code);
        })
    });
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let mut answers = answers.lock().unwrap().clone();
    answers.retain(|answer| answer != "exists");
    assert_eq!(answers, [fixture.workspace_text("d/t")]);
    assert_eq!(names(&fixture.workspace()), ["d", "d/t"]);
}
