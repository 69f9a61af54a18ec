//! Logs that cannot be opened, or cannot be written any more.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rootbound::{AuditLog, Session};
use serde_json::{Value, json};

use super::{lines_of, verify};
use crate::support::cli::{Cli, Run, open_to_everyone};
use crate::support::mounts::Mount;
use crate::support::tree::names;
use crate::support::{Fixture, pipe};

fn write_with_log(cli: &Cli, fixture: &Fixture, log: &Path) -> Command {
    let arguments = json!({ "path": "t", "content": "x" }).to_string();
    let mut command = cli.command(["call", "write_file", &arguments]);
    command.arg("--write").arg(fixture.workspace());
    command.arg("--audit").arg(log);
    command
}

fn assert_unavailable(run: &Run, fixture: &Fixture) {
    let error = run.refusal();
    assert_eq!(error["code"], "audit-unavailable", "{run:?}");
    assert_ne!(error["hint"], "", "{run:?}");
    let base = fixture.base().to_str().unwrap();
    assert!(!error.to_string().contains(base), "{run:?}");
    assert_eq!(names(&fixture.workspace()), [""; 0]);
}

#[test]
fn what_is_no_place_for_a_log_is_refused() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let outside = fixture.outside();
    fs::write(outside.join("file"), "").unwrap();
    fs::create_dir(outside.join("directory")).unwrap();
    symlink("file", outside.join("link")).unwrap();
    symlink("missing", outside.join("dangling")).unwrap();
    pipe(&outside.join("pipe"));
    for log in [
        outside.join("missing/audit.jsonl"),
        outside.join("file/audit.jsonl"),
        outside.join("directory"),
        outside.join("link"),
        outside.join("dangling"),
        outside.join("pipe"),
        PathBuf::from("/dev/full"),
        PathBuf::from("/dev/null"),
    ] {
        let run = Run::of(&mut write_with_log(&cli, &fixture, &log));
        assert_unavailable(&run, &fixture);
    }
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"");
    assert!(!outside.join("missing").exists());
}

#[test]
fn a_log_that_may_not_be_written_is_refused() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let read_only = fixture.outside().join("read-only.jsonl");
    fs::write(&read_only, "").unwrap();
    fs::set_permissions(&read_only, Permissions::from_mode(0o444)).unwrap();
    for directory in [fixture.base(), &fixture.workspace()] {
        open_to_everyone(directory);
    }
    fs::set_permissions(fixture.outside(), Permissions::from_mode(0o755)).unwrap();
    for log in [read_only, fixture.outside().join("new.jsonl")] {
        let arguments = json!({ "path": "t", "content": "x" }).to_string();
        let mut command = cli.command_as_nobody(["call", "write_file", &arguments]);
        command.arg("--write").arg(fixture.workspace());
        let run = Run::of(command.arg("--audit").arg(log));
        assert_unavailable(&run, &fixture);
    }
}

/// What stands at the end of a file that is not one of our lines, whole and unaltered.
#[test]
fn a_log_whose_last_line_is_damaged_is_not_continued() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.outside().join("audit.jsonl");
    Session::builder().audit_file(&log).build().unwrap();
    let whole = fs::read_to_string(&log).unwrap();
    let entry: Value = serde_json::from_str(&whole).unwrap();
    let hash = entry["hash"].as_str().unwrap();
    let damaged: [(&str, Vec<u8>); 9] = [
        (
            "half a line and a line feed",
            format!("{}\n", &whole[..whole.len() / 2]).into(),
        ),
        (
            "a digit changed",
            whole.replace("\"seq\":0", "\"seq\":1").into(),
        ),
        (
            "a hash changed",
            whole.replace(hash, &"0".repeat(64)).into(),
        ),
        (
            "a field added",
            whole.replace(",\"hash\"", ",\"x\":1,\"hash\"").into(),
        ),
        ("an empty line", format!("{whole}\n").into()),
        ("no hash", "{\"seq\":0}\n".into()),
        ("no JSON", "hello\n".into()),
        ("only a line feed", "\n".into()),
        ("no UTF-8", [whole.as_bytes(), b"\xff\n"].concat()),
    ];
    for (damage, bytes) in damaged {
        fs::write(&log, &bytes).unwrap();
        let run = Run::of(&mut write_with_log(&cli, &fixture, &log));
        assert_unavailable(&run, &fixture);
        let message = run.json()["error"]["message"].to_string();
        assert!(message.contains("last line"), "{damage}: {message}");
        assert_eq!(fs::read(&log).unwrap(), bytes, "{damage}");
    }
    // The control: the undamaged line is continued.
    fs::write(&log, whole).unwrap();
    Run::of(&mut write_with_log(&cli, &fixture, &log)).success();
    verify(&lines_of(&log));
}

