//! `rootbound.lock`: another file is not loaded.

use std::fs;

use super::declaring::built_in;
use super::guest;
use crate::hostile::component::with_listing;
use crate::support::cli::{Cli, Run};

fn locked() -> (Cli, std::path::PathBuf, std::path::PathBuf) {
    let cli = Cli::new();
    let component = guest::file(cli.state(), "tool.wasm", guest::plain());
    let lock = cli.state().join("rootbound.lock");
    let mut command = cli.command(["lock", "--component"]);
    command.arg(&component).arg("--lock").arg(&lock);
    let run = Run::of(&mut command);
    assert_eq!(run.status, Some(0), "{run:?}");
    (cli, component, lock)
}

#[test]
fn a_lock_that_leads_nowhere_is_no_absent_lock() {
    let (cli, _, lock) = locked();
    let config = cli.state().join("rootbound.toml");
    fs::write(&config, "component = [\"tool.wasm\"]\n").unwrap();
    let check = || Run::of(cli.command(["check", "--config"]).arg(&config));
    assert_eq!(check().status, Some(0), "{:?}", check());
    fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink("nowhere", &lock).unwrap();
    assert_eq!(check().status, Some(2), "{:?}", check());
}

/// A tool that can write it could become another one, with that one's grants.
#[test]
fn a_component_that_runs_lies_in_no_root_that_can_be_written_to() {
    let cli = Cli::new();
    let tools = cli.state().join("tools");
    fs::create_dir(&tools).unwrap();
    let component = guest::file(&tools, "tool.wasm", guest::plain());
    let check = |grant: &str| {
        let mut command = cli.command(["check", "--component"]);
        Run::of(command.arg(&component).arg(grant).arg(&tools))
    };
    assert_eq!(check("--read").status, Some(0), "{:?}", check("--read"));
    for grant in ["--write", "--work"] {
        let run = check(grant);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains("a component that runs"), "{run:?}");
    }
}

#[test]
fn a_changed_file_is_refused() {
    let (cli, component, lock) = locked();
    let check = || {
        let mut command = cli.command(["check", "--json", "--component"]);
        Run::of(command.arg(&component).arg("--lock").arg(&lock))
    };
    assert_eq!(check().status, Some(0), "{:?}", check());
    fs::write(&component, with_listing(b'o')).unwrap();
    let run = check();
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("digest-mismatch"), "{run:?}");
}

#[test]
fn a_component_that_the_lock_does_not_know_is_refused() {
    let (cli, _, lock) = locked();
    let mut command = cli.command(["tools", "--component"]);
    let run = Run::of(command.arg(built_in()).arg("--lock").arg(&lock));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("not-locked"), "{run:?}");
}

#[test]
fn a_lock_that_cannot_be_read_lets_nothing_through() {
    let (cli, component, lock) = locked();
    for text in ["", "lock = 7", "no toml", "lock = 1\n[component.tool]\n"] {
        fs::write(&lock, text).unwrap();
        let mut command = cli.command(["tools", "--component"]);
        let run = Run::of(command.arg(&component).arg("--lock").arg(&lock));
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{text}: {run:?}");
    }
}

#[test]
fn a_lock_beside_the_configuration_is_in_force_and_in_no_root() {
    let (cli, component, lock) = locked();
    let config = cli.state().join("rootbound.toml");
    fs::write(&config, "component = [\"tool.wasm\"]\n").unwrap();
    let check = |more: &[&str]| {
        let mut command = cli.command(["check", "--config"]);
        Run::of(command.arg(&config).args(more))
    };
    assert_eq!(check(&[]).status, Some(0), "{:?}", check(&[]));
    fs::write(&component, with_listing(b'o')).unwrap();
    assert!(check(&[]).stderr.contains("digest-mismatch"));
    fs::write(&lock, "").unwrap();
    assert_eq!(check(&[]).status, Some(2));
}
