//! What keeps the program from starting is for the operator: status 2, on the error stream.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::{Cli, PROGRAM, Run};
use crate::support::tree::tree;

fn assert_usage(run: &Run, words: &str) {
    assert_eq!(run.status, Some(2), "{run:?}");
    assert_eq!(run.stdout, "", "{run:?}");
    assert!(run.stderr.contains(words), "{words}: {run:?}");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
}

#[test]
fn a_wrong_command_line_is_status_2() {
    let cli = Cli::new();
    for (arguments, words) in [
        (&[][..], "Usage"),
        (&["no-such-command"], "no-such-command"),
        (&["call"], "<TOOL>"),
        (
            &["call", "list_files", "{}", "--no-such-flag"],
            "--no-such-flag",
        ),
        (&["call", "list_files", "{}", "surplus"], "surplus"),
        (&["call", "list_files", "--overwrite", "maybe"], "maybe"),
        (&["call", "list_files", "--delete", "ALLOW"], "ALLOW"),
        (&["call", "list_files", "--max-read-bytes", "10MB"], "MB"),
        (&["call", "list_files", "--max-read-bytes", "-1"], "-1"),
        (
            &["call", "list_files", "--max-write-bytes", "99999999999GiB"],
            "too large",
        ),
        (&["call", "list_files", "--max-entries", "many"], "many"),
        (&["call", "list_files", "--timeout-ms", "0"], "--timeout-ms"),
        (&["call", "list_files", "--durability", "none"], "none"),
        (&["tools", "--format", "yaml"], "yaml"),
        (&["check", "--dry-run"], "--dry-run"),
    ] {
        assert_usage(&cli.run(arguments), words);
    }
}

/// The pool of instances reserves half a terabyte of address space. Where that cannot be had
/// (`ulimit -v`, valgrind), calls work all the same.
#[test]
fn a_process_with_little_address_space_works() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.input("t", "hello");
    let mut command = Command::new("prlimit");
    command.arg("--as=4294967296").arg(PROGRAM);
    command.args(["call", "read_file", r#"{"path": "t"}"#, "--read"]);
    command
        .arg(fixture.inputs())
        .env("XDG_STATE_HOME", cli.state());
    let result = Run::of(&mut command).success();
    assert_eq!(result["content"], "hello");
}

#[test]
fn a_grant_that_cannot_be_given_is_status_2() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.input("file", "");
    let directory = |name: &str| fixture.base().join(name).into_os_string();
    let labelled = |label: &str| {
        let mut text = OsString::from(format!("{label}="));
        text.push(directory("inputs"));
        text
    };
    let rows: [(&[OsString], &str); 12] = [
        (&["--read".into(), directory("missing")], "missing"),
        (&["--write".into(), directory("missing")], "missing"),
        (&["--read".into(), directory("inputs/file")], "file"),
        (&["--work".into(), directory("inputs/file")], "file"),
        (&["--read".into(), "/".into()], "whole file system"),
        (&["--write".into(), "/etc".into()], "/etc"),
        (&["--read".into(), labelled("two words")], "label"),
        (&["--read".into(), labelled("")], "label"),
        (&["--read".into(), "docs=".into()], "directory"),
        (
            &[
                "--read".into(),
                labelled("a"),
                "--read".into(),
                labelled("a"),
            ],
            "label",
        ),
        (
            &[
                "--write".into(),
                directory("inputs"),
                "--write".into(),
                directory("outside"),
            ],
            "--write",
        ),
        (
            &[
                "--write".into(),
                directory("inputs"),
                "--work".into(),
                directory("outside"),
            ],
            "--work",
        ),
    ];
    let before = tree(fixture.base());
    for (grants, words) in rows {
        for command in [&["call", "list_files"][..], &["check"]] {
            let mut command = cli.command(command);
            assert_usage(&Run::of(command.args(grants)), words);
        }
    }
    assert_eq!(tree(fixture.base()), before);
    assert!(cli.audit_files().is_empty());
}

#[test]
fn a_component_that_cannot_be_used_is_status_2() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let rows: [(&str, &[u8]); 4] = [
        ("empty", b""),
        ("text", b"not a component"),
        // A core module: the magic number and version 1.
        ("module", b"\0asm\x01\0\0\0"),
        // A component that exports nothing: the magic number and version 13, layer 1.
        ("component", b"\0asm\x0d\0\x01\0"),
    ];
    for (name, bytes) in rows {
        let file = fixture.input(name, bytes);
        for command in [&["call", "list_files"][..], &["tools"], &["check"]] {
            let mut command = cli.command(command);
            assert_usage(&Run::of(command.arg("--component").arg(&file)), "component");
        }
    }
    let missing = fixture.base().join("missing.wasm");
    let mut command = cli.command(["tools", "--component"]);
    assert_usage(&Run::of(command.arg(missing)), "component");
}

