//! The log as a person reads it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use rootbound::{CallOptions, Consent, Rotation, Session};
use serde_json::{Value, json};

use super::lines_of;
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

/// Long enough for a reader to look again.
const PATIENCE: Duration = Duration::from_secs(60);

/// The log of a short session, and the session's id.
fn story(fixture: &Fixture) -> (PathBuf, String) {
    let log = fixture.outside().join("audit.jsonl");
    fixture.input("notes.md", "buy milk\n");
    fixture.input("more/notes.md", "");
    let builder = Session::builder()
        .read_root(fixture.inputs())
        .write_root(fixture.workspace())
        .overwrite(Consent::Allow)
        .audit_file(&log);
    let session = builder.build().unwrap();
    let call = |tool: &str, arguments: Value| session.call(tool, arguments);
    call("read_file", json!({ "path": "notes.md" })).unwrap();
    call("read_file", json!({ "path": "notes.md" })).unwrap();
    call(
        "read_files",
        json!({ "paths": ["notes.md", "more/notes.md"] }),
    )
    .unwrap();
    call(
        "write_file",
        json!({ "path": "out/report.md", "content": "x" }),
    )
    .unwrap();
    call("read_file", json!({ "path": "../secret" })).unwrap_err();
    fixture.work("theirs", "");
    call("delete_file", json!({ "path": "theirs" })).unwrap_err();
    (log, session.id().to_owned())
}

fn show(log: &Path, further: &[&str]) -> Run {
    let arguments = ["audit".as_ref(), "show".as_ref(), log.as_os_str()];
    let further = further.iter().map(AsRef::as_ref);
    Cli::new().run(arguments.into_iter().chain(further))
}

/// The cells of a table's lines from a column on, but for how long calls took.
fn cells(run: &Run, from: usize) -> Vec<String> {
    assert_eq!(run.status, Some(0), "{run:?}");
    let rows = run.stdout.lines().skip(1);
    let rows = rows.take_while(|line| !line.is_empty());
    let cells = rows.map(|row| {
        let words: Vec<&str> = row
            .split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .collect();
        words[from..]
            .join(" | ")
            .split(", 0.")
            .next()
            .unwrap()
            .to_owned()
    });
    cells.collect()
}

#[test]
fn a_table_has_a_line_for_everything_that_happened() {
    let fixture = Fixture::new();
    let (log, id) = story(&fixture);
    let run = show(&log, &["--tool", "write_file"]);
    let expected = [
        "intent | create-directory | workspace:out | allow",
        "outcome | create-directory | workspace:out | allow, ok",
        "intent | create | workspace:out/report.md | allow, 1 bytes",
        "outcome | create | workspace:out/report.md | allow, ok, 1 bytes",
    ];
    assert_eq!(cells(&run, 3)[..4], expected);
    assert_eq!(cells(&run, 3).len(), 5);
    let whole = show(&log, &[]);
    assert!(whole.stdout.starts_with("TIME "), "{whole:?}");
    // A batch of accesses has a line for each.
    let entries = lines_of(&log).len();
    assert_eq!(cells(&whole, 0).len(), entries + 1);
    let short = format!(
        "session {id}: 6 calls; 2 read, 0 listed, 2 written, 0 deleted, 0 renamed, 2 refused\n"
    );
    assert!(whole.stdout.ends_with(&short), "{whole:?}");
}

#[test]
fn filters_leave_what_was_asked_for() {
    let fixture = Fixture::new();
    let (log, id) = story(&fixture);
    let call = format!("{id}-3");
    let lines = lines_of(&log).len();
    let rows: [(&[&str], usize); 13] = [
        (&[], lines),
        (&["--tool", "read_file"], 6),
        (&["--denied"], 3),
        (&["--denied", "--tool", "read_file"], 1),
        (&["--path", "notes.md"], 3),
        (&["--path", "more"], 1),
        (&["--path", "mor"], 0),
        (&["--path", "out/"], 4),
        (&["--call", &call], 2),
        (&["--since", "1h"], lines),
        (&["--since", "9000y"], lines),
        (&["--since", "99999999999d"], lines),
        (&["--since", "2999-01-01T00:00:00Z"], 0),
    ];
    for (filter, count) in rows {
        let run = show(&log, &[filter, &["--json"]].concat());
        assert_eq!(run.status, Some(0), "{run:?}");
        assert_eq!(
            run.stdout.lines().count(),
            count,
            "{filter:?}: {}",
            run.stdout
        );
        let all = fs::read_to_string(&log).unwrap();
        assert!(
            run.stdout.lines().all(|line| all.contains(line)),
            "{filter:?}"
        );
    }
    // Of a batch, only what was asked for.
    let run = show(&log, &["--path", "more"]);
    assert_eq!(
        cells(&run, 3),
        ["access | read | inputs:more/notes.md | allow, 0 bytes"]
    );
}

