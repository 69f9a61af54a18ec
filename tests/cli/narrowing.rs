//! What narrows in one place is not undone by what stands in another.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::components::declaring::built_in;
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

/// A directory with files of several kinds, and a configuration that grants it.
struct Desk {
    cli: Cli,
    fixture: Fixture,
}

impl Desk {
    fn new() -> Self {
        let desk = Self {
            cli: Cli::new(),
            fixture: Fixture::new(),
        };
        for name in ["a.md", "a.txt", "a.pem", "a.key", "docs/a.md", "docs/a.txt"] {
            desk.fixture.work(name, "x");
        }
        desk
    }

    fn config(&self, text: &str) -> PathBuf {
        let file = self.fixture.base().join("rootbound.toml");
        let text = text.replace("FILE", &built_in().display().to_string());
        let work = self.fixture.workspace();
        let all = format!("work = \"{}\"\n{text}", work.display());
        fs::write(&file, all).unwrap();
        file
    }

    fn run(&self, arguments: &[&str], config: &str, further: &[&str]) -> Run {
        let mut command = self.cli.command(arguments);
        Run::of(
            command
                .arg("--config")
                .arg(self.config(config))
                .args(further),
        )
    }

    fn read(&self, path: &str, config: &str, further: &[&str]) -> Value {
        let arguments = json!({ "path": path }).to_string();
        let run = self.run(&["call", "read_file", &arguments], config, further);
        match run.status {
            Some(0) => json!("ok"),
            _ => run.refusal()["code"].clone(),
        }
    }

    fn options(&self, config: &str, further: &[&str]) -> Value {
        let print = ["check", "--print-config", "--format=json"];
        self.run(&print, config, further).success()["options"].clone()
    }
}

/// Which files can be read, for what the file and the command line say.
#[test]
fn patterns_that_deny_add_up_and_of_lists_that_allow_each_has_to_name_a_file() {
    const ALL: [&str; 6] = ["a.md", "a.txt", "a.pem", "a.key", "docs/a.md", "docs/a.txt"];
    #[rustfmt::skip]
    let rows: [(&str, &[&str], &[&str]); 12] = [
        ("",                                &[],                                &ALL),
        ("deny = [\"*.pem\"]",              &[],                                &["a.md", "a.txt", "a.key", "docs/a.md", "docs/a.txt"]),
        ("deny = [\"*.pem\"]",              &["--deny=*.key"],                  &["a.md", "a.txt", "docs/a.md", "docs/a.txt"]),
        ("deny = [\"*.pem\"]",              &["--deny=docs", "--deny=*.key"],   &["a.md", "a.txt"]),
        // A list takes back only what itself denies.
        ("deny = [\"*.pem\", \"!a.pem\"]",  &["--deny=*.key"],                  &["a.md", "a.txt", "a.pem", "docs/a.md", "docs/a.txt"]),
        ("deny = [\"*.pem\", \"*.key\"]",   &["--deny=docs", "--deny=!a.pem"],  &["a.md", "a.txt"]),
        ("allow = [\"*.md\"]",              &["--allow=*"],                     &["a.md", "docs/a.md"]),
        ("allow = [\"*\"]",                 &["--allow=*.md"],                  &["a.md", "docs/a.md"]),
        ("allow = [\"docs\"]",              &["--allow=*.md"],                  &["docs/a.md"]),
        ("allow = [\"docs\"]",              &["--allow=*.pem"],                 &[]),
        ("allow = [\"docs\"]",              &["--deny=*.md"],                   &["docs/a.txt"]),
        ("protect_secrets = true",          &["--deny=*.txt"],                  &["a.md", "docs/a.md"]),
    ];
    let desk = Desk::new();
    for (config, further, readable) in rows {
        for path in ALL {
            let expected = if readable.contains(&path) {
                "ok"
            } else {
                "pattern-denied"
            };
            let answer = desk.read(path, config, further);
            assert_eq!(answer, expected, "{config} {further:?}: {path}");
        }
    }
}

