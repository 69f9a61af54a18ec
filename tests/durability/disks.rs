//! Disks that are full, and limits on the size of files.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::support::Fixture;
use crate::support::cli::{Cli, PROGRAM, Run};
use crate::support::mounts::Mount;
use crate::support::tree::{names, tree};

const KIB: usize = 1024;

fn write(path: &str, length: usize) -> String {
    json!({ "path": path, "content": "x".repeat(length) }).to_string()
}

#[test]
fn on_a_full_disk_the_old_content_stays() {
    for durability in ["full", "fast"] {
        let (fixture, cli) = (Fixture::new(), Cli::new());
        let disk = Mount::memory("128k", &fixture.workspace());
        fixture.work("old", "x".repeat(60 * KIB));
        let before = tree(disk.path());
        for path in ["old", "new", "a/b/new"] {
            let mut command = cli.command(["call", "write_file", &write(path, 100 * KIB)]);
            command.args(["--overwrite", "allow", "--durability", durability]);
            command.arg("--write").arg(disk.path());
            let error = Run::of(&mut command).refusal();
            assert_eq!(error["code"], "no-space", "{path} {durability}");
            assert_eq!(tree(disk.path()), before, "{path} {durability}");
        }
        // What failed is given back.
        let mut command = cli.command(["call", "write_file", &write("old", 40 * KIB)]);
        command.args(["--overwrite", "allow", "--durability", durability]);
        Run::of(command.arg("--write").arg(disk.path())).success();
    }
}

/// The program with a limit on the size of files that it writes.
fn limited(cli: &Cli, bytes: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(format!("--fsize={bytes}")).arg(PROGRAM);
    command.args(arguments).env("XDG_STATE_HOME", cli.state());
    command
}

#[test]
fn a_file_over_the_systems_limit_keeps_its_old_content() {
    for path in ["old", "new", "a/b/new"] {
        let (fixture, cli) = (Fixture::new(), Cli::new());
        fixture.work("old", "the old content");
        let before = tree(&fixture.workspace());
        let content = write(path, 100 * KIB);
        let arguments = ["call", "write_file", &content, "--overwrite", "allow"];
        let mut command = limited(&cli, 64 * KIB, &arguments);
        let run = Run::of(command.arg("--write").arg(fixture.workspace()));
        assert_eq!(run.refusal()["code"], "no-space", "{path}");
        assert_eq!(tree(&fixture.workspace()), before, "{path}");
    }
}

/// Whichever of its lines is the one that does not fit any more.
#[test]
fn a_log_over_the_systems_limit_stops_what_it_cannot_hold_and_stays_whole() {
    let room = |beyond: usize| {
        let (fixture, cli) = (Fixture::new(), Cli::new());
        let log = fixture.base().join("audit.jsonl");
        fixture.work("old", "the old content");
        let call = |limit: usize| {
            let content = write("old", 10);
            let arguments = ["call", "write_file", &content, "--overwrite", "allow"];
            let mut command = limited(&cli, limit, &arguments);
            command.arg("--write").arg(fixture.workspace());
            Run::of(command.arg("--audit").arg(&log))
        };
        call(1 << 20).success();
        let first = fixture.work("old", "the old content");
        let size = fs::metadata(&log).unwrap().len() as usize;
        let run = call(size + beyond);
        let written = fs::read_to_string(first).unwrap() == "x".repeat(10);
        let verified = cli.run(["audit".as_ref(), "verify".as_ref(), log.as_os_str()]);
        assert_eq!(verified.status, Some(0), "{verified:?}");
        (run, written, size)
    };
    let (run, written, size) = room(1 << 20);
    run.success();
    assert!(written);
    let (mut refused, mut told) = (0, 0);
    for beyond in (0..size).step_by(size / 16) {
        let (run, written, _) = room(beyond);
        if run.status == Some(0) {
            assert!(written);
            continue;
        }
        let error = run.refusal();
        assert_eq!(error["code"], "audit-unavailable", "{run:?}");
        // The change is made only with its intent in the log, and then it is told.
        assert_eq!(error["committed"].is_array(), written, "{run:?}");
        refused += usize::from(!written);
        told += usize::from(written);
    }
    assert!(refused > 0 && told > 0, "{refused}, {told}");
}

#[test]
fn what_cannot_be_noted_for_the_next_start_is_not_made() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.work("old", "the old content");
    let disk = Mount::memory("64k", cli.state());
    let mut length = 64 * KIB;
    while length > 0 {
        let filler = disk.path().join(length.to_string());
        if fs::write(filler, vec![0; length]).is_err() {
            length /= 2;
        }
    }
    let before = tree(&fixture.workspace());
    for (tool, arguments) in [
        ("write_file", write("old", 10)),
        ("write_file", write("made/new", 10)),
        (
            "create_directory",
            json!({ "dir_path": "made" }).to_string(),
        ),
    ] {
        let mut command = cli.command(["call", tool, &arguments, "--overwrite", "allow"]);
        command.args(["--audit", "none", "--no-landlock", "--write"]);
        let error = Run::of(command.arg(fixture.workspace())).refusal();
        assert_eq!(error["code"], "no-space", "{tool} {arguments}");
        assert_eq!(tree(&fixture.workspace()), before, "{tool} {arguments}");
    }
}

/// Whoever gives the program no place for its state gets no clearing, and all the rest.
#[test]
fn a_state_directory_that_may_not_be_written_is_as_none() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.work("old", "the old content");
    let disk = Mount::memory("64k", cli.state());
    disk.make_read_only();
    for arguments in [write("old", 10), write("made/new", 10)] {
        let mut command = cli.command(["call", "write_file", &arguments]);
        command.args(["--overwrite", "allow", "--audit", "none", "--write"]);
        Run::of(command.arg(fixture.workspace())).success();
    }
    assert_eq!(names(&fixture.workspace()), ["made", "made/new", "old"]);
}