#[test]
fn a_summary_says_what_each_session_did() {
    let fixture = Fixture::new();
    let (log, id) = story(&fixture);
    let expected = format!(
        "session {id}: 6 calls
  read      inputs:more/notes.md
  read      inputs:notes.md  (3 times)
  written   workspace:out
  written   workspace:out/report.md
  refused   inputs:../secret  open invalid-path
  refused   workspace:theirs  delete approval-required
"
    );
    let run = show(&log, &["--summary"]);
    assert_eq!(run.stdout, expected);
    let as_json = show(&log, &["--summary", "--json"]).json();
    assert_eq!(as_json["sessions"][0]["read"]["inputs:notes.md"], 3);
    assert_eq!(as_json["unsettled"], 0);
}

#[test]
fn what_is_wrong_is_shown_and_said() {
    let fixture = Fixture::new();
    let (log, _) = story(&fixture);
    let text = fs::read_to_string(&log).unwrap();
    for (damaged, fault) in [
        (
            text.replacen("notes.md", "other.md", 1),
            "line 2: it was edited",
        ),
        (format!("{text}\u{1b}[2J{{\n"), "it is not JSON"),
        (text.trim_end().to_owned(), "the last line is cut off"),
        (text.replacen('\n', "\n\n", 1), "line 2: it is not JSON"),
    ] {
        fs::write(&log, &damaged).unwrap();
        let run = show(&log, &[]);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains(fault), "{fault}: {run:?}");
        assert!(run.stdout.contains("workspace:theirs"), "{run:?}");
        assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
    }
}

/// What stands for bytes that are no text can be text in an entry.
#[test]
fn bytes_that_are_no_text_are_not_taken_for_what_stands_for_them() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit_file(&log).build().unwrap();
    session
        .call("read_file", json!({ "path": "rep\u{fffd}ort" }))
        .unwrap_err();
    session
        .call("read_file", json!({ "path": "../rep\u{fffd}ort" }))
        .unwrap_err();
    drop(session);
    let text = fs::read(&log).unwrap();
    assert_eq!(show(&log, &[]).status, Some(0));
    let at = text
        .windows(3)
        .position(|bytes| bytes == "\u{fffd}".as_bytes());
    let at = at.expect("the log holds it");
    let damaged = [&text[..at], b"\xff", &text[at + 3..]].concat();
    fs::write(&log, damaged).unwrap();
    for further in ["--json", "--summary", "--denied"] {
        let run = show(&log, &[further]);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains("it is not UTF-8"), "{run:?}");
    }
}

#[test]
fn a_fault_is_named_by_its_line_in_its_own_file() {
    let fixture = Fixture::new();
    let (log, _) = story(&fixture);
    let lines = lines_of(&log);
    let (first, second) = (
        fixture.outside().join("first"),
        fixture.outside().join("second"),
    );
    let (before, behind) = lines.split_at(5);
    fs::write(&first, before.join("\n") + "\n").unwrap();
    let damaged = behind[2].replacen("\"seq\":7", "\"seq\":8", 1);
    assert_ne!(damaged, behind[2]);
    let behind = [&behind[..2], &[damaged], &behind[3..]].concat();
    fs::write(&second, behind.join("\n") + "\n").unwrap();
    for command in ["show", "verify"] {
        let run = Cli::new().run([
            "audit",
            command,
            first.to_str().unwrap(),
            second.to_str().unwrap(),
        ]);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(
            run.stderr.contains("second`: line 3: it was edited"),
            "{run:?}"
        );
    }
}

/// A file may have any length; a line is read as far as a log can have one.
#[test]
fn a_line_that_no_log_has_is_not_read_to_its_end() {
    let fixture = Fixture::new();
    let (log, _) = story(&fixture);
    let whole = fs::metadata(&log).unwrap().len();
    let lines = lines_of(&log).len();
    let file = fs::OpenOptions::new().write(true).open(&log).unwrap();
    // More than the memory of any machine; a hole takes no room on the disk.
    file.set_len(1 << 42).unwrap();
    for option in ["--json", "--summary", "--denied"] {
        let run = show(&log, &[option]);
        let told = format!("line {}: it is longer than the lines of a log", lines + 1);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains(&told), "{run:?}");
    }
    let key = ["audit", "verify", log.to_str().unwrap(), "--public-key"];
    let run = Cli::new().run(key.into_iter().chain([log.to_str().unwrap()]));
    assert_eq!(run.status, Some(2), "{run:?}");
    // The control: what stands before is shown.
    file.set_len(whole).unwrap();
    assert_eq!(show(&log, &["--json"]).stdout.lines().count(), lines);
}

