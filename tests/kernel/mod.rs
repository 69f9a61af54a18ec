//! Belt and braces: what the kernel refuses when the guard looks away.
//!
//! A debug build has a hook that blinds the guard: paths are not checked and walks are not
//! confined. Each attack first succeeds with the hook and without Landlock; with Landlock it
//! must fail, and nothing outside may change.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::Fixture;

/// A tool call that reaches outside through `..`.
struct Attack {
    tool: &'static str,
    arguments: &'static str,
    succeeds: fn(&Fixture) -> bool,
}

const ATTACKS: [Attack; 7] = [
    Attack {
        tool: "read_file",
        arguments: r#"{"path": "../outside/secret"}"#,
        succeeds: |_| true,
    },
    Attack {
        tool: "list_files",
        arguments: r#"{"path": "../outside"}"#,
        succeeds: |_| true,
    },
    Attack {
        tool: "write_file",
        arguments: r#"{"path": "../outside/planted", "content": "x"}"#,
        succeeds: |fixture| fixture.outside().join("planted").exists(),
    },
    Attack {
        tool: "create_directory",
        arguments: r#"{"dir_path": "../outside/made"}"#,
        succeeds: |fixture| fixture.outside().join("made").exists(),
    },
    Attack {
        tool: "write_file",
        arguments: r#"{"path": "../outside/secret", "content": "x"}"#,
        succeeds: |fixture| fs::read_to_string(fixture.outside().join("secret")).unwrap() == "x",
    },
    Attack {
        tool: "delete_file",
        arguments: r#"{"path": "../outside/secret"}"#,
        succeeds: |fixture| !fixture.outside().join("secret").exists(),
    },
    Attack {
        tool: "delete_file",
        arguments: r#"{"path": "../outside/full", "recursive": true}"#,
        succeeds: |fixture| !fixture.outside().join("full").exists(),
    },
];

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fs::write(fixture.outside().join("secret"), "secret").unwrap();
    fs::create_dir(fixture.outside().join("full")).unwrap();
    fs::write(fixture.outside().join("full/file"), "").unwrap();
    fixture
}

fn call(
    fixture: &Fixture,
    attack: &Attack,
    environment: &[(&str, &str)],
    flags: &[&str],
) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rootbound"))
        .args(["call", attack.tool, attack.arguments])
        .arg("--read")
        .arg(fixture.inputs())
        .arg("--write")
        .arg(fixture.workspace())
        .args([
            "--overwrite",
            "allow",
            "--delete",
            "allow",
            "--audit",
            "stderr",
        ])
        .args(flags)
        .env("XDG_STATE_HOME", fixture.base().join("state"))
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn landlock_is_on_where_the_kernel_offers_it() {
    let fixture = fixture();
    let check = |flags: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_rootbound"))
            .args(["check", "--json", "--audit", "stderr", "--read"])
            .arg(fixture.inputs())
            .args(flags)
            .env("XDG_STATE_HOME", fixture.base().join("state"))
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(
        check(&[])["landlock"],
        "on",
        "this test needs a kernel with Landlock (5.13)"
    );
    assert_eq!(
        check(&["--no-landlock"])["landlock"],
        "off, by --no-landlock"
    );
}

#[test]
fn without_the_guard_the_kernel_still_holds_the_process_to_its_roots() {
    for attack in &ATTACKS {
        let control = fixture();
        let blind = [("ROOTBOUND_TEST_BLIND_GUARD", "1")];
        let output = call(&control, attack, &blind, &["--no-landlock"]);
        assert!(
            output.status.success(),
            "the control must succeed: {} {output:?}",
            attack.tool
        );
        assert!(
            (attack.succeeds)(&control),
            "the control must succeed: {}",
            attack.tool
        );

        let confined = fixture();
        let output = call(&confined, attack, &blind, &[]);
        assert_eq!(output.status.code(), Some(1), "{} {output:?}", attack.tool);
        assert!(!String::from_utf8_lossy(&output.stdout).contains("\"content\""));
        let outside = |name: &str| confined.outside().join(name);
        assert_eq!(fs::read_to_string(outside("secret")).unwrap(), "secret");
        assert!(outside("full/file").exists());
        assert_eq!(
            fs::read_dir(confined.outside()).unwrap().count(),
            2,
            "{}",
            attack.tool
        );
    }
}

#[test]
fn the_genesis_says_when_the_kernel_was_told_to_stand_aside() {
    for (flags, expected) in [(&[][..], "landlock"), (&["--no-landlock"], "none")] {
        let output = call(&fixture(), &ATTACKS[0], &[], flags);
        let log = String::from_utf8(output.stderr).unwrap();
        let genesis = log
            .lines()
            .find(|line| line.contains("\"kind\":\"genesis\""))
            .unwrap();
        let genesis: Value = serde_json::from_str(genesis).unwrap();
        assert_eq!(genesis["confinement"], expected);
    }
}
