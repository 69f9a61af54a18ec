//! Other names of files that no tool may reach: a hard link inside a root is a way to them.

use std::fs;
use std::path::{Path, PathBuf};

use rootbound::{AuditLog, Session, SessionBuilder};

use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

/// A file outside every root, with another name inside one.
fn linked(fixture: &Fixture, inside: &Path) -> PathBuf {
    let file = fixture.outside().join("own");
    fs::write(&file, "").unwrap();
    fs::create_dir_all(inside.parent().unwrap()).unwrap();
    fs::hard_link(&file, inside).unwrap();
    file
}

fn granted(fixture: &Fixture) -> SessionBuilder {
    Session::builder()
        .read_root(fixture.inputs())
        .write_root(fixture.workspace())
        .state_directory(fixture.base().join("state"))
}

/// Names a file to a session.
type Naming = fn(SessionBuilder, &Path) -> SessionBuilder;

/// Each file that a session depends on, by how it is named to it.
const KINDS: [(&str, Naming); 4] = [
    ("the audit log", |builder, file| builder.audit_file(file)),
    ("the audit log", |builder, file| {
        builder.audit(AuditLog::file(file).unwrap())
    }),
    ("the configuration", |builder, file| {
        builder.audit(AuditLog::none()).configuration_file(file)
    }),
    ("a key or the tokens", |builder, file| {
        builder.audit(AuditLog::none()).secret_file(file)
    }),
];

#[test]
fn a_root_with_another_name_of_such_a_file_is_refused() {
    for (kind, with) in KINDS {
        for inside in [
            "inputs/name",
            "inputs/deep/down/name",
            "workspace/.hidden/name",
        ] {
            let fixture = Fixture::new();
            let file = linked(&fixture, &fixture.base().join(inside));
            let error = with(granted(&fixture), &file).build().unwrap_err();
            let told = error.to_string();
            let reason = format!("it contains {kind}");
            assert!(told.contains(&reason), "{kind} {inside}: {told}");
            assert!(told.contains("under another name (a hard link)"), "{told}");
        }
    }
}

/// The control: it is the link that is refused.
#[test]
fn a_name_elsewhere_or_a_copy_is_no_hindrance() {
    for (kind, with) in KINDS {
        let fixture = Fixture::new();
        let file = linked(&fixture, &fixture.outside().join("elsewhere/name"));
        fs::copy(&file, fixture.inputs().join("copy")).unwrap();
        let session = with(granted(&fixture), &file).build().unwrap();
        let warnings = session.warnings();
        let named = |warning: &&String| warning.contains("more than one name");
        assert_eq!(warnings.iter().find(named), None, "{kind}");
    }
}

#[test]
fn a_link_to_the_file_does_not_hide_its_other_names() {
    let fixture = Fixture::new();
    let file = linked(&fixture, &fixture.inputs().join("name"));
    let link = fixture.base().join("link.toml");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let builder = granted(&fixture).audit(AuditLog::none());
    let told = builder
        .configuration_file(&link)
        .build()
        .unwrap_err()
        .to_string();
    assert!(told.contains("it contains the configuration"), "{told}");
}

/// What lets others in is kept from tools as keys are: in no root, under no name.
#[test]
fn the_servers_tokens_and_its_key_are_in_no_root() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let inside = fixture.input("own", "default:0123456789abcdef0123456789abcdef\n");
    let outside = fixture.outside().join("own");
    fs::copy(&inside, &outside).unwrap();
    let linked = fixture.outside().join("linked");
    fs::hard_link(&inside, &linked).unwrap();
    for option in ["--http-token-file", "--state-key"] {
        for file in [&inside, &linked] {
            let mut command = cli.command(["mcp", "--http=127.0.0.1:0", option]);
            command.arg(file).arg("--read").arg(fixture.inputs());
            let run = Run::of(&mut command);
            assert_eq!(run.status, Some(2), "{option}: {run:?}");
            let told = "it contains a key or the tokens of the server";
            assert!(run.stderr.contains(told), "{option}: {run:?}");
        }
    }
}

/// As somebody would do it who wants to read the log from inside.
#[test]
fn the_program_refuses_roots_with_other_names_of_its_files() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let (log, config) = (
        fixture.outside().join("log"),
        fixture.outside().join("rootbound.toml"),
    );
    let inputs = fixture.inputs();
    let check = || {
        let mut command = cli.command(["check", "--config"]);
        command.arg(&config).arg("--audit").arg(&log);
        Run::of(command.arg("--read").arg(&inputs))
    };
    fs::write(&config, "max_depth = 3\n").unwrap();
    // Checking begins no log.
    fs::write(&log, "").unwrap();
    assert_eq!(check().status, Some(0));
    for (file, told) in [(&log, "the audit log"), (&config, "the configuration")] {
        let inside = inputs.join("name");
        fs::hard_link(file, &inside).unwrap();
        let run = check();
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(told), "{run:?}");
        fs::remove_file(inside).unwrap();
    }
    assert_eq!(check().status, Some(0));
}