/// What a call made and took back was not written in the end.
#[test]
fn a_dry_run_is_told_from_what_was_done() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().write_root(fixture.workspace());
    let session = builder.audit_file(&log).build().unwrap();
    let dry = CallOptions {
        dry_run: true,
        ..CallOptions::default()
    };
    let write = |path: &str| json!({ "path": path, "content": "x" });
    session.call("write_file", write("there/a")).unwrap();
    for path in ["new/b", "there/deep/b"] {
        session
            .call_with("write_file", write(path), dry.clone())
            .unwrap();
    }
    drop(session);
    let written = &show(&log, &["--summary", "--json"]).json()["sessions"][0]["written"];
    assert_eq!(
        written,
        &json!({ "workspace:there": 1, "workspace:there/a": 1 })
    );
    let calls = show(&log, &["--json"])
        .stdout
        .matches("\"kind\":\"call\"")
        .count();
    let table = show(&log, &[]).stdout;
    let dry = table.lines().filter(|row| row.contains("dry run")).count();
    assert_eq!((calls, dry), (3, 2), "{table}");
}

/// Everything that a stranger can choose, and that a terminal would act on.
#[test]
fn nothing_in_a_log_draws_on_the_screen() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit_file(&log).build().unwrap();
    let hostile = "\u{1b}[31m\u{202e}\u{200b}\r\n\t\u{7f}\u{9b}\u{ad}\u{e0041}{\"kind\":1}";
    session
        .call("read_file", json!({ "path": hostile }))
        .unwrap_err();
    session.call(hostile, json!({})).unwrap_err();
    drop(session);
    let deceives = |c: char| c.is_control() || "\u{202e}\u{200b}\u{ad}\u{e0041}".contains(c);
    // The control: the log itself holds some of it.
    assert!(fs::read_to_string(&log).unwrap().contains('\u{202e}'));
    for further in [
        &[][..],
        &["--json"],
        &["--summary"],
        &["--summary", "--json"],
    ] {
        let run = show(&log, further);
        assert_eq!(run.status, Some(0), "{run:?}");
        let mut lines = run.stdout.lines();
        if further != ["--summary", "--json"] {
            assert!(!lines.any(|line| line.contains(deceives)), "{run:?}");
        }
        assert!(run.stdout.contains("[31m"), "{run:?}");
    }
    let as_json = show(&log, &["--json"]);
    let shown = as_json
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let entries: Vec<Value> = lines_of(&log)
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(shown.collect::<Vec<Value>>(), entries);
}

#[test]
fn a_live_log_is_followed() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit_file(&log).build().unwrap();
    let cli = Cli::new();
    let mut command = cli.command(["audit", "show", "--follow", "--json"]);
    let mut child = command.arg(&log).stdout(Stdio::piped()).spawn().unwrap();
    let (sender, lines) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let lines = stdout.lines().map_while(Result::ok);
        lines.for_each(|line| sender.send(line).unwrap());
    });
    let next = || lines.recv_timeout(PATIENCE).unwrap();
    assert!(next().contains("\"kind\":\"genesis\""));
    for _ in 0..2 {
        session.call("list_files", "{}").unwrap();
        assert!(next().contains("\"kind\":\"access\""));
        assert!(next().contains("\"kind\":\"call\""));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
}

