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
    let rows: [(&str, &[&str], &[&str]); 11] = [
        ("",                                &[],                                &ALL),
        ("deny = [\"*.pem\"]",              &[],                                &["a.md", "a.txt", "a.key", "docs/a.md", "docs/a.txt"]),
        ("deny = [\"*.pem\"]",              &["--deny=*.key"],                  &["a.md", "a.txt", "docs/a.md", "docs/a.txt"]),
        ("deny = [\"*.pem\"]",              &["--deny=docs", "--deny=*.key"],   &["a.md", "a.txt"]),
        // What is taken back is so in words.
        ("deny = [\"*.pem\", \"*.key\"]",   &["--deny=!a.pem"],                 &["a.md", "a.txt", "a.pem", "docs/a.md", "docs/a.txt"]),
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
            "value": ["*.pem", "*.key", "!b.pem"],
            "origin": "command-line",
            "parts": [
                in_file(json!(["*.pem"]), 2),
                { "value": ["*.key", "!b.pem"], "origin": "command-line" },
            ],
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
    assert_eq!(policy["deny"], json!(["*.pem", "*.key", "!b.pem"]));
    let check = desk.run(&["check"], config, &further).stdout;
    for line in [
        "whatever is not `*.md`",
        "whatever is not `docs`",
        "what is `*.pem`, `*.key`, `!b.pem`",
    ] {
        assert!(check.contains(line), "{check}");
    }
    let shown = desk
        .run(&["check", "--print-config"], config, &further)
        .stdout;
    let file = desk.fixture.base().join("rootbound.toml");
    for line in [
        format!("  \"*.pem\",  # {}:2\n", file.display()),
        "  \"*.key\",  # command line\n".to_owned(),
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

/// A component's own table counts more than what is said of all; what the command line narrows
/// stays narrow.
#[test]
fn a_components_table_does_not_widen_what_the_command_line_narrows() {
    #[rustfmt::skip]
    let rows = [
        // What stands at the top of the file, in the table, on the command line; key and value.
        ("",                        "overwrite = \"allow\"",    "--overwrite=deny",         "overwrite",       json!("deny")),
        ("",                        "overwrite = \"deny\"",     "--overwrite=allow",        "overwrite",       json!("deny")),
        ("",                        "delete = \"allow\"",       "--delete=ask",             "delete",          json!("ask")),
        ("overwrite = \"deny\"",    "overwrite = \"ask\"",      "--strict-paths",           "overwrite",       json!("ask")),
        ("",                        "max_depth = 7",            "--max-depth=3",            "max_depth",       json!(3)),
        ("",                        "max_depth = 3",            "--max-depth=7",            "max_depth",       json!(3)),
        ("max_depth = 3",           "max_depth = 7",            "--strict-paths",           "max_depth",       json!(7)),
        ("",                        "max_memory = \"1GiB\"",    "--max-memory=64MiB",       "max_memory",      json!(64 << 20)),
        ("",                        "timeout_ms = \"9s\"",      "--timeout-ms=1s",          "timeout_ms",      json!(1000)),
        ("",                        "max_session_files = 9",    "--max-session-files=1",    "max_session_files", json!(1)),
        ("",                        "strict_paths = false",     "--strict-paths",           "strict_paths",    json!(true)),
        ("strict_paths = true",     "strict_paths = false",     "--max-depth=3",            "strict_paths",    json!(false)),
        ("",                        "protect_secrets = false",  "--protect-secrets",        "protect_secrets", json!(true)),
        ("deny = [\"a\"]",          "deny = [\"c\"]",           "--deny=b",                 "deny",            json!(["a", "b", "c"])),
        ("deny = [\"a\"]",          "deny = [\"c\"]",           "--strict-paths",           "deny",            json!(["a", "c"])),
        ("allow = [\"a\"]",         "allow = [\"c\"]",          "--strict-paths",           "allow",           json!(["c"])),
        ("allow = [\"a\"]",         "allow = [\"c\"]",          "--strict-paths",           "allow_also",      Value::Null),
        ("allow = [\"a\"]",         "allow = [\"c\"]",          "--allow=b",                "allow",           json!(["c"])),
        ("allow = [\"a\"]",         "allow = [\"c\"]",          "--allow=b",                "allow_also",      json!([["b"]])),
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
