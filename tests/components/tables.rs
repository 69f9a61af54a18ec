//! `[component.NAME]` in the configuration file: grants, policy and limits of a component's own.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::declaring::built_in;
use crate::support::cli::{Cli, Run};
use crate::support::{Fixture, sha256};

struct Desk {
    cli: Cli,
    fixture: Fixture,
}

impl Desk {
    fn new() -> Self {
        Self {
            cli: Cli::new(),
            fixture: Fixture::new(),
        }
    }

    fn config(&self, text: &str) -> PathBuf {
        let file = self.cli.state().join("rootbound.toml");
        let text = text
            .replace("FILE", &built_in().display().to_string())
            .replace("INPUTS", &self.fixture.inputs().display().to_string())
            .replace("OUTSIDE", &self.fixture.outside().display().to_string());
        fs::write(&file, text).unwrap();
        file
    }

    fn run(&self, arguments: &[&str], config: &str) -> Run {
        let mut command = self.cli.command(arguments);
        Run::of(command.arg("--config").arg(self.config(config)))
    }

    fn check(&self, config: &str) -> Value {
        self.run(&["check", "--json"], config).success()
    }
}

#[test]
fn a_component_has_what_its_table_says_and_else_what_the_session_has() {
    let desk = Desk::new();
    let check = desk.check(
        "read = [\"INPUTS\"]\nmax_depth = 3\noverwrite = \"ask\"\n\
         [component.alike]\nfile = \"FILE\"\n\
         [component.other]\nfile = \"FILE\"\nread = [\"else=OUTSIDE\"]\nmax_depth = 2\nstrict_paths = true\n",
    );
    assert_eq!(check["name"], "alike");
    assert_eq!(
        check["grants"],
        json!([{"label": "inputs", "rights": "read"}])
    );
    assert_eq!(check["policy"]["max_depth"], 3);
    let other = &check["further"][0];
    assert_eq!(other["name"], "other");
    assert_eq!(
        other["grants"],
        json!([{"label": "else", "rights": "read"}])
    );
    assert_eq!(other["policy"]["max_depth"], 2);
    assert_eq!(other["policy"]["overwrite"], "ask");
    assert_eq!(other["policy"]["strict_paths"], true);
}

#[test]
fn each_is_called_with_its_own_grants() {
    let desk = Desk::new();
    fs::write(desk.fixture.outside().join("secret"), "hello").unwrap();
    let config = "[component.mine]\nfile = \"FILE\"\nread = [\"INPUTS\"]\n\
                  [component.its]\nfile = \"FILE\"\nread = [\"OUTSIDE\"]\n";
    let arguments = r#"{"path": "secret"}"#;
    let its = desk.run(&["call", "its__read_file", arguments], config);
    assert_eq!(its.success()["content"], "hello");
    let mine = desk.run(&["call", "mine__read_file", arguments], config);
    assert_eq!(mine.refusal()["code"], "not-found");
}

#[test]
fn a_digest_in_the_table_is_held_to() {
    let desk = Desk::new();
    let digest = sha256(fs::read(built_in()).unwrap());
    let config = |digest: &str| format!("[component.a]\nfile = \"FILE\"\nsha256 = \"{digest}\"\n");
    desk.check(&config(&digest));
    let run = desk.run(&["check"], &config(&"0".repeat(64)));
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("digest-mismatch"), "{run:?}");
}

/// It is no file, and still what it is: another version of the program has another one.
#[test]
fn the_built_in_component_is_held_to_a_digest_too_and_has_no_signature() {
    let desk = Desk::new();
    let digest = sha256(fs::read(built_in()).unwrap());
    let table = |more: &str| format!("[component.a]\nfile = \"built-in\"\n{more}\n");
    let pinned = |digest: &str| table(&format!("sha256 = \"{digest}\""));
    assert_eq!(desk.check(&pinned(&digest))["component"], digest);
    assert_eq!(desk.check(&pinned(&digest.to_uppercase()))["name"], "a");
    let run = desk.run(&["check"], &pinned(&"0".repeat(64)));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("digest-mismatch"), "{run:?}");
    let run = desk.run(&["check"], &table("require_signature = true"));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("no signature of its own"), "{run:?}");
    desk.check(&table("require_signature = false"));
    // What is said of all components is said of files.
    desk.check(&format!("require_signature = true\n{}", table("")));
}

#[test]
fn what_cannot_stand_in_a_table_is_told_with_its_place() {
    let desk = Desk::new();
    for (config, words) in [
        ("[component.a]\n", "names no `file`"),
        (
            "[component]\na = \"FILE\"\n",
            "rootbound.toml:2:5: `component.a` is a table",
        ),
        (
            "[component.a]\nfile = \"FILE\"\naudit = \"x\"\n",
            "there is no key `audit`",
        ),
        (
            "[component.a]\nfile = \"FILE\"\nno_landlock = true\n",
            "there is no key `no_landlock`",
        ),
        (
            "[component.a]\nfile = \"FILE\"\nimport = [\"sockets\"]\n",
            "`sockets` is not one of",
        ),
        (
            "[component.a__b]\nfile = \"FILE\"\n",
            "cannot be a component's name",
        ),
        ("[component.a]\nfile = 7\n", "`file` takes text"),
        (
            "[component.a]\nfile = \"FILE\"\nsha256 = \"abc\"\n",
            "rootbound.toml:3:10: a digest is 64 hexadecimal digits",
        ),
    ] {
        let run = desk.run(&["check"], config);
        assert_eq!(run.status, Some(2), "{config}: {run:?}");
        assert!(run.stderr.contains(words), "{words}: {run:?}");
    }
}

#[test]
fn components_of_the_command_line_take_the_place_of_all_tables() {
    let desk = Desk::new();
    let run = desk.run(
        &["check", "--json", "--component", "built-in"],
        "[component.a]\nfile = \"FILE\"\n",
    );
    assert_eq!(run.success()["name"], "files");
    assert_eq!(run.success()["further"], Value::Null);
}

/// One log and one approver are for all components, whatever has a table.
#[test]
fn what_is_of_the_process_holds_for_components_with_tables_too() {
    let desk = Desk::new();
    desk.fixture.input("old.md", "old");
    let log = desk.cli.state().join("audit.jsonl");
    let audit = format!("--audit={}", log.display());
    let delete = ["call", "delete_file", r#"{"path": "old.md"}"#];
    let options = ["--no-landlock", "--approve=allow", &audit];
    let config = "work = \"INPUTS\"\n[component.a]\nfile = \"FILE\"\n";
    let run = desk.run(&[&delete[..], &options].concat(), config);
    assert_eq!(run.success()["deleted"], true);
    let genesis = fs::read_to_string(&log).unwrap();
    assert!(genesis.contains("\"confinement\":\"none\""), "{genesis}");
}