#[test]
fn the_head_is_what_verify_finds_and_takes() {
    let fixture = Fixture::new();
    let (log, _) = story(&fixture);
    let cli = Cli::new();
    let name = log.to_str().unwrap();
    let run = cli.run(["audit", "head", name]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let head = run.stdout.trim_end().to_owned();
    let verified = cli
        .run(["audit", "verify", name, "--head", &head])
        .success();
    assert_eq!(verified["head"], head);
    let text = fs::read_to_string(&log).unwrap();
    let shorter = text.trim_end().rsplit_once('\n').unwrap().0;
    fs::write(&log, format!("{shorter}\n")).unwrap();
    let run = cli.run(["audit", "verify", name, "--head", &head]);
    assert_eq!(run.status, Some(1), "{run:?}");
    for (cut, line) in [
        (&text[..text.len() - 1], text.lines().count()),
        (&text[..9], 1),
    ] {
        fs::write(&log, cut).unwrap();
        for command in ["head", "verify"] {
            let run = cli.run(["audit", command, name]);
            assert_eq!((run.status, &*run.stdout), (Some(1), ""), "{run:?}");
            let told = format!("line {line}: it is cut off");
            let no_genesis = "line 1: the log does not begin with a genesis";
            assert!(
                run.stderr.contains(&told) || run.stderr.contains(no_genesis),
                "{run:?}"
            );
        }
    }
    fs::write(&log, "").unwrap();
    assert_eq!(cli.run(["audit", "head", name]).status, Some(1));
    fs::remove_file(&log).unwrap();
    assert_eq!(cli.run(["audit", "head", name]).status, Some(2));
}

/// Nothing but a regular file is a log, and a pipe is not waited for.
#[test]
fn what_is_no_file_is_said_and_not_waited_for() {
    let fixture = Fixture::new();
    let outside = fixture.outside();
    crate::support::pipe(&outside.join("pipe"));
    for what in [
        outside.join("pipe"),
        outside.clone(),
        outside.join("missing"),
        PathBuf::from("/dev/zero"),
        PathBuf::from("/dev/null"),
    ] {
        for command in ["verify", "show", "head"] {
            let arguments = ["audit".as_ref(), command.as_ref(), what.as_os_str()];
            let run = Cli::new().run(arguments);
            assert_eq!(run.status, Some(2), "{run:?}");
            assert!(run.stderr.starts_with("error: `"), "{run:?}");
        }
    }
}

#[test]
fn a_log_without_entries_is_told_from_a_damaged_one() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    fs::write(&log, "").unwrap();
    for command in ["verify", "show", "head"] {
        let arguments = ["audit".as_ref(), command.as_ref(), log.as_os_str()];
        let run = Cli::new().run(arguments);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains("it has no entries"), "{run:?}");
    }
}

#[test]
fn a_log_that_is_named_twice_is_no_log_of_a_killed_process() {
    let fixture = Fixture::new();
    let (log, _) = story(&fixture);
    let name = log.to_str().unwrap();
    let run = Cli::new().run(["audit", "verify", name, name]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("is named twice"), "{run:?}");
    assert!(!run.stderr.contains("killed"), "{run:?}");
}

/// A log that is not kept as a file, compressed for one.
#[test]
fn the_standard_input_is_verified_as_well() {
    let fixture = Fixture::new();
    let (log, _) = story(&fixture);
    let bytes = fs::read(&log).unwrap();
    let verified = |bytes: &[u8]| {
        let mut command = Cli::new().command(["audit", "verify", "-"]);
        Run::with_input(&mut command, bytes)
    };
    assert_eq!(verified(&bytes).success()["entries"], lines_of(&log).len());
    assert_eq!(verified(&bytes[..bytes.len() - 1]).status, Some(1));
}

/// Also when several files were put aside since the reader last looked.
#[test]
fn a_live_log_is_followed_over_files_that_are_put_aside() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let builder = Session::builder()
        .read_root(fixture.inputs())
        .audit_file(&log)
        .audit_rotation(Rotation {
            max_bytes: Some(1),
            max_age: None,
        });
    let session = builder.build().unwrap();
    let cli = Cli::new();
    let mut command = cli.command(["audit", "show", "--follow", "--json"]);
    command
        .arg(&log)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (sender, lines) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let lines = stdout.lines().map_while(Result::ok);
        lines.for_each(|line| drop(sender.send(line)));
    });
    assert!(lines.recv_timeout(PATIENCE).unwrap().contains("\"seq\":0,"));
    for _ in 0..10 {
        session.call("list_files", "{}").unwrap();
    }
    // The first genesis, and of each call the genesis of its file and two entries.
    for number in 1..=30 {
        let line = lines.recv_timeout(PATIENCE).unwrap();
        assert!(
            line.contains(&format!("\"seq\":{number},")),
            "{number}: {line}"
        );
    }
    child.kill().unwrap();
    let ended = child.wait_with_output().unwrap();
    reader.join().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

/// Of places it counts each once, but a refusal that comes again is another attempt.
#[test]
fn every_refusal_counts() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit_file(&log).build().unwrap();
    for _ in 0..3 {
        let arguments = json!({ "path": "../secret" });
        session.call("read_file", arguments).unwrap_err();
    }
    let run = show(&log, &[]);
    assert!(run.stdout.ends_with(" 3 refused\n"), "{run:?}");
}
