//! One chain over several files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rootbound::{AuditLog, Rotation, Session};
use serde_json::json;

use super::{lines_of, verify};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};
use crate::support::tree::names;

const SMALL: Rotation = Rotation {
    max_bytes: Some(4000),
    max_age: None,
};

fn session(fixture: &Fixture, rotation: Rotation) -> Session {
    let file = fixture.outside().join("audit.jsonl");
    let builder = Session::builder()
        .read_root(fixture.inputs())
        .audit_file(file)
        .audit_rotation(rotation);
    builder.build().unwrap()
}

/// The files of a log, oldest first.
fn files(directory: &Path) -> Vec<PathBuf> {
    let count = names(directory).len();
    let numbered = (1..count).map(|number| format!("audit.jsonl.{number}"));
    let names = numbered.chain(["audit.jsonl".to_owned()]);
    names.map(|name| directory.join(name)).collect()
}

fn verify_files(files: &[PathBuf]) -> Run {
    let arguments = ["audit".as_ref(), "verify".as_ref()];
    let files = files.iter().map(|file| file.as_os_str());
    Cli::new().run(arguments.into_iter().chain(files))
}

#[test]
fn a_full_file_is_put_aside_and_the_chain_goes_on() {
    let fixture = Fixture::new();
    // Two processes, one after the other.
    for _ in 0..2 {
        let session = session(&fixture, SMALL);
        for _ in 0..20 {
            session.call("list_files", "{}").unwrap();
        }
    }
    let files = files(&fixture.outside());
    assert!(files.len() > 4, "{files:?}");
    let mut lines = Vec::new();
    for file in &files {
        let of_file = lines_of(file);
        assert!(of_file[0].contains("\"kind\":\"genesis\""), "{of_file:?}");
        let without_last = &of_file[..of_file.len() - 1];
        let bytes: usize = without_last.iter().map(|line| line.len() + 1).sum();
        assert!(bytes < 4000 + 1000, "{bytes}");
        lines.extend(of_file);
    }
    let entries = verify(&lines);
    let calls = entries.iter().filter(|entry| entry["kind"] == "call");
    assert_eq!(calls.count(), 40);
    let verified = verify_files(&files).success();
    assert_eq!(verified["entries"], lines.len());
}

#[test]
fn a_log_whose_beginning_is_not_here_is_whole_only_behind_the_entry_that_is_named() {
    let fixture = Fixture::new();
    for _ in 0..3 {
        let session = session(&fixture, Rotation::default());
        session.call("list_files", "{}").unwrap();
    }
    let log = fixture.outside().join("audit.jsonl");
    let lines = lines_of(&log);
    let begins = |line: &String| line.contains("\"kind\":\"genesis\"");
    let cut = lines.iter().rposition(begins).unwrap();
    assert!(cut > 0);
    let rest = fixture.outside().join("rest.jsonl");
    fs::write(&rest, lines[cut..].join("\n") + "\n").unwrap();
    let entry = |line: &String| -> serde_json::Value { serde_json::from_str(line).unwrap() };
    let hash = |line: &String| entry(line)["hash"].as_str().unwrap().to_owned();
    let (end_before, head) = (hash(&lines[cut - 1]), hash(lines.last().unwrap()));
    let (log, rest) = (log.to_str().unwrap(), rest.to_str().unwrap());
    let cli = Cli::new();

    // The control: each of its lines has the right hash, and follows the one before.
    let shown = cli.run(["audit", "show", rest]);
    assert_eq!(shown.status, Some(0), "{shown:?}");
    let warning = format!("begins at entry {cut}: the {cut} entries before it are not here");
    assert!(shown.stderr.contains(&warning), "{shown:?}");

    for (file, after, status) in [
        (rest, None, 1),
        (rest, Some(&head), 1),
        (rest, Some(&end_before), 0),
        (log, Some(&end_before), 1),
        (log, None, 0),
    ] {
        let mut command = cli.command(["audit", "verify", "--head", &head, file]);
        command.args(after.map(|hash| format!("--after={hash}")));
        let run = Run::of(&mut command);
        assert_eq!(run.status, Some(status), "{file} {after:?} {run:?}");
        if status == 1 {
            assert!(run.stderr.contains("line 1: the log begins at"), "{run:?}");
        } else if file == rest {
            assert!(run.stderr.contains(&warning), "{run:?}");
            let answer = run.success();
            assert_eq!(
                (&answer["before"], &answer["entries"]),
                (&json!(cut), &json!(lines.len() - cut))
            );
        }
    }
}

