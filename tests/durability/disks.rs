//! Disks that are full, and limits on the size of files.

use std::fs;
use std::path::Path;
use std::process::Command;

use rootbound::Session;
use serde_json::json;

use super::strace::{Fault, trace};
use crate::support::cli::{Cli, PROGRAM, Run};
use crate::support::mounts::Mount;
use crate::support::tree::{names, tree};
use crate::support::{Fixture, STATE};

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
    // With less than the second limit the component's memory cannot be set up either.
    for limit in [256 * KIB, 16 * KIB] {
        for path in ["old", "new", "a/b/new"] {
            let (fixture, cli) = (Fixture::new(), Cli::new());
            fixture.work("old", "the old content");
            let before = tree(&fixture.workspace());
            let arguments = ["call", "write_file", "-", "--overwrite", "allow"];
            let mut command = limited(&cli, limit, &arguments);
            command.arg("--write").arg(fixture.workspace());
            let run = Run::with_input(&mut command, write(path, 300 * KIB).as_bytes());
            assert_eq!(run.refusal()["code"], "no-space", "{path} {limit}");
            assert_eq!(tree(&fixture.workspace()), before, "{path} {limit}");
        }
    }
}

/// A log that is larger than what else the program writes: the image of the component's memory
/// is a file to the system as well.
fn long_log(fixture: &Fixture, log: &Path) {
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.state_directory(STATE).audit_file(log).build();
    let session = session.unwrap();
    while fs::metadata(log).unwrap().len() < 2048 * KIB as u64 {
        let _ = session.call("read_file", json!({ "path": "x".repeat(4000) }));
    }
}

/// Whichever of its lines is the one that does not fit any more.
#[test]
fn a_log_over_the_systems_limit_stops_what_it_cannot_hold_and_stays_whole() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.base().join("audit.jsonl");
    long_log(&fixture, &log);
    let before = fs::read(&log).unwrap();
    let call = |beyond: usize| {
        let file = fixture.work("old", "the old content");
        fs::write(&log, &before).unwrap();
        let content = write("old", 10);
        let arguments = ["call", "write_file", &content, "--overwrite", "allow"];
        let mut command = limited(&cli, before.len() + beyond, &arguments);
        command.arg("--write").arg(fixture.workspace());
        let run = Run::of(command.arg("--audit").arg(&log));
        let written = fs::read_to_string(file).unwrap() == "x".repeat(10);
        let verified = cli.run(["audit".as_ref(), "verify".as_ref(), log.as_os_str()]);
        assert_eq!(verified.status, Some(0), "{verified:?}");
        (run, written)
    };
    let (run, written) = call(64 * KIB);
    run.success();
    assert!(written);
    let needed = fs::metadata(&log).unwrap().len() as usize - before.len();
    let (mut refused, mut told) = (0, 0);
    for beyond in (0..needed).step_by(needed / 16) {
        let (run, written) = call(beyond);
        let error = run.refusal();
        assert_eq!(error["code"], "audit-unavailable", "{run:?}");
        // The change is made only with its intent in the log, and then it is told.
        assert_eq!(error["committed"].is_array(), written, "{run:?}");
        refused += usize::from(!written);
        told += usize::from(written);
    }
    assert!(refused > 0 && told > 0, "{refused}, {told}");
}

/// What stands of a line that did not fit is cut off before anything else is written.
#[test]
fn half_a_line_that_could_not_be_cut_off_at_once_is_cut_off_later() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.base().join("audit.jsonl");
    long_log(&fixture, &log);
    let before = fs::read(&log).unwrap().len();
    fs::create_dir(fixture.workspace().join(".git")).unwrap();
    fixture.work("old", "the old content");
    let content = write("old", 10);
    let call = |limit: usize, fault: Option<&Fault>| {
        let arguments = ["call", "write_file", &content, "--overwrite", "allow"];
        let mut command = limited(&cli, limit, &arguments);
        command
            .arg("--no-landlock")
            .arg("--write")
            .arg(fixture.workspace());
        command.arg("--audit").arg(&log);
        trace(command, &log, fault).run
    };
    call(8 << 20, None).success();
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text[before..].lines().collect();
    let (genesis, intent) = (lines[0].len() + 1, lines[1].len());
    let written = fs::read(&log).unwrap().len();
    let once = Fault::at("ftruncate", "error=EIO", "1");
    let error = call(written + genesis + intent / 2, Some(&once)).refusal();
    assert_eq!(error["code"], "audit-unavailable");
    let verified = cli.run(["audit".as_ref(), "verify".as_ref(), log.as_os_str()]);
    assert_eq!(verified.status, Some(0), "{verified:?}");
    assert_eq!(fs::read(&log).unwrap().len(), written + genesis);
}

#[test]
fn what_cannot_be_noted_for_the_next_start_is_not_made() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.work("old", "the old content");
    let disk = Mount::memory("64k", cli.state());
    // As much as there is room for, and then nothing more.
    let _ = fs::write(disk.path().join("filler"), vec![0; 128 * KIB]);
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
