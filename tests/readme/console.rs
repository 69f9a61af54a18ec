//! The sessions in the README are run, and their output is compared.

use std::path::Path;
use std::process::Command;

use super::{blocks, readme, repository, search_path};

/// One command and what it prints; `…` stands for anything.
pub(super) struct Step {
    pub(super) command: String,
    pub(super) shown: String,
}

pub(super) fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step {
                command: command.to_owned(),
                shown: String::new(),
            }),
            (None, Some(step)) => {
                step.shown.push_str(line);
                step.shown.push('\n');
            }
            (None, None) => panic!("a session starts with a command, not with `{line}`"),
        }
    }
    steps
}

pub(super) fn run(command: &str, directory: &Path) -> String {
    let output = Command::new("bash")
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", search_path())
        .env("XDG_STATE_HOME", directory.join("state"))
        .env_remove("ROOTBOUND_WORK_DIR")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Whether the parts around each `…` occur in this order, the first at the start and the
/// last at the end.
pub(super) fn fits(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn the_commands_in_the_readme_print_what_it_shows() {
    let directory = tempfile::tempdir().unwrap();
    let copied = Command::new("cp")
        .arg("-r")
        .arg(repository().join("examples"))
        .arg(directory.path())
        .status()
        .unwrap();
    assert!(copied.success());
    let sessions = blocks(&readme(), "console");
    assert!(!sessions.is_empty(), "README.md shows no session");
    for step in sessions.iter().flat_map(|block| steps(block)) {
        let printed = run(&step.command, directory.path());
        assert!(
            fits(&step.shown, &printed),
            "README.md shows\n$ {}\n{}but it prints\n{printed}",
            step.command,
            step.shown
        );
    }
}

#[test]
fn only_what_is_left_out_may_differ() {
    let table = [
        ("a\n", "a\n", true),
        ("a\n", "ab\n", false),
        ("a…\n", "abc\n", true),
        ("…c\n", "abc\n", true),
        ("a…c…e\n", "abcde\n", true),
        ("a…c…e\n", "abde\n", false),
        ("a…b\n", "ab", false),
        ("", "a", false),
    ];
    for (shown, printed, expected) in table {
        assert_eq!(fits(shown, printed), expected, "{shown:?} {printed:?}");
    }
}