/// What is put aside is what this process wrote.
#[test]
fn a_file_that_is_not_as_it_was_left_is_not_put_aside() {
    const SECOND: Rotation = Rotation {
        max_bytes: None,
        max_age: Some(Duration::from_secs(1)),
    };
    type Change = fn(&Path);
    let changes: [(&str, Change); 4] = [
        ("cut off", |log| {
            let first = lines_of(log).swap_remove(0);
            fs::write(log, first + "\n").unwrap();
        }),
        ("longer", |log| {
            let whole = fs::read_to_string(log).unwrap();
            fs::write(log, whole + "forged\n").unwrap();
        }),
        ("another", |log| {
            fs::rename(log, log.with_file_name("old")).unwrap();
            fs::write(log, "precious\n").unwrap();
        }),
        ("in another directory", |log| {
            let directory = log.parent().unwrap();
            fs::rename(directory, directory.with_file_name("old")).unwrap();
            fs::create_dir(directory).unwrap();
            fs::write(log, "precious\n").unwrap();
        }),
    ];
    for (name, change) in changes {
        let fixture = Fixture::new();
        let log = fixture.outside().join("logs/audit.jsonl");
        fs::create_dir(log.parent().unwrap()).unwrap();
        let builder = Session::builder().write_root(fixture.workspace());
        let builder = builder.audit_file(&log).audit_rotation(SECOND);
        let session = builder.build().unwrap();
        let write =
            |path: &str| session.call("write_file", json!({ "path": path, "content": "x" }));
        write("before").unwrap();
        change(&log);
        let changed = fs::read(&log).unwrap();
        std::thread::sleep(Duration::from_millis(1100));
        for path in ["a", "b"] {
            let error = write(path).unwrap_err();
            assert_eq!(error.code(), "audit-unavailable", "{name}: {error}");
        }
        assert_eq!(names(&fixture.workspace()), ["before"], "{name}");
        assert_eq!(fs::read(&log).unwrap(), changed, "{name}");
        assert!(!log.with_file_name("audit.jsonl.1").exists(), "{name}");
    }
}

#[test]
fn a_file_that_is_missing_or_out_of_order_shows() {
    let fixture = Fixture::new();
    let session = session(&fixture, SMALL);
    for _ in 0..40 {
        session.call("list_files", "{}").unwrap();
    }
    let files = files(&fixture.outside());
    let missing = [&files[..1], &files[2..]].concat();
    let swapped = [&files[1..2], &files[..1], &files[2..]].concat();
    for wrong in [missing, swapped] {
        let run = verify_files(&wrong);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains("line 1: it does not follow"), "{run:?}");
    }
}

#[test]
fn an_old_file_is_put_aside() {
    let fixture = Fixture::new();
    let old = Rotation {
        max_bytes: None,
        max_age: Some(Duration::from_nanos(1)),
    };
    let session = session(&fixture, old);
    for _ in 0..3 {
        session.call("list_files", "{}").unwrap();
    }
    let files = files(&fixture.outside());
    assert_eq!(files.len(), 4);
    verify_files(&files).success();
}

/// Numbers go on where they were, also when the operator has taken files away.
#[test]
fn nothing_that_was_put_aside_is_written_over() {
    let fixture = Fixture::new();
    let outside = fixture.outside();
    fs::write(outside.join("audit.jsonl.7"), "theirs").unwrap();
    let session = session(&fixture, SMALL);
    for _ in 0..20 {
        session.call("list_files", "{}").unwrap();
    }
    assert_eq!(
        fs::read_to_string(outside.join("audit.jsonl.7")).unwrap(),
        "theirs"
    );
    assert!(outside.join("audit.jsonl.8").exists());
    assert!(!outside.join("audit.jsonl.1").exists());
}

/// The new file is locked like the old one.
#[test]
fn a_second_process_finds_the_new_file_locked() {
    let fixture = Fixture::new();
    let session = session(&fixture, SMALL);
    for _ in 0..20 {
        session.call("list_files", "{}").unwrap();
    }
    let file = fixture.outside().join("audit.jsonl");
    let error = AuditLog::file(&file).unwrap_err();
    assert_eq!(error.code(), "audit-unavailable");
    drop(session);
    AuditLog::file(&file).unwrap();
}

#[test]
fn where_no_new_file_can_be_made_nothing_happens() {
    let fixture = Fixture::new();
    let logs = fixture.outside().join("logs");
    fs::create_dir(&logs).unwrap();
    let builder = Session::builder()
        .read_root(fixture.inputs())
        .audit_file(logs.join("audit.jsonl"))
        .audit_rotation(SMALL);
    let session = builder.build().unwrap();
    fs::rename(&logs, fixture.outside().join("gone")).unwrap();
    let answers = (0..20).map(|_| session.call("list_files", "{}"));
    let refused: Vec<_> = answers.filter_map(Result::err).collect();
    assert!(!refused.is_empty());
    assert!(
        refused
            .iter()
            .all(|error| error.code() == "audit-unavailable")
    );
}