#[test]
fn the_origin_of_each_list_is_shown() {
    let desk = Desk::new();
    let config = "deny = [\"*.pem\"]\nallow = [\"docs\"]\n";
    let further = ["--deny=*.key", "--deny=!b.pem", "--allow=*.md"];
    let options = desk.options(config, &further);
    let in_file = |list: Value, line: u32| json!({ "value": list, "origin": "file", "line": line });
    assert_eq!(
        options["deny"],
        json!({
            "value": ["*.key", "!b.pem"],
            "origin": "command-line",
            "also": [in_file(json!(["*.pem"]), 2)],
        })
    );
    assert_eq!(
        options["allow"],
        json!({
            "value": ["*.md"],
            "origin": "command-line",
            "also": [in_file(json!(["docs"]), 3)],
        })
    );
    let policy = desk.run(&["check", "--json"], config, &further).success()["policy"].clone();
    assert_eq!(policy["allow"], json!(["*.md"]));
    assert_eq!(policy["allow_also"], json!([["docs"]]));
    assert_eq!(policy["deny"], json!(["*.pem"]));
    let second = json!([{ "deny": ["*.key", "!b.pem"], "protect_secrets": false }]);
    assert_eq!(policy["deny_also"], second);
    let check = desk.run(&["check"], config, &further).stdout;
    for line in [
        "whatever is not `*.md`",
        "whatever is not `docs`",
        "what is `*.pem`",
        "what is `*.key`, `!b.pem`",
    ] {
        assert!(check.contains(line), "{check}");
    }
    let shown = desk
        .run(&["check", "--print-config"], config, &further)
        .stdout;
    let file = desk.fixture.base().join("rootbound.toml");
    for line in [
        "deny = [\"*.key\",\"!b.pem\"]  # command line\n".to_owned(),
        format!(
            "deny = [\"*.pem\"]  # {}:2; each of the two denies by itself\n",
            file.display()
        ),
        "allow = [\"*.md\"]  # command line\n".to_owned(),
        format!(
            "allow = [\"docs\"]  # {}:3; each of the two has to name it\n",
            file.display()
        ),
    ] {
        assert!(shown.contains(&line), "{line}: {shown}");
    }
}

/// As a file it would say less than what is in force, and so it is none.
#[test]
fn two_lists_that_allow_are_printed_so_that_no_file_loses_one() {
    let desk = Desk::new();
    let print = |config: &str, further: &[&str]| {
        let printed = desk
            .run(&["check", "--print-config"], config, further)
            .stdout;
        let file = desk.fixture.base().join("printed.toml");
        fs::write(&file, printed).unwrap();
        let mut command = desk.cli.command(["check", "--config"]);
        Run::of(command.arg(file))
    };
    let one = print("deny = [\"*.pem\"]\n", &["--deny=*.key", "--allow=*.md"]);
    assert_eq!(one.status, Some(0), "{one:?}");
    let two = print("allow = [\"docs\"]\n", &["--allow=*.md"]);
    assert_eq!(two.status, Some(2), "{two:?}");
    assert!(two.stderr.contains("duplicate key"), "{two:?}");
}

/// Where nothing is said of all, a component's own table counts; what is said narrows it, wherever
/// that stands.
#[test]
fn a_components_table_does_not_widen_what_is_said_of_the_session() {
    #[rustfmt::skip]
    let rows = [
        // What stands at the top of the file, in the table, on the command line; key and value.
        ("",                        "overwrite = \"allow\"",    "--overwrite=deny",         "overwrite",       json!("deny")),
        ("",                        "overwrite = \"deny\"",     "--overwrite=allow",        "overwrite",       json!("deny")),
        ("",                        "delete = \"allow\"",       "--delete=ask",             "delete",          json!("ask")),
        ("overwrite = \"deny\"",    "overwrite = \"ask\"",      "--strict-paths",           "overwrite",       json!("deny")),
        ("",                        "overwrite = \"ask\"",      "--strict-paths",           "overwrite",       json!("ask")),
        ("durability = \"full\"",   "durability = \"fast\"",    "--strict-paths",           "durability",      json!("full")),
        ("any_names = false",       "any_names = true",         "--strict-paths",           "portable_names",  json!(true)),
        ("",                        "any_names = true",         "--strict-paths",           "portable_names",  json!(false)),
        ("",                        "any_names = false",        "--any-names",              "portable_names",  json!(true)),
        ("protect_secrets = true",  "protect_secrets = false",  "--strict-paths",           "protect_secrets", json!(true)),
        ("",                        "max_depth = 7",            "--max-depth=3",            "max_depth",       json!(3)),
        ("",                        "max_depth = 3",            "--max-depth=7",            "max_depth",       json!(3)),
        ("max_depth = 3",           "max_depth = 7",            "--strict-paths",           "max_depth",       json!(3)),
        ("",                        "max_depth = 17",           "--strict-paths",           "max_depth",       json!(17)),
        ("",                        "max_memory = \"1GiB\"",    "--max-memory=64MiB",       "max_memory",      json!(64 << 20)),
        ("",                        "timeout_ms = \"9s\"",      "--timeout-ms=1s",          "timeout_ms",      json!(1000)),
        ("",                        "max_session_files = 9",    "--max-session-files=1",    "max_session_files", json!(1)),
        ("",                        "strict_paths = false",     "--strict-paths",           "strict_paths",    json!(true)),
        ("strict_paths = true",     "strict_paths = false",     "--max-depth=3",            "strict_paths",    json!(true)),
        ("",                        "protect_secrets = false",  "--protect-secrets",        "protect_secrets", json!(true)),
        ("deny = [\"a\"]",          "deny = [\"c\"]",           "--deny=b",                 "deny",            json!(["a", "b", "c"])),
        ("deny = [\"a\"]",          "deny = [\"c\"]",           "--strict-paths",           "deny",            json!(["a", "c"])),
        ("allow = [\"a\"]",         "allow = [\"c\"]",          "--strict-paths",           "allow",           json!(["c"])),
        ("allow = [\"a\"]",         "allow = [\"c\"]",          "--strict-paths",           "allow_also",      json!([["a"]])),
        ("allow = [\"a\"]",         "allow = []",               "--strict-paths",           "allow",           json!(["a"])),
        ("allow = [\"a\"]",         "allow = [\"c\"]",          "--allow=b",                "allow",           json!(["c"])),
        ("allow = [\"a\"]",         "allow = [\"c\"]",          "--allow=b",                "allow_also",      json!([["b"], ["a"]])),
        ("allow = [\"a\"]",         "max_depth = 3",            "--allow=b",                "allow",           json!(["b"])),
        ("allow = [\"a\"]",         "max_depth = 3",            "--allow=b",                "allow_also",      json!([["a"]])),
    ];
    let desk = Desk::new();
    for (top, table, by_hand, key, expected) in rows {
        let config = format!("{top}\n[component.one]\nfile = \"FILE\"\n{table}\n");
        let check = desk
            .run(&["check", "--json"], &config, &[by_hand])
            .success();
        assert_eq!(check["policy"][key], expected, "{top} {table} {by_hand}");
    }
}

