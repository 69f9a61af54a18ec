//! The same through the command line: `rootbound call … --component FILE`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::component;
use super::layout::{Tree, lay_out};
use super::row::ORDINARY;
use crate::support::Fixture;

/// A place for the component's file and the program's state, outside the roots.
struct Desk {
    fixture: Fixture,
    component: PathBuf,
}

impl Desk {
    fn with(bytes: &[u8]) -> Self {
        let fixture = lay_out(&ORDINARY);
        let component = fixture.outside().join("attack.wasm");
        std::fs::write(&component, bytes).unwrap();
        Self { fixture, component }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_rootbound"))
            .args(arguments)
            .arg("--component")
            .arg(&self.component)
            .env("XDG_STATE_HOME", self.fixture.base().join("state"))
            .env_remove("ROOTBOUND_WORK_DIR")
            .output()
            .unwrap()
    }

    /// Calls an attack over both roots, with more options.
    fn call(&self, attack: &str, options: &[&str]) -> (Option<i32>, Value) {
        let path = |path: PathBuf| path.into_os_string().into_string().unwrap();
        let (read, write) = (path(self.fixture.inputs()), path(self.fixture.workspace()));
        let mut arguments = vec!["call", attack, "--read", &read, "--write", &write];
        arguments.extend(options);
        let output = self.run(&arguments);
        let answer = serde_json::from_slice(&output.stdout);
        (output.status.code(), answer.unwrap_or_default())
    }

    fn changes(&self, before: &Tree) -> Vec<String> {
        let mut changes = before.changes(&Tree::of(self.fixture.base()));
        let is_ours = |change: &String| Path::new(&change[1..]).starts_with("state");
        changes.retain(|change| !is_ours(change));
        changes
    }
}

#[test]
fn an_attack_is_stopped_by_the_program_as_by_the_library() {
    let desk = Desk::with(component::bytes());
    let before = Tree::of(desk.fixture.base());
    for (attack, options, code) in [
        ("trap", &[][..], "trapped"),
        (
            "stage_and_trap",
            &["--overwrite", "allow", "--delete", "allow"],
            "trapped",
        ),
        ("loop_for_ever", &["--timeout-ms", "200"], "timeout"),
        ("grow_memory", &["--max-memory", "16MiB"], "limit-exceeded"),
        (
            "destroy_without_an_approver",
            &["--overwrite", "ask"],
            "approval-required",
        ),
        (
            "destroy_without_an_approver",
            &["--overwrite", "ask", "--approve", "deny"],
            "approval-denied",
        ),
        ("forge_a_dry_run", &[], "io"),
    ] {
        let started = Instant::now();
        let (exit, answer) = desk.call(attack, options);
        assert_eq!(exit, Some(1), "{attack}: {answer}");
        assert_eq!(answer["error"]["code"], code, "{attack}: {answer}");
        assert!(started.elapsed() < Duration::from_secs(30), "{attack}");
    }
    for attack in [
        "truncate_with_read_flag",
        "walk_out",
        "delete_outside",
        "rename_out",
    ] {
        let (exit, answer) = desk.call(attack, &[]);
        assert_eq!(exit, Some(0), "{attack}: {answer}");
        assert_eq!(answer["gained"], serde_json::json!([]), "{attack}");
    }
    assert_eq!(desk.changes(&before), Vec::<String>::new());
}

#[test]
fn a_dry_run_of_an_attack_changes_nothing() {
    let desk = Desk::with(component::bytes());
    let before = Tree::of(desk.fixture.base());
    let all = ["--dry-run", "--overwrite", "allow", "--delete", "allow"];
    let (exit, answer) = desk.call("destroy_without_an_approver", &all);
    assert_eq!(
        (exit, &answer["dry_run"]),
        (Some(0), &Value::Bool(true)),
        "{answer}"
    );
    assert_eq!(answer["effects"].as_array().unwrap().len(), 5);
    assert_eq!(desk.changes(&before), Vec::<String>::new());
}

#[test]
fn what_is_no_tool_component_is_a_mistake_of_the_command_line() {
    for bytes in [
        &b""[..],
        b"noise",
        b"\0asm\x01\0\0\0",
        &component::bytes()[..1000],
    ] {
        let output = Desk::with(bytes).run(&["call", "trap"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("component cannot be used"), "{message}");
    }
}

#[test]
fn a_description_cannot_write_to_the_terminal() {
    let desk = Desk::with(&component::with_listing(b'o'));
    for format in ["text", "json", "mcp", "openai", "anthropic"] {
        let output = desk.run(&["tools", "--format", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("escapes"), "{format}: {text}");
        let controls = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(controls), "{format}: {text:?}");
    }
}
