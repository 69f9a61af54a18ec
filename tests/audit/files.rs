//! Where the log goes, and who may read it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{lines_of, verify};
use crate::support::Fixture;
use crate::support::cli::{Cli, PROGRAM, Run};
use crate::support::tree::names;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn list(cli: &Cli, fixture: &Fixture, further: &[&str]) -> Run {
    let inputs = fixture.inputs();
    let further = [&["--read", inputs.to_str().unwrap()], further].concat();
    cli.call("list_files", &json!({}), further)
}

#[test]
fn each_process_writes_a_file_of_its_own() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    for count in 1..=3 {
        list(&cli, &fixture, &[]).success();
        assert_eq!(cli.audit_files().len(), count);
    }
    for file in cli.audit_files() {
        let entries = verify(&lines_of(&file));
        let kinds: Vec<&Value> = entries.iter().map(|entry| &entry["kind"]).collect();
        assert_eq!(kinds, ["genesis", "access", "call"]);
    }
}

/// Under a mask that takes nothing away, and below directories that are not there yet.
#[test]
fn only_the_user_may_read_a_log() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let state = cli.state().join("not/there/yet");
    let named = fixture.outside().join("audit.jsonl");
    for audit in [None, Some(format!("--audit={}", named.display()))] {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "umask 0; exec \"$@\"",
            "sh",
            PROGRAM,
            "call",
            "list_files",
        ]);
        command.arg("--read").arg(fixture.inputs()).args(audit);
        Run::of(command.env("XDG_STATE_HOME", &state)).success();
    }
    assert_eq!(mode(&named), 0o600);
    for directory in ["", "rootbound", "rootbound/audit"] {
        assert_eq!(mode(&state.join(directory)), 0o700, "{directory:?}");
    }
    for file in fs::read_dir(state.join("rootbound/audit")).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
}

/// The environment, and where below a temporary directory the log is then written.
#[test]
fn the_place_follows_the_xdg_specification() {
    let fixture = Fixture::new();
    let home = fixture.outside();
    let state = fixture.base().join("state");
    let below_home = home.join(".local/state/rootbound/audit");
    let rows: [(Option<&Path>, Option<&Path>, Option<PathBuf>); 5] = [
        (
            Some(&state),
            Some(&home),
            Some(state.join("rootbound/audit")),
        ),
        (None, Some(&home), Some(below_home.clone())),
        (
            Some("relative".as_ref()),
            Some(&home),
            Some(below_home.clone()),
        ),
        (Some("".as_ref()), Some(&home), Some(below_home)),
        (None, None, None),
    ];
    for (xdg, home, expected) in rows {
        let mut command = Command::new(PROGRAM);
        command.args(["call", "list_files", "--read"]);
        command.arg(fixture.inputs()).current_dir(fixture.base());
        for (name, value) in [("XDG_STATE_HOME", xdg), ("HOME", home)] {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let run = Run::of(&mut command);
        match expected {
            Some(directory) => {
                run.success();
                assert_eq!(names(&directory).len(), 1, "{xdg:?} {home:?}");
                fs::remove_dir_all(directory).unwrap();
            }
            None => {
                let error = run.refusal();
                assert_eq!(error["code"], "audit-unavailable");
                assert!(error["message"].to_string().contains("--audit FILE"));
            }
        }
        assert!(!fixture.base().join("relative").exists());
    }
}

#[test]
fn none_leaves_no_log() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let run = list(&cli, &fixture, &["--audit", "none"]);
    run.success();
    assert!(cli.audit_files().is_empty());
    assert!(!run.stderr.contains('{'), "{}", run.stderr);
    assert!(!Path::new("none").exists());
}

#[test]
fn stderr_carries_the_log_beside_what_is_for_people() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let run = list(&cli, &fixture, &["--audit", "stderr"]);
    run.success();
    let lines = run.stderr.lines().filter(|line| line.starts_with('{'));
    let entries = verify(&lines.map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(entries.len(), 3);
    assert!(cli.audit_files().is_empty());
    assert!(!Path::new("stderr").exists());
}

#[test]
fn a_named_file_is_the_only_log() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let file = fixture.outside().join("audit.jsonl");
    list(&cli, &fixture, &["--audit", file.to_str().unwrap()]).success();
    assert_eq!(verify(&lines_of(&file)).len(), 3);
    assert!(cli.audit_files().is_empty());
}

/// A relative name is taken from the working directory, as everywhere.
#[test]
fn a_named_file_may_be_relative() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let mut command = cli.command(["call", "list_files", "--audit", "audit.jsonl", "--read"]);
    command.arg(fixture.inputs()).current_dir(fixture.outside());
    Run::of(&mut command).success();
    assert_eq!(names(&fixture.outside()), ["audit.jsonl"]);
    let mut command = cli.command([
        "call",
        "list_files",
        "--audit",
        "audit.jsonl",
        "--read",
        ".",
    ]);
    let run = Run::of(command.current_dir(fixture.inputs()));
    assert_eq!(run.status, Some(2), "{run:?}");
}