/// Neither the other way round: what a list takes back is what itself denies, wherever each stands.
#[test]
fn no_source_takes_back_what_another_one_denies() {
    #[rustfmt::skip]
    let rows = [
        // What stands at the top of the file, in the table, on the command line; path and answer.
        ("",                              "deny = [\"x\", \"!a.md\"]",     "--deny=*.md",       "a.md",  "pattern-denied"),
        ("deny = [\"*.md\"]",             "deny = [\"x\", \"!a.md\"]",     "--strict-paths",    "a.md",  "pattern-denied"),
        ("deny = [\"*.md\"]",             "",                              "--deny=x --deny=!a.md", "a.md", "pattern-denied"),
        ("deny = [\"x\", \"!a.md\"]",     "deny = [\"*.md\"]",             "--strict-paths",    "a.md",  "pattern-denied"),
        ("deny = [\"*.md\", \"!a.md\"]",  "deny = [\"x\"]",                "--deny=y",          "a.md",  "ok"),
        ("",                              "deny = [\"x\", \"!*.pem\"]",    "--protect-secrets", "a.pem", "pattern-denied"),
        ("protect_secrets = true",        "deny = [\"x\", \"!*.pem\"]",    "--strict-paths",    "a.pem", "pattern-denied"),
        ("deny = [\"x\", \"!*.pem\"]",    "",                              "--protect-secrets", "a.pem", "pattern-denied"),
        ("protect_secrets = true",        "protect_secrets = false",       "--strict-paths",    "a.pem", "pattern-denied"),
        ("protect_secrets = true\ndeny = [\"!a.pem\"]", "deny = [\"x\"]",  "--deny=y",          "a.pem", "ok"),
        ("protect_secrets = true\ndeny = [\"!a.pem\"]", "",              "--protect-secrets", "a.pem", "pattern-denied"),
    ];
    let desk = Desk::new();
    for (top, table, by_hand, path, expected) in rows {
        let config = format!("{top}\n[component.one]\nfile = \"FILE\"\n{table}\n");
        let by_hand: Vec<&str> = by_hand.split(' ').collect();
        assert_eq!(
            desk.read(path, &config, &by_hand),
            expected,
            "{top} {table} {by_hand:?}"
        );
    }
    let alone = desk.run(&["check"], "deny = [\"*.md\"]", &["--deny=!a.md"]);
    assert_eq!(alone.status, Some(2), "{alone:?}");
    assert!(alone.stderr.contains("in its own list"), "{alone:?}");
}

/// What a component's table and its manifest say is told of the component, with where it stands.
#[test]
fn values_of_the_session_are_the_sessions_and_those_of_a_component_its_own() {
    let desk = Desk::new();
    let config = "strict_paths = true\n[component.one]\nfile = \"FILE\"\nstrict_paths = false\n\
                  max_read_bytes = 5\nmax_depth = 9\n";
    let options = desk.options(config, &["--max-depth=3"]);
    let shown = |key: &str| {
        (
            options[key]["value"].clone(),
            options[key]["origin"].clone(),
        )
    };
    let (file, by_hand) = (json!("file"), json!("command-line"));
    assert_eq!(shown("strict_paths"), (json!(true), file.clone()));
    assert_eq!(
        shown("component.one.strict_paths"),
        (json!(true), file.clone())
    );
    assert_eq!(options["component.one.strict_paths"]["line"], 2);
    assert_eq!(shown("max_read_bytes"), (json!(10 << 20), json!("default")));
    assert_eq!(shown("component.one.max_read_bytes"), (json!(5), file));
    assert_eq!(options["component.one.max_read_bytes"]["line"], 6);
    assert_eq!(shown("max_depth"), (json!(3), by_hand.clone()));
    assert_eq!(shown("component.one.max_depth"), (json!(3), by_hand));
}