#[test]
fn a_second_process_waits_two_seconds_and_is_refused() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.outside().join("audit.jsonl");
    let session = Session::builder().audit_file(&log).build().unwrap();
    let before = fs::read(&log).unwrap();
    let started = Instant::now();
    let run = Run::of(&mut write_with_log(&cli, &fixture, &log));
    assert!(started.elapsed() >= Duration::from_secs(2));
    assert_unavailable(&run, &fixture);
    assert_eq!(fs::read(&log).unwrap(), before);
    drop(session);
    Run::of(&mut write_with_log(&cli, &fixture, &log)).success();
    verify(&lines_of(&log));
}

#[test]
fn a_second_process_goes_on_when_the_first_has_ended() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.outside().join("audit.jsonl");
    let session = Session::builder().audit_file(&log).build().unwrap();
    let mut command = write_with_log(&cli, &fixture, &log);
    let second = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(session);
    Run::from(second.wait_with_output().unwrap()).success();
    assert_eq!(fixture.workspace_text("t"), "x");
    verify(&lines_of(&log));
}

#[test]
fn one_process_does_not_open_a_log_twice_either() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let _first = AuditLog::file(&log).unwrap();
    let error = AuditLog::file(&log).unwrap_err();
    assert_eq!(error.code(), "audit-unavailable");
}

#[test]
fn a_log_that_was_removed_takes_nothing_more() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().write_root(fixture.workspace());
    let session = builder.audit_file(&log).build().unwrap();
    fs::remove_file(&log).unwrap();
    let arguments = json!({ "path": "t", "content": "x" });
    let error = session.call("write_file", arguments).unwrap_err();
    assert_eq!(error.code(), "audit-unavailable");
    assert_eq!(names(&fixture.workspace()), [""; 0]);
}

#[test]
fn on_a_full_disk_the_log_keeps_whole_lines_and_nothing_happens() {
    let fixture = Fixture::new();
    let disk = Mount::memory("64k", &fixture.outside());
    let log = disk.path().join("audit.jsonl");
    let builder = Session::builder().write_root(fixture.workspace());
    let session = builder.audit_file(&log).build().unwrap();
    let mut written = Vec::new();
    let error = loop {
        let path = format!("t{}", written.len());
        let arguments = json!({ "path": path, "content": "" });
        match session.call("write_file", arguments) {
            Ok(_) => written.push(path),
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), "audit-unavailable");
    // The last file stands only if the error says so.
    if error.details().contains_key("committed") {
        written.push(format!("t{}", written.len()));
    }
    written.sort();
    assert_eq!(names(&fixture.workspace()), written);
    verify(&lines_of(&log));
}

#[test]
fn standard_error_that_takes_nothing_is_no_log() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let mut command = write_with_log(&cli, &fixture, Path::new("stderr"));
    let child = command.stdout(Stdio::piped()).stderr(full.unwrap()).spawn();
    let run = Run::from(child.unwrap().wait_with_output().unwrap());
    assert_unavailable(&run, &fixture);
}
