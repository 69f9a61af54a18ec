//! Logs that cannot be opened, or cannot be written any more.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rootbound::{ApprovalRequest, AuditLog, Consent, Decision, Session};
use serde_json::{Value, json};

use super::{initialize, lines_of, tool_call, verify};
use crate::durability::strace::{Fault, trace};
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
        let error = run.json()["error"].clone();
        assert!(
            error["message"].to_string().contains("line "),
            "{damage}: {error}"
        );
        assert!(
            error["hint"].to_string().contains("audit verify"),
            "{damage}: {error}"
        );
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

/// An entry behind half a line, or behind a line of somebody else, would break the chain.
#[test]
fn a_log_that_another_program_cut_off_or_wrote_to_takes_nothing_more() {
    for cut_off in [true, false] {
        let fixture = Fixture::new();
        let log = fixture.outside().join("audit.jsonl");
        let builder = Session::builder().write_root(fixture.workspace());
        let session = builder.audit_file(&log).build().unwrap();
        let write =
            |path: &str| session.call("write_file", json!({ "path": path, "content": "x" }));
        // The control.
        write("before").unwrap();
        let whole = fs::read(&log).unwrap();
        let damaged = match cut_off {
            true => whole[..10].to_vec(),
            false => [&whole[..], b"{}\n"].concat(),
        };
        fs::write(&log, &damaged).unwrap();
        assert_eq!(write("t").unwrap_err().code(), "audit-unavailable");
        assert_eq!(names(&fixture.workspace()), ["before"]);
        assert_eq!(fs::read(&log).unwrap(), damaged);
    }
}

/// What an investigator finds under the log's name must be the log.
#[test]
fn a_log_whose_name_another_file_has_takes_nothing_more() {
    for moves_back in [false, true] {
        let fixture = Fixture::new();
        fixture.work("old", "old");
        let (log, aside) = (
            fixture.outside().join("log"),
            fixture.outside().join("aside"),
        );
        let builder = Session::builder().write_root(fixture.workspace());
        let session = builder
            .delete(Consent::Allow)
            .audit_file(&log)
            .build()
            .unwrap();
        fs::rename(&log, &aside).unwrap();
        fs::copy(&aside, &log).unwrap();
        for (tool, arguments) in [
            ("write_file", json!({ "path": "t", "content": "x" })),
            ("create_directory", json!({ "dir_path": "d" })),
            ("delete_file", json!({ "path": "old" })),
            ("file_exists", json!({ "path": "old" })),
        ] {
            let error = session.call(tool, arguments).unwrap_err();
            assert_eq!(error.code(), "audit-unavailable", "{tool}: {error}");
        }
        assert_eq!(names(&fixture.workspace()), ["old"]);
        assert_eq!(lines_of(&aside).len(), 1);
        // The control: the log itself takes them again.
        if moves_back {
            fs::rename(&aside, &log).unwrap();
            session
                .call("delete_file", json!({ "path": "old" }))
                .unwrap();
            verify(&lines_of(&log));
        }
    }
}

/// A directory above the log is a part of its name.
#[test]
fn a_log_whose_directory_has_another_name_takes_nothing_more() {
    for is_replaced in [false, true] {
        let fixture = Fixture::new();
        let (logs, aside) = (
            fixture.outside().join("logs"),
            fixture.outside().join("aside"),
        );
        fs::create_dir(&logs).unwrap();
        let log = logs.join("audit.jsonl");
        let builder = Session::builder().write_root(fixture.workspace());
        let session = builder.audit_file(&log).build().unwrap();
        let write =
            |path: &str| session.call("write_file", json!({ "path": path, "content": "x" }));
        write("before").unwrap();
        fs::rename(&logs, &aside).unwrap();
        if is_replaced {
            fs::create_dir(&logs).unwrap();
            fs::copy(aside.join("audit.jsonl"), &log).unwrap();
        }
        assert_eq!(write("t").unwrap_err().code(), "audit-unavailable");
        assert_eq!(names(&fixture.workspace()), ["before"]);
    }
}

/// Whatever the system says of a write to the log, at the first entry of the call and at each
/// later one up to the intent.
#[test]
fn an_entry_that_cannot_be_written_is_a_change_that_is_not_made() {
    let write = json!({ "path": "made/t", "content": "x" }).to_string();
    for errno in ["ENOSPC", "EROFS", "EIO", "EDQUOT", "EFBIG"] {
        for when in ["1+", "3+"] {
            let (fixture, cli) = (Fixture::new(), Cli::new());
            fs::create_dir(fixture.workspace().join(".git")).unwrap();
            let log = fixture.outside().join("audit.jsonl");
            let mut command = cli.command(["call", "write_file", &write, "--no-landlock"]);
            command.arg("--work").arg(fixture.workspace());
            command.arg("--audit").arg(&log);
            let fault = Fault::at("write", &format!("error={errno}"), when);
            let traced = trace(command, &log, Some(&fault));
            assert!(traced.struck, "{errno} {when}");
            let error = traced.run.refusal();
            assert_eq!(error["code"], "audit-unavailable", "{errno} {when}");
            assert_eq!(names(&fixture.workspace()), [".git"], "{errno} {when}");
            verify(&lines_of(&log));
        }
    }
}

