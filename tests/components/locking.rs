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

#[test]
fn a_lock_that_pins_nothing_is_not_written() {
    let cli = Cli::new();
    let lock = cli.state().join("rootbound.lock");
    for components in [&[][..], &["--component", "built-in"]] {
        let mut command = cli.command(["lock", "--lock"]);
        let run = Run::of(command.arg(&lock).args(components));
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains("nothing to lock"), "{run:?}");
        assert!(!lock.exists());
    }
}

#[test]
fn names_are_those_that_components_can_have_and_each_is_there_once() {
    let cli = Cli::new();
    let component = guest::file(cli.state(), "tool.wasm", guest::plain());
    let lock = cli.state().join("rootbound.lock");
    let file = component.display();
    let of = |names: &[&str]| -> Vec<String> {
        let given = names
            .iter()
            .map(|name| format!("--component={name}={file}"));
        given.collect()
    };
    let injected = "x]\nsha256 = \"0\"\n[component.y";
    for names in [
        &[""][..],
        &["a b"],
        &["a.b"],
        &["a__b"],
        &["\"a\""],
        &[injected],
        &["x".repeat(33).as_str()],
        &["a", "a"],
    ] {
        for command in ["lock", "tools", "check"] {
            let mut command = cli.command([command]);
            let run = Run::of(command.arg("--lock").arg(&lock).args(of(names)));
            assert_eq!(run.status, Some(2), "{names:?}: {run:?}");
            assert!(!lock.exists(), "{names:?}");
        }
    }
    let mut command = cli.command(["lock", "--lock"]);
    let run = Run::of(command.arg(&lock).args(of(&["a", "b-2", "c_3"])));
    assert_eq!(run.status, Some(0), "{run:?}");
    let table: toml::Table = fs::read_to_string(&lock).unwrap().parse().unwrap();
    let names: Vec<&String> = table["component"].as_table().unwrap().keys().collect();
    assert_eq!(names, ["a", "b-2", "c_3"]);
}

/// Two files of one name get names of their own, and none that was given to another.
#[test]
fn a_name_that_is_made_of_the_file_is_no_other_s() {
    let cli = Cli::new();
    let component = guest::file(cli.state(), "tool.wasm", guest::plain());
    let lock = cli.state().join("rootbound.lock");
    let mut command = cli.command(["lock", "--lock"]);
    command.arg(&lock).arg("--component").arg(&component);
    let given = format!("tool={}", component.display());
    let run = Run::of(command.args(["--component", &given]));
    assert_eq!(run.status, Some(0), "{run:?}");
    let text = fs::read_to_string(&lock).unwrap();
    assert!(text.contains("[component.tool]"), "{text}");
    assert!(text.contains("[component.tool-2]"), "{text}");
}

#[test]
fn a_lock_and_a_table_are_both_held_to() {
    let (cli, component, lock) = locked();
    let right = crate::support::sha256(guest::plain());
    let other = "0".repeat(64);
    let config = cli.state().join("rootbound.toml");
    let file = component.display();
    for (pinned, locked, status) in [
        (&right, &right, Some(0)),
        (&right, &other, Some(2)),
        (&other, &right, Some(2)),
    ] {
        let table = format!("[component.tool]\nfile = \"{file}\"\nsha256 = \"{pinned}\"\n");
        fs::write(&config, table).unwrap();
        let text = format!("lock = 1\n[component.tool]\nsha256 = \"{locked}\"\n");
        fs::write(&lock, text).unwrap();
        let run = Run::of(cli.command(["check", "--config"]).arg(&config));
        assert_eq!(run.status, status, "{run:?}");
        assert_eq!(
            run.stderr.contains("digest-mismatch"),
            status == Some(2),
            "{run:?}"
        );
    }
}

#[test]
fn the_built_in_component_is_held_to_a_lock_that_knows_it() {
    let cli = Cli::new();
    let lock = cli.state().join("rootbound.lock");
    let ours = crate::support::sha256(fs::read(built_in()).unwrap());
    for (digest, status) in [(ours, Some(0)), ("0".repeat(64), Some(2))] {
        let text = format!("lock = 1\n[component.files]\nsha256 = \"{digest}\"\n");
        fs::write(&lock, text).unwrap();
        let mut command = cli.command(["tools", "--component", "built-in", "--lock"]);
        let run = Run::of(command.arg(&lock));
        assert_eq!(run.status, status, "{run:?}");
    }
}