#[test]
fn the_command_line_rotates_below_the_kernels_confinement() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let (inputs, log) = (fixture.inputs(), fixture.outside().join("audit.jsonl"));
    for _ in 0..3 {
        let mut command = cli.command(["call", "list_files", "{}", "--audit-max-bytes", "1000"]);
        command.arg("--read").arg(&inputs).arg("--audit").arg(&log);
        Run::of(&mut command).success();
    }
    let mut command = cli.command(["call", "list_files", "{}", "--audit-max-age", "soon"]);
    let run = Run::of(command.arg("--read").arg(&inputs));
    assert_eq!(run.status, Some(2), "{run:?}");
    let files = files(&fixture.outside());
    assert!(files.len() > 2, "{files:?}");
    let verified = verify_files(&files).success();
    assert!(
        verified["entries"].as_u64() > Some(8),
        "{verified} {}",
        json!(files)
    );
}

/// The next process looks for changes without an outcome in the file that it continues.
#[test]
fn a_change_and_what_became_of_it_stand_in_one_file() {
    let fixture = Fixture::new();
    let builder = Session::builder()
        .work_root(fixture.workspace())
        .audit_file(fixture.outside().join("audit.jsonl"))
        .audit_rotation(Rotation {
            max_bytes: Some(1),
            max_age: None,
        });
    let session = builder.build().unwrap();
    for path in ["a.md", "new/b.md"] {
        let arguments = json!({ "path": path, "content": "x" });
        session.call("write_file", arguments).unwrap();
    }
    drop(session);
    let files = files(&fixture.outside());
    let mut intents = 0;
    for file in &files {
        let entries: Vec<serde_json::Value> = lines_of(file)
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let of = |kind: &str, call: &serde_json::Value| {
            let is = |entry: &&serde_json::Value| entry["kind"] == kind && entry["call"] == *call;
            entries.iter().filter(is).count()
        };
        for intent in entries.iter().filter(|entry| entry["kind"] == "intent") {
            let call = &intent["call"];
            assert_eq!(of("intent", call), of("outcome", call), "{file:?}");
            assert_eq!(of("call", call), 1, "{file:?}");
            intents += 1;
        }
    }
    assert!(intents >= 2 && files.len() > 2, "{intents} {files:?}");
    verify_files(&files).success();
}

/// A process that is killed while it puts a file aside leaves it under two names.
#[test]
fn a_file_that_was_half_put_aside_is_told_and_mended() {
    let fixture = Fixture::new();
    let outside = fixture.outside();
    let log = outside.join("audit.jsonl");
    drop(session(&fixture, Rotation::default()));
    let (second, begun) = (
        outside.join("audit.jsonl.1"),
        outside.join("audit.jsonl.new-0123456789abcdef"),
    );
    for rotation in [Rotation::default(), SMALL] {
        fs::hard_link(&log, &second).unwrap();
        fs::write(&begun, "half").unwrap();
        let run = verify_files(&[second.clone(), log.clone()]);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains("are one file"), "{run:?}");
        let session = session(&fixture, rotation);
        session.call("list_files", "{}").unwrap();
        drop(session);
        assert_eq!(names(&outside), ["audit.jsonl"]);
        verify_files(std::slice::from_ref(&log)).success();
    }
    // What is no such file is somebody's.
    let theirs = [
        "audit.jsonl.new-x",
        "audit.jsonl.2",
        "audit.jsonl.1.new-0123456789abcdef",
    ];
    for name in theirs {
        fs::write(outside.join(name), "theirs").unwrap();
    }
    drop(session(&fixture, Rotation::default()));
    assert!(theirs.iter().all(|name| outside.join(name).exists()));
}

#[test]
fn a_signed_file_whose_successor_is_missing_is_told_from_one_that_was_cut_off() {
    let fixture = Fixture::new();
    let key = rootbound::AuditKey::generate();
    let public_key = key.public_key().to_string();
    let log = AuditLog::file(fixture.outside().join("audit.jsonl")).unwrap();
    let log = log.signed_by(key).rotated(SMALL);
    let builder = Session::builder().read_root(fixture.inputs()).audit(log);
    let session = builder.build().unwrap();
    for _ in 0..20 {
        session.call("list_files", "{}").unwrap();
    }
    session.close().unwrap();
    let files = files(&fixture.outside());
    let with_key = |files: &[PathBuf]| {
        let options = ["audit", "verify", "--public-key", &public_key].map(String::from);
        let files = files.iter().map(|file| file.to_str().unwrap().to_owned());
        Cli::new().run(options.into_iter().chain(files))
    };
    with_key(&files).success();
    let run = with_key(&files[..1]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stderr.contains("was put aside"), "{run:?}");
}
