//! Many writers of one file: in every round exactly one wins, and nothing is lost.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Barrier;
use std::thread;

use rootbound::{AuditLog, CallError, Consent, Durability, Session};
use serde_json::{Value, json};

use crate::support::cli::{Cli, Run};
use crate::support::{Fixture, STATE};

/// How many write at the same time, and how often.
const CROWDS: [(usize, usize); 3] = [(2, 20), (8, 10), (64, 3)];

fn session(fixture: &Fixture) -> Session {
    Session::builder()
        .work_root(fixture.workspace())
        .overwrite(Consent::Allow)
        .durability(Durability::Fast)
        .audit(AuditLog::none())
        .state_directory(STATE)
        .build()
        .unwrap()
}

fn version(session: &Session) -> String {
    let output = session
        .call("file_exists", json!({"path": "a.txt"}))
        .unwrap();
    output.fields()["version"].as_str().unwrap().to_owned()
}

fn write(content: &str, version: &str) -> Value {
    json!({"path": "a.txt", "content": content, "expected_version": version})
}

/// All write at once, each in its own words; the winner's words must stand there.
fn race(fixture: &Fixture, sessions: &[Session]) {
    let seen = version(&sessions[0]);
    let start = Barrier::new(sessions.len());
    let attempt = |writer: usize| {
        let content = format!("writer {writer}");
        start.wait();
        sessions[writer]
            .call("write_file", write(&content, &seen))
            .map(|_| content)
    };
    let answers: Vec<Result<String, CallError>> = thread::scope(|scope| {
        let attempt = &attempt;
        let writers: Vec<_> = (0..sessions.len())
            .map(|writer| scope.spawn(move || attempt(writer)))
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    let winners: Vec<&String> = answers.iter().flatten().collect();
    let [winner] = winners[..] else {
        panic!("{} of {} won", winners.len(), sessions.len());
    };
    assert_eq!(&fixture.workspace_text("a.txt"), winner);
    for loser in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        assert_eq!(loser.code(), "conflict", "{loser:?}");
    }
}

#[test]
fn of_many_threads_in_one_session_one_wins_each_round() {
    for (writers, rounds) in CROWDS {
        let fixture = Fixture::new();
        fixture.work("a.txt", "old");
        let session = session(&fixture);
        let clones: Vec<Session> = (0..writers).map(|_| session.clone()).collect();
        (0..rounds).for_each(|_| race(&fixture, &clones));
    }
}

#[test]
fn of_many_sessions_in_one_process_one_wins_each_round() {
    for (writers, rounds) in CROWDS {
        let fixture = Fixture::new();
        fixture.work("a.txt", "old");
        let sessions: Vec<Session> = (0..writers).map(|_| session(&fixture)).collect();
        (0..rounds).for_each(|_| race(&fixture, &sessions));
    }
}

#[test]
fn of_many_processes_one_wins_each_round() {
    for (writers, rounds) in [(2, 5), (8, 2), (64, 1)] {
        let fixture = Fixture::new();
        fixture.work("a.txt", "old");
        let cli = Cli::new();
        let looker = session(&fixture);
        for _ in 0..rounds {
            race_processes(&fixture, &cli, &version(&looker), writers);
        }
    }
}

fn race_processes(fixture: &Fixture, cli: &Cli, seen: &str, writers: usize) {
    let start = |writer: usize| {
        let arguments = write(&format!("writer {writer}"), seen).to_string();
        cli.command([
            "call",
            "write_file",
            &arguments,
            "--overwrite",
            "allow",
            "--work",
        ])
        .arg(fixture.workspace())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
    };
    let running: Vec<_> = (0..writers).map(start).collect();
    let mut winners = Vec::new();
    for (writer, process) in running.into_iter().enumerate() {
        let run = Run::from(process.wait_with_output().unwrap());
        match run.status {
            Some(0) => winners.push(format!("writer {writer}")),
            _ => assert_eq!(run.refusal()["code"], "conflict"),
        }
    }
    assert_eq!(winners, [fixture.workspace_text("a.txt")]);
}

/// Reads, adds a line and writes, until the file was still what it had read.
fn append_line(session: &Session, line: &str) {
    loop {
        let read = session.call("read_file", json!({"path": "a.txt"})).unwrap();
        let seen = read.fields()["version"].as_str().unwrap().to_owned();
        let content = format!("{}{line}\n", read.text().unwrap());
        match session.call("write_file", write(&content, &seen)) {
            Ok(_) => return,
            Err(error) => assert_eq!(error.code(), "conflict", "{error:?}"),
        }
    }
}

#[test]
fn no_line_is_lost_of_those_that_many_writers_add() {
    const WRITERS: usize = 8;
    const LINES: usize = 10;
    let fixture = Fixture::new();
    fixture.work("a.txt", "");
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let session = session(&fixture);
            scope.spawn(move || {
                (0..LINES).for_each(|line| append_line(&session, &format!("{writer} {line}")));
            });
        }
    });
    let text = fixture.workspace_text("a.txt");
    let lines: BTreeSet<&str> = text.lines().collect();
    assert_eq!(text.lines().count(), WRITERS * LINES);
    assert_eq!(lines.len(), WRITERS * LINES);
}

/// The control: whoever says nothing about what it has seen writes over the others.
#[test]
fn without_an_expectation_lines_are_lost() {
    const WRITERS: usize = 8;
    let fixture = Fixture::new();
    fixture.work("a.txt", "");
    let sessions: Vec<Session> = (0..WRITERS).map(|_| session(&fixture)).collect();
    let start = Barrier::new(WRITERS);
    thread::scope(|scope| {
        for (writer, session) in sessions.iter().enumerate() {
            let start = &start;
            scope.spawn(move || {
                let read = session.call("read_file", json!({"path": "a.txt"})).unwrap();
                let content = format!("{}{writer}\n", read.text().unwrap());
                start.wait();
                let write = json!({"path": "a.txt", "content": content});
                // Someone may replace the file between this writer's open and its commit.
                let _ = session.call("write_file", write);
            });
        }
    });
    assert_eq!(fixture.workspace_text("a.txt").lines().count(), 1);
}

#[test]
fn of_many_that_create_one_file_one_wins() {
    const WRITERS: usize = 16;
    for round in 0..5 {
        let fixture = Fixture::new();
        let session = session(&fixture);
        let start = Barrier::new(WRITERS);
        let create = |writer: usize| {
            let content = format!("round {round}, writer {writer}");
            let arguments = json!({"file_path": "deep/er/a.txt", "content": content});
            start.wait();
            session.call("create_file", arguments).map(|_| content)
        };
        let answers: Vec<Result<String, CallError>> = thread::scope(|scope| {
            let create = &create;
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| scope.spawn(move || create(writer)))
                .collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .collect()
        });
        let winners: Vec<&String> = answers.iter().flatten().collect();
        assert_eq!(winners, [&fixture.workspace_text("deep/er/a.txt")]);
    }
}