#[test]
fn on_a_disk_that_takes_nothing_no_session_starts() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let disk = Mount::memory("64k", &fixture.outside());
    let log = disk.path().join("audit.jsonl");
    fs::write(&log, "").unwrap();
    disk.make_read_only();
    for log in [log, disk.path().join("new.jsonl")] {
        let run = Run::of(&mut write_with_log(&cli, &fixture, &log));
        assert_unavailable(&run, &fixture);
    }
    disk.make_writable();
    fs::write(disk.path().join("filler"), vec![0; 1 << 20]).unwrap_err();
    let run = Run::of(&mut write_with_log(
        &cli,
        &fixture,
        &disk.path().join("audit.jsonl"),
    ));
    assert_unavailable(&run, &fixture);
}

/// Whoever chose the text that makes it so: here an approver, with its own name.
#[test]
fn a_line_that_would_be_too_long_is_not_written_nor_what_it_announces_done() {
    for (letters, is_recorded) in [(5 << 20, false), (1 << 20, true)] {
        let fixture = Fixture::new();
        fixture.work("old", "old");
        let log = fixture.outside().join("audit.jsonl");
        let name = "n".repeat(letters);
        let session = Session::builder()
            .write_root(fixture.workspace())
            .approver(move |_: &ApprovalRequest| Decision::approve_once(name.clone()))
            .audit_file(&log)
            .build()
            .unwrap();
        let answer = session.call("delete_file", json!({ "path": "old" }));
        assert_eq!(answer.is_ok(), is_recorded, "{:?}", answer.err());
        if let Err(error) = answer {
            assert_eq!(error.code(), "audit-unavailable", "{error}");
            assert!(error.message().contains("too long"), "{error}");
        }
        assert_eq!(fixture.workspace().join("old").exists(), !is_recorded);
        drop(session);
        verify(&lines_of(&log));
        // And a log that ends in a long line is continued.
        AuditLog::file(&log).unwrap();
    }
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

/// Nobody reads it any more.
#[test]
fn standard_error_that_is_closed_is_no_log() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = write_with_log(&cli, &fixture, Path::new("stderr"));
    let child = command.stdout(Stdio::piped()).stderr(writer).spawn();
    drop(command);
    let run = Run::from(child.unwrap().wait_with_output().unwrap());
    assert_unavailable(&run, &fixture);
}

/// Of a stream that cannot be written to, and of one that keeps nothing, the standard library says
/// that all was written.
#[test]
fn standard_error_that_keeps_nothing_is_no_log() {
    let fixture = Fixture::new();
    for stream in ["2>&-", "2</dev/zero", "2>/dev/null"] {
        let cli = Cli::new();
        let command = write_with_log(&cli, &fixture, Path::new("stderr"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" \"$@\" {stream}")]);
        shell.arg(command.get_program()).args(command.get_args());
        let variables = command.get_envs();
        shell.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        let output = shell.stderr(Stdio::inherit()).output().unwrap();
        assert_unavailable(&Run::from(output), &fixture);
    }
}

/// The server reads its log's reader go away, and goes on refusing.
#[test]
fn standard_error_that_is_closed_later_is_no_log_from_then_on() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let mut command = cli.command(["mcp", "--audit", "stderr"]);
    command.arg("--write").arg(fixture.workspace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(server.stderr.take().unwrap()).lines();
    assert!(stderr.any(|line| line.unwrap().contains("\"kind\":\"genesis\"")));
    drop(stderr);
    let mut stdin = server.stdin.take().unwrap();
    for message in [
        initialize(),
        tool_call(
            2,
            "write_file",
            json!({ "path": "t", "content": "x" }),
            json!({}),
        ),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    drop(stdin);
    let output = server.wait_with_output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    assert!(answers.contains("audit-unavailable"), "{answers}");
    assert_eq!(names(&fixture.workspace()), [""; 0]);
}

/// The operator, not the agent.
#[test]
fn a_log_that_cannot_be_made_is_named_to_the_operator() {
    let fixture = Fixture::new();
    let file = fixture.base().join("nodir/log");
    for command in [&["call", "list_files", "{}"][..], &["check"], &["mcp"]] {
        let cli = crate::support::cli::Cli::new();
        let mut run = cli.command(command);
        run.arg("--read")
            .arg(fixture.inputs())
            .arg("--audit")
            .arg(&file);
        let run = crate::support::cli::Run::of(&mut run);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains("nodir/log"), "{run:?}");
        assert!(!run.stdout.contains("nodir"), "{run:?}");
    }
}

/// Whoever reads the standard error stream may stop, and neither calls nor the end wait for it.
#[test]
fn a_pipe_that_nobody_reads_is_no_log() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let mut command = cli.command(["mcp", "--audit", "stderr"]);
    command.arg("--read").arg(fixture.inputs());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It stays open, and is not read.
    let stderr = child.stderr.take().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(input, "{}", initialize()).unwrap();
    lines.next().unwrap().unwrap();
    let mut refused = false;
    // Some hundreds of bytes each, and a pipe takes 65,536.
    for id in 2..1000 {
        let call = tool_call(id, "list_files", json!({}), json!({}));
        writeln!(input, "{call}").unwrap();
        let answer = lines.next().unwrap().unwrap();
        refused = answer.contains("audit-unavailable");
        if refused {
            break;
        }
    }
    assert!(refused);
    drop(input);
    assert!(child.wait().unwrap().code().is_some());
    drop(stderr);
}