/// Names are bytes on Linux; a grant takes any.
#[test]
fn a_directory_whose_name_is_not_utf_8_can_be_granted() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let directory = fixture.base().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&directory).unwrap();
    for grant in ["--read", "--write", "--work"] {
        let mut command = cli.command(["check", "--json", grant]);
        let answer = Run::of(command.arg(&directory)).success();
        assert_eq!(answer["grants"][0]["label"], "caf_", "{grant}");
    }
    let mut command = cli.command(["call"]);
    let not_text = OsStr::from_bytes(b"{\"path\":\"\xe9\"}");
    let run = Run::of(command.arg("read_file").arg(not_text));
    assert!(matches!(run.status, Some(1 | 2)), "{run:?}");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
}

#[test]
fn help_and_version_are_successes() {
    let cli = Cli::new();
    for arguments in [
        &["--help"][..],
        &["help"],
        &["call", "--help"],
        &["--version"],
    ] {
        let run = cli.run(arguments);
        assert_eq!(run.status, Some(0), "{arguments:?}");
        assert!(run.stdout.contains("rootbound"), "{arguments:?}: {run:?}");
        assert_eq!(run.stderr, "", "{arguments:?}");
    }
    assert!(cli.audit_files().is_empty());
}

#[test]
fn check_tells_what_is_granted_and_what_would_be_refused() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let check = |further: &[&str]| -> Value {
        let mut command = cli.command(["check", "--json"]);
        command.arg("--read").arg(fixture.inputs());
        command.arg("--write").arg(fixture.workspace());
        Run::of(command.args(further)).success()
    };
    let cautious = check(&[]);
    let grants = json!([
        { "label": "inputs", "rights": "read" },
        { "label": "workspace", "rights": "write" },
    ]);
    assert_eq!(cautious["grants"], grants);
    assert_eq!(cautious["policy"]["overwrite"], "deny");
    assert_eq!(cautious["policy"]["delete"], "ask");
    assert_eq!(cautious["policy"]["max_read_bytes"], 10 << 20);
    assert_eq!(cautious["audit"], "file");
    let refused = |answer: &Value| answer["refused"].as_array().unwrap().len();
    let bold = check(&[
        "--overwrite=allow",
        "--delete=allow",
        "--max-read-bytes=64KiB",
        "--timeout-ms=250",
        "--audit=none",
    ]);
    assert_eq!(bold["policy"]["overwrite"], "allow");
    assert_eq!(bold["policy"]["max_read_bytes"], 65_536);
    assert_eq!(bold["policy"]["timeout_ms"], 250);
    assert_eq!(bold["audit"], "none");
    assert!(refused(&bold) < refused(&cautious));
    assert!(
        !cautious
            .to_string()
            .contains(fixture.base().to_str().unwrap())
    );
}

/// The text for people says what the object for programs says.
#[test]
fn check_in_words_names_every_grant_and_policy() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let mut command = cli.command(["check", "--json", "--read"]);
    let json = Run::of(command.arg(fixture.inputs())).success();
    let mut command = cli.command(["check", "--read"]);
    let run = Run::of(command.arg(fixture.inputs()));
    assert_eq!(run.status, Some(0));
    for (name, value) in json["policy"].as_object().unwrap() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let line = run
            .stdout
            .lines()
            .find(|line| line.trim().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("`{name}` is not named:\n{}", run.stdout));
        assert!(line.ends_with(&value), "{line}");
    }
    for line in json["refused"].as_array().unwrap() {
        assert!(run.stdout.contains(line.as_str().unwrap()), "{line}");
    }
    let nothing = cli.run(["check"]);
    assert!(nothing.stdout.contains("every file operation is refused"));
}

/// The default place of the state is inside a home directory, so that it is refused; with
/// the state elsewhere it is a matter of judgement.
#[test]
fn a_home_directory_is_refused_while_it_holds_the_state_and_else_warned_about() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let home = fixture.workspace();
    let check = |state: Option<&Path>| {
        let mut command = cli.command(["check", "--json", "--write"]);
        command.arg(&home).env("HOME", &home);
        match state {
            Some(state) => command.env("XDG_STATE_HOME", state),
            None => command.env_remove("XDG_STATE_HOME"),
        };
        Run::of(&mut command)
    };
    assert_usage(&check(None), "own state");
    let warned = check(Some(&fixture.outside())).success();
    let warnings = warned["warnings"].to_string();
    assert!(warnings.contains("home directory"), "{warnings}");
}

#[test]
fn the_superuser_and_a_checkout_are_warned_about() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    std::fs::create_dir(fixture.workspace().join(".git")).unwrap();
    let mut command = cli.command(["check", "--json", "--write"]);
    let answer = Run::of(command.arg(fixture.workspace())).success();
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("version-control checkout"), "{warnings}");
    let cli = Cli::new();
    let mut command = cli.command_as_nobody(["check", "--json"]);
    let run = Run::of(&mut command);
    assert_eq!(run.success()["warnings"], json!([]));
    assert_eq!(run.stderr, "");
}
