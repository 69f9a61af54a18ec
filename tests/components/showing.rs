//! What a component, a file or its name says cannot command a terminal, and begins no line of
//! its own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rootbound::escaped;
use serde_json::{Value, json};

use super::damaged::importing;
use super::guest;
use crate::hostile::component::with_listing;
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

/// A title for the window, red, from right to left, a control character of eight bits, and
/// something that looks like a line of the program's.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{202e}\u{9b}2J\nerror: all is well";

fn is_safe(run: &Run, what: &str) {
    for line in run.stdout.lines().chain(run.stderr.lines()) {
        assert_eq!(escaped(line), line, "{what}: {run:?}");
        assert!(!line.starts_with("error: all is well"), "{what}: {run:?}");
    }
}

/// A section of producers with one name in it.
fn producers(name: &str) -> Vec<u8> {
    let mut section = b"\x01\x08language\x01".to_vec();
    section.push(name.len() as u8);
    section.extend(name.as_bytes());
    section.extend(b"\x011");
    guest::with_section("producers", &section)
}

fn manifest(value: &Value) -> Vec<u8> {
    guest::with_section("rootbound:manifest", value.to_string().as_bytes())
}

fn situations() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("an import", importing(HOSTILE)),
        (
            "an import by address",
            importing(&format!("url=<{HOSTILE}>")),
        ),
        (
            "an import of WASI",
            importing(&format!("wasi:{HOSTILE}/x@0.2.0")),
        ),
        ("who made it", producers(HOSTILE)),
        ("a member", manifest(&json!({"manifest": 1, HOSTILE: true}))),
        (
            "a value",
            manifest(&json!({"manifest": 1, "read": HOSTILE})),
        ),
        (
            "a name",
            manifest(&json!({"manifest": 1, "imports": [HOSTILE]})),
        ),
        ("its tools", with_listing(b'o')),
        ("its tools' names", with_listing(b'c')),
    ]
}

/// The commands that look at a file; it is the last argument.
const LOOKS: [&[&str]; 9] = [
    &["inspect"],
    &["inspect", "--json"],
    &["inspect", "--tools"],
    &["inspect", "--tools", "--json"],
    &["manifest", "show"],
    &["tools", "--component"],
    &["tools", "--format", "json", "--component"],
    &["check", "--component"],
    &["call", "x", "--component"],
];

#[test]
fn nothing_that_a_component_says_reaches_the_terminal_as_it_is() {
    let cli = Cli::new();
    for (what, bytes) in situations() {
        let file = guest::file(cli.state(), "file.wasm", &bytes);
        for look in LOOKS {
            let run = Run::of(cli.command(look).arg(&file));
            is_safe(&run, &format!("{what}: {look:?}"));
        }
    }
}

#[test]
fn nothing_in_the_name_of_a_file_does_either() {
    let cli = Cli::new();
    for bytes in [&b"text"[..], guest::plain()] {
        let name = format!("{}.wasm", HOSTILE.replace('/', ""));
        let file = guest::file(cli.state(), &name, bytes);
        let lock = cli.state().join(format!("{HOSTILE}.lock"));
        for look in LOOKS {
            let run = Run::of(cli.command(look).arg(&file));
            is_safe(&run, &format!("{look:?}"));
        }
        let mut command = cli.command(["lock", "--component"]);
        let run = Run::of(command.arg(&file).arg("--lock").arg(&lock));
        is_safe(&run, "lock");
        let run = Run::of(cli.command(["pack", "-o", "x.wasm"]).arg(&file));
        is_safe(&run, "pack");
    }
}

#[test]
fn nothing_in_the_name_of_a_component_does() {
    let cli = Cli::new();
    let file = guest::file(cli.state(), "tool.wasm", guest::plain());
    let given = format!("{HOSTILE}={}", file.display());
    for command in ["tools", "check", "lock", "mcp"] {
        let run = cli.run([command, "--component", &given]);
        assert_eq!(run.status, Some(2), "{command}: {run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{command}: {run:?}");
        is_safe(&run, command);
    }
}

#[test]
fn nothing_in_a_lock_does() {
    let cli = Cli::new();
    let component = guest::file(cli.state(), "tool.wasm", guest::plain());
    let name = json!(HOSTILE);
    for text in [
        HOSTILE.to_owned(),
        format!("lock = 1\n[component.{name}]\nsha256 = \"{HOSTILE}\"\n"),
        format!("lock = 1\n[component.{name}]\nsha256 = 7\n"),
        format!("lock = 1\n{name} = 1\n"),
    ] {
        let lock = guest::file(cli.state(), "rootbound.lock", text.as_bytes());
        let mut command = cli.command(["check", "--component"]);
        let run = Run::of(command.arg(&component).arg("--lock").arg(&lock));
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        is_safe(&run, &text);
    }
}

/// The description of a tool has lines, none of which looks like another tool's.
#[test]
fn each_line_of_the_list_that_begins_at_the_left_is_a_tool() {
    let cli = Cli::new();
    let file = guest::file(cli.state(), "tool.wasm", &with_listing(b'o'));
    let run = Run::of(cli.command(["tools", "--component"]).arg(file));
    assert_eq!(run.status, Some(0), "{run:?}");
    let names = run.stdout.lines().filter(|line| !line.starts_with(' '));
    let names: Vec<&str> = names.filter(|line| !line.is_empty()).collect();
    assert!(
        matches!(names[..], [one] if one.starts_with("escapes(")),
        "{run:?}"
    );
}

/// JSON says the same, whatever is spelt otherwise in it.
#[test]
fn the_answer_of_a_call_says_what_the_file_says() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    fixture.input("hostile.txt", HOSTILE);
    let inputs = fixture.inputs();
    let read = [OsStr::new("--read"), inputs.as_os_str()];
    let run = cli.call("read_file", &json!({"path": "hostile.txt"}), read);
    assert_eq!(run.success()["content"], HOSTILE);
    is_safe(&run, "call");
    let run = cli.call(
        "read_file",
        &json!({"path": HOSTILE.replace('/', "")}),
        read,
    );
    is_safe(&run, "call");
    assert_eq!(run.status, Some(1), "{run:?}");
}

#[test]
fn a_name_that_is_not_utf_8_is_shown_all_the_same() {
    let cli = Cli::new();
    let name = Path::new(OsStr::from_bytes(b"\xff\x9b2J.wasm"));
    std::fs::write(cli.state().join(name), "text").unwrap();
    let run = Run::of(
        cli.command(["inspect", "--json"])
            .arg(cli.state().join(name)),
    );
    assert_eq!(run.json()["problems"][0]["code"], "not-wasm", "{run:?}");
    is_safe(&run, "inspect");
}
