//! When what was written to the log is on the disk.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rootbound::{AuditLog, AuditSink, Durability, Session};
use serde_json::{Value, json};

use super::{initialize, lines_of, tool_call};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

/// Much longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is promised, and something for a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(5);

/// A server under `strace`, and the system calls on its log, each with its time.
struct Server {
    strace: Child,
    calls: Receiver<String>,
}

impl Server {
    fn start(fixture: &Fixture, log: &Path, further: &[&str]) -> Self {
        let cli = Cli::new();
        let program = cli.command(["mcp", "--no-landlock"]);
        let mut strace = Command::new("strace");
        strace.args(["-f", "-ttt", "-e", "trace=write,fdatasync", "-P"]);
        strace.arg(log).args(["-o", "/dev/stderr"]);
        strace.arg(program.get_program()).args(program.get_args());
        strace.arg("--read").arg(fixture.inputs());
        strace.arg("--audit").arg(log).args(further);
        strace.env("XDG_STATE_HOME", fixture.outside());
        strace
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut strace = strace.spawn().unwrap();
        let (sender, calls) = mpsc::channel();
        let stderr = BufReader::new(strace.stderr.take().unwrap());
        std::thread::spawn(move || {
            let lines = stderr.lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        Self { strace, calls }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.strace.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Waits for a system call, and says how long that took.
    fn wait_for(&self, name: &str) -> Duration {
        let began = Instant::now();
        loop {
            let line = self.calls.recv_timeout(PATIENCE).unwrap();
            if line.contains(&format!("{name}(")) || line.contains(&format!("{name} resumed")) {
                return began.elapsed();
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.strace.stdin.take());
        let _ = self.strace.wait();
    }
}

/// Also what a server writes first, and what it writes last before it idles.
#[test]
fn entries_are_synced_soon_after_they_were_written_though_nothing_follows() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let mut server = Server::start(&fixture, &log, &[]);
    server.wait_for("write");
    assert!(server.wait_for("fdatasync") < SOON);
    server.say(&initialize());
    for id in 2..4 {
        server.say(&tool_call(id, "list_files", json!({}), json!({})));
        server.wait_for("write");
        assert!(server.wait_for("fdatasync") < SOON);
    }
}

/// Of a call's entries, each is synced before the next is written.
#[test]
fn with_full_durability_each_entry_is_synced_before_the_call_goes_on() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let mut server = Server::start(&fixture, &log, &["--audit-durability", "full"]);
    server.say(&initialize());
    server.say(&tool_call(2, "list_files", json!({}), json!({})));
    let mut order = Vec::new();
    while order.len() < 4 {
        let line = server.calls.recv_timeout(PATIENCE).unwrap();
        for name in ["write", "fdatasync"] {
            if line.contains(&format!("{name}(")) {
                order.push(name);
            }
        }
    }
    assert_eq!(order, ["write", "fdatasync", "write", "fdatasync"]);
    assert_eq!(lines_of(&log).len(), 3);
}

/// Nobody knows what a disk holds that could not be synced.
#[test]
fn a_log_that_could_not_be_synced_takes_nothing_more() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.outside().join("audit.jsonl");
    let program = cli.command(["call", "write_file", r#"{"path": "t", "content": "x"}"#]);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "-e", "trace=fdatasync"]);
    strace
        .args(["-e", "inject=fdatasync:error=EIO", "-P"])
        .arg(&log);
    strace.arg(program.get_program()).args(program.get_args());
    strace.arg("--write").arg(fixture.workspace());
    strace.arg("--audit").arg(&log);
    strace.args(["--audit-durability", "full", "--no-landlock"]);
    let run = Run::of(strace.env("XDG_STATE_HOME", cli.state()));
    assert_eq!(run.refusal()["code"], "audit-unavailable", "{run:?}");
    assert!(!fixture.workspace().join("t").exists());
}

/// A sink that counts how often it was synced.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<(usize, usize)>>);

impl AuditSink for Counting {
    fn append(&self, lines: &str) -> std::io::Result<()> {
        self.0.lock().unwrap().0 += lines.lines().count();
        Ok(())
    }

    fn sync(&self) -> std::io::Result<()> {
        self.0.lock().unwrap().1 += 1;
        Ok(())
    }
}

#[test]
fn a_sink_is_synced_at_each_entry_or_at_the_end() {
    for (durability, each) in [(Durability::Full, true), (Durability::Fast, false)] {
        let sink = Counting::default();
        let log = AuditLog::sink(sink.clone()).durability(durability);
        let session = Session::builder().audit(log).build().unwrap();
        session.call("list_files", "{}").unwrap_err();
        let (lines, syncs) = *sink.0.lock().unwrap();
        assert_eq!((lines, syncs), (3, if each { 3 } else { 0 }));
        session.close().unwrap();
        assert_eq!(sink.0.lock().unwrap().1, syncs + 1);
    }
}

#[test]
fn the_first_entry_says_how_the_log_is_kept() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    for (further, expected) in [
        (
            &[][..],
            json!({ "arguments": "digest", "durability": "fast" }),
        ),
        (
            &["--audit-durability", "full", "--audit-arguments", "full"],
            json!({ "arguments": "full", "durability": "full" }),
        ),
    ] {
        let log = fixture.outside().join(format!("{}.jsonl", further.len()));
        let mut command = cli.command(["call", "list_files", "{}"]);
        command.arg("--read").arg(fixture.inputs());
        Run::of(command.arg("--audit").arg(&log).args(further)).success();
        let first: Value = serde_json::from_str(&lines_of(&log)[0]).unwrap();
        assert_eq!(first["audit"], expected);
    }
    drop(fs::remove_dir_all(fixture.outside()));
}
