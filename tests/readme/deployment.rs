//! The unit and the recipe, as an operator reads them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::cli::{PROGRAM, Run};

/// Lines that start a service, and harden nothing.
const ORDINARY: [&str; 2] = ["ExecStart", "Restart"];

fn text(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The settings of the unit's service.
fn settings() -> Vec<String> {
    let unit = text("deploy/rootbound.service");
    let (_, service) = unit.split_once("[Service]").unwrap();
    let (service, _) = service.split_once("[Install]").unwrap();
    let settings = service.lines().filter(|line| !line.starts_with('#'));
    settings
        .filter_map(|line| Some(line.split_once('=')?.0.to_owned()))
        .collect()
}

#[test]
fn every_line_of_the_unit_is_explained() {
    let explained = text("docs/deployment.md");
    for setting in settings() {
        let by_family =
            setting.starts_with("ProtectKernel") && explained.contains("`ProtectKernel…`");
        let by_name = explained.contains(&format!("`{setting}"));
        let is_ordinary = ORDINARY.contains(&setting.as_str());
        let is_environment = setting == "Environment" && explained.contains("`XDG_STATE_HOME`");
        let is_variant = [
            "StateDirectoryMode",
            "CacheDirectoryMode",
            "AmbientCapabilities",
            "SystemCallArchitectures",
            "SystemCallErrorNumber",
            "MemorySwapMax",
        ]
        .contains(&setting.as_str());
        assert!(
            by_family || by_name || is_ordinary || is_environment || is_variant,
            "docs/deployment.md does not say what `{setting}` adds"
        );
    }
}

#[test]
fn systemd_takes_the_unit() {
    let directory = tempfile::tempdir().unwrap();
    let unit = directory.path().join("rootbound.service");
    let here = text("deploy/rootbound.service").replace("/usr/local/bin/rootbound", PROGRAM);
    fs::write(&unit, here).unwrap();
    let mut verify = Command::new("systemd-analyze");
    let run = Run::of(
        verify
            .args(["verify", "--man=no", "--recursive-errors=no"])
            .arg(unit),
    );
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{run:?}");
}

/// Systemd's own measure, from 0 to 10; what is left is the network and what a root directory of
/// its own would add.
#[test]
fn systemd_finds_the_unit_well_confined() {
    let mut security = Command::new("systemd-analyze");
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/rootbound.service");
    let run = Run::of(
        security
            .args(["security", "--offline=true", "--threshold=15", "--no-pager"])
            .arg(unit),
    );
    assert_eq!(run.status, Some(0), "{run:?}");
}

#[test]
fn the_recipe_runs_as_nobody_in_particular_and_adds_nothing() {
    let recipe = text("deploy/Containerfile");
    let instructions: Vec<&str> = recipe
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let expected = [
        "FROM",
        "COPY",
        "RUN",
        "VOLUME",
        "USER",
        "WORKDIR",
        "ENV",
        "ENTRYPOINT",
        "CMD",
    ];
    assert_eq!(instructions, expected);
    assert!(
        recipe.contains("\nUSER 65532:65532\n"),
        "the user must not be root"
    );
    for word in ["apt", "curl", "ADD ", "latest", "EXPOSE"] {
        assert!(!recipe.contains(word), "{word}");
    }
}

#[test]
fn what_is_kept_secret_is_listed() {
    let guide = text("docs/deployment.md");
    let (_, list) = guide.split_once("```gitignore\n").unwrap();
    let (list, _) = list.split_once("\n```").unwrap();
    let listed: Vec<&str> = list.lines().collect();
    assert_eq!(listed, rootbound::SECRETS);
}

#[test]
fn check_lists_what_is_kept_secret_where_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let check = |options: &[&str]| {
        let mut command = crate::support::cli::Cli::new().command(["check", "--read"]);
        Run::of(command.arg(directory.path()).args(options)).stdout
    };
    let list = format!("`{}`", rootbound::SECRETS.join("`, `"));
    assert!(check(&["--protect-secrets"]).contains(&list));
    assert!(!check(&[]).contains(&list));
}
