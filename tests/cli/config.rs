//! The configuration file: strict, and overruled by the environment and the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::cli::{Cli, Run, open_to_everyone};

/// A directory with a configuration file, and beside it what the file can grant.
struct Place {
    base: TempDir,
    cli: Cli,
}

impl Place {
    fn with(config: &str) -> Self {
        let base = tempfile::tempdir().unwrap();
        for directory in [
            "etc",
            "etc/inputs",
            "etc/archive",
            "etc/reports",
            "elsewhere",
        ] {
            fs::create_dir(base.path().join(directory)).unwrap();
        }
        let place = Self {
            base,
            cli: Cli::new(),
        };
        fs::write(place.file(), config).unwrap();
        place
    }

    fn file(&self) -> PathBuf {
        self.base.path().join("etc/rootbound.toml")
    }

    fn check(&self, further: &[&str]) -> Run {
        let mut command = self.cli.command(["check", "--config"]);
        Run::of(command.arg(self.file()).args(further))
    }

    fn options(&self, further: &[&str]) -> Value {
        let all = [&["--print-config", "--format", "json"], further].concat();
        self.check(&all).success()["options"].clone()
    }

    /// Where the file is wrong and why.
    fn complaint(&self) -> String {
        let run = self.check(&[]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        let file = format!("error: {}:", self.file().display());
        let complaint = run.stderr.strip_prefix(&file);
        complaint
            .unwrap_or_else(|| panic!("{run:?}"))
            .trim_end()
            .to_owned()
    }
}

/// The schema is the list of keys.
fn schema() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rootbound.schema.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn keys() -> Vec<String> {
    let schema = schema();
    schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

#[test]
fn what_cannot_be_taken_is_told_with_its_place_and_a_suggestion() {
    #[rustfmt::skip]
    let rows = [
        ("max_read_byte = 1",               "1:1: there is no key `max_read_byte`; did you mean `max_read_bytes`?"),
        ("\n  overwrit = \"deny\"",         "2:3: there is no key `overwrit`; did you mean `overwrite`?"),
        ("overwrite = \"alow\"",            "1:13: `alow` is not one of `deny`, `ask`, `allow`; did you mean `allow`?"),
        ("# ä\nmax_read_bytes = \"10MB\"",  "2:18: `MB` is not a unit; did you mean `MiB`?"),
        ("max_write_bytes = \"1.5MiB\"",    "1:19: `1.5MiB` is a fraction; write a whole number of a smaller unit"),
        ("max_memory = \"99999999999GiB\"", "1:14: `99999999999GiB` is too large"),
        ("max_entries = \"many\"",          "1:15: `many` is not a whole number such as `100`"),
        ("max_entries = -1",                "1:15: `-1` is not a whole number such as `100`"),
        ("max_depth = 4294967296",          "1:13: `4294967296` is too large"),
        ("max_depth = 99999999999999999999", "1:13: `99999999999999999999` is too large"),
        ("deny = [\"a\", \"[b\"]",           "1:14: `[b` is not a pattern: "),
        ("default_encoding = \"klingon\"",  "1:20: `klingon` is no known encoding: "),
        ("allowed_paths = [\"a\"]",         "1:1: there is no key `allowed_paths`; directories are granted with `read`, `write` and `work`"),
        ("max_file_size = \"1MiB\"",        "1:1: there is no key `max_file_size`; `max_read_bytes` is for reading a file, `max_write_bytes` for what a call writes"),
        ("encoding = \"utf-8\"",            "1:1: there is no key `encoding`; did you mean `default_encoding`?"),
        ("limits.max_depth = 1",            "1:1: there is no key `limits`; the only sections are `[component.NAME]`"),
        ("timeout_ms = 0",                  "1:14: `0` leaves no time for anything"),
        ("max_handles = 0",                 "1:15: `0` leaves no call possible: leave it out"),
        ("max_calls_per_second = \"0\"",     "1:24: `0` leaves no call possible: leave it out"),
        ("max_memory = \"0MiB\"",            "1:14: `0MiB` leaves room for nothing: leave it out"),
        ("max_output_bytes = 0",            "1:20: `0` leaves room for nothing: leave it out"),
        ("audit_max_bytes = 0",             "1:19: `0` leaves room for nothing: leave it out"),
        ("audit_max_age = \"0s\"",           "1:17: `0s` is no time: leave it out"),
        ("audit = \"None\"",                 "1:9: `None` is not `none`; write that, or `./None` for a file of that name"),
        ("component = [\"x=Built-In\"]",      "1:14: `x=Built-In` is not `x=built-in`; write that, or `x=./Built-In`"),
        ("audit_max_bytes = 1\naudit = \"stderr\"", "1: `audit_max_bytes`: the audit log is no file"),
        ("\nremove_session_dir = true",      "2: `remove_session_dir`: it is about the directory of `session_dir`, which is not given"),
        ("timeout_ms = \"5 parsecs\"",      "1:14: `5 parsecs` is not a time such as `90s`, `24h` or `7d`"),
        ("strict_paths = \"yes\"",          "1:16: `strict_paths` takes `true` or `false`"),
        ("read = 1",                        "1:8: `read` takes a list of texts: `[\"…\", \"…\"]`"),
        ("read = [\"inputs\", 1]",          "1:19: `read` takes a list of texts: `[\"…\", \"…\"]`"),
        ("overwrite = true",                "1:13: `overwrite` takes text in quotes"),
        ("work = \"~/x\"",                  "1:8: `~` is not replaced here; write the whole path, or `./~…` for a name"),
        ("work = \"\"",                     "1:8: the path is empty; write `.` for the directory of this file"),
        ("deny = [\"a\"]\ndeny = [\"b\"]",  "2:1: duplicate key"),
        ("overwrite = deny",                "1:13: string values must be quoted, expected literal string"),
        ("[limits]\nmax_depth = 1",         "1:2: there is no key `limits`; the only sections are `[component.NAME]`"),
        ("config = \"x\"",                  "1:1: there is no key `config`; the keys are"),
        ("dry_run = true",                  "1:1: there is no key `dry_run`; the keys are"),
    ];
    for (config, complaint) in rows {
        let told = Place::with(config).complaint();
        assert!(told.starts_with(complaint), "{config:?}: {told}");
    }
}

#[test]
fn a_file_that_cannot_be_read_stops_the_start() {
    type Make = fn(&Path);
    let rows: [(&str, Make); 7] = [
        ("no such file", |_| {}),
        ("not UTF-8", |file| fs::write(file, b"# \xff\n").unwrap()),
        ("not a regular file", |file| fs::create_dir(file).unwrap()),
        ("not a regular file", crate::support::pipe),
        ("too large", |file| {
            fs::write(file, "#".repeat((1 << 20) + 1)).unwrap()
        }),
        ("no such file", |file| {
            std::os::unix::fs::symlink("absent", file).unwrap()
        }),
        ("too many", |file| {
            std::os::unix::fs::symlink(file, file).unwrap()
        }),
    ];
    for (why, make) in rows {
        let place = Place::with("");
        fs::remove_file(place.file()).unwrap();
        make(&place.file());
        let run = place.check(&[]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains("cannot be read"), "{run:?}");
        assert!(
            run.stderr.to_lowercase().contains(&why.to_lowercase()),
            "{why}: {run:?}"
        );
    }
    // A mebibyte is no more than anybody writes.
    let place = Place::with(&"#".repeat(1 << 20));
    assert_eq!(place.check(&[]).status, Some(0));
}

#[test]
fn a_file_that_another_user_keeps_closed_stops_the_start() {
    let place = Place::with("max_depth = 1");
    for directory in [place.base.path(), &place.base.path().join("etc")] {
        open_to_everyone(directory);
    }
    fs::set_permissions(place.file(), fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = place.cli.command_as_nobody(["check", "--config"]);
    let run = Run::of(command.arg(place.file()));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("Permission denied"), "{run:?}");
}

/// As editors of other systems save it.
#[test]
fn a_byte_order_mark_and_the_line_ends_of_other_systems_change_nothing() {
    let place = Place::with("\u{feff}max_depth = 3\r\noverwrite = \"ask\"\r\n");
    let options = place.options(&[]);
    assert_eq!(options["max_depth"]["value"], 3);
    assert_eq!(options["overwrite"]["line"], 2);
    let told = Place::with("\u{feff}max_dept = 3\r\n").complaint();
    assert!(
        told.starts_with("1:1: there is no key `max_dept`"),
        "{told}"
    );
}

#[test]
fn a_root_that_contains_the_configuration_is_refused() {
    for config in ["read = [\".\"]", "write = \".\"", "work = \"..\""] {
        let run = Place::with(config).check(&[]);
        assert_eq!(run.status, Some(2), "{config}: {run:?}");
        assert!(
            run.stderr.contains("it contains the configuration"),
            "{run:?}"
        );
    }
    // A link elsewhere to a file inside does not hide it.
    let place = Place::with("");
    let link = place.base.path().join("link.toml");
    std::os::unix::fs::symlink(place.file(), &link).unwrap();
    let granted = place.base.path().join("etc");
    let mut command = place.cli.command(["check", "--config"]);
    let run = Run::of(command.arg(link).arg("--read").arg(granted));
    assert_eq!(run.status, Some(2), "{run:?}");
}

#[test]
fn relative_paths_start_at_the_file() {
    let place =
        Place::with("read = [\"inputs\", \"papers=archive\", \"./inputs\"]\nwrite = \"reports\"");
    fs::write(place.base.path().join("etc/archive/t"), "text").unwrap();
    let check = place.check(&["--json"]).success();
    let labels: Vec<&str> = check["grants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|grant| grant["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["inputs", "papers", "inputs", "reports"]);
}

/// One option of each kind, by all four sources.
#[test]
fn flags_beat_the_environment_beats_the_file_beats_the_defaults() {
    let config = "work = \"inputs\"\nmax_read_bytes = \"1MiB\"\ntimeout_ms = \"2s\"\nstrict_paths = true\ndeny = [\"a\"]\n";
    let place = Place::with(config);
    let options = place.options(&["--max-read-bytes", "7", "--deny", "b"]);
    let shown = |key: &str| {
        (
            options[key]["value"].clone(),
            options[key]["origin"].clone(),
        )
    };
    assert_eq!(shown("max_read_bytes"), (json!(7), json!("command-line")));
    assert_eq!(shown("deny"), (json!(["a", "b"]), json!("command-line")));
    assert_eq!(shown("timeout_ms"), (json!(2000), json!("file")));
    assert_eq!(options["timeout_ms"]["line"], 3);
    assert_eq!(shown("strict_paths"), (json!(true), json!("file")));
    assert_eq!(shown("max_depth"), (json!(10), json!("default")));
    assert_eq!(shown("work").1, "file");

    let elsewhere = place.base.path().join("elsewhere");
    let run = |further: &[&str]| {
        let mut command =
            place
                .cli
                .command(["check", "--print-config", "--format=json", "--config"]);
        command
            .arg(place.file())
            .args(further)
            .env("ROOTBOUND_WORK_DIR", &elsewhere);
        Run::of(&mut command).success()["options"]["work"].clone()
    };
    assert_eq!(run(&[])["origin"], "environment");
    assert_eq!(run(&[])["value"], json!(elsewhere));
    let inputs = place.base.path().join("etc/archive");
    let inputs = inputs.to_str().unwrap();
    assert_eq!(run(&["--work", inputs])["origin"], "command-line");
    // What is read says nothing of what is written.
    assert_eq!(run(&["--read", inputs])["origin"], "environment");
    assert_eq!(run(&["--write", inputs])["value"], Value::Null);
}

#[test]
fn the_environment_can_name_the_file() {
    let place = Place::with("max_depth = 3");
    let mut command = place.cli.command(["check", "--json"]);
    let run = Run::of(command.env("ROOTBOUND_CONFIG", place.file()));
    assert_eq!(run.success()["policy"]["max_depth"], 3);
    let mut command = place.cli.command(["check", "--json"]);
    let run = Run::of(command.env("ROOTBOUND_CONFIG", ""));
    assert_eq!(run.success()["policy"]["max_depth"], 10);
}

#[test]
fn what_is_printed_is_a_file_of_the_same_meaning() {
    let place = Place::with(
        "read = [\"inputs\"]\noverwrite = \"ask\"\nmax_memory = \"64MiB\"\ndeny = [\"*.pem\"]\n",
    );
    let printed = place.check(&["--print-config"]);
    assert_eq!(printed.status, Some(0), "{printed:?}");
    assert!(
        printed.stdout.contains("max_memory = 67108864  # "),
        "{printed:?}"
    );
    assert!(printed.stdout.contains(":3\n"), "{printed:?}");
    let again = Place::with(&printed.stdout);
    let policy = |place: &Place| place.check(&["--json"]).success()["policy"].clone();
    assert_eq!(policy(&again), policy(&place));
}

#[test]
fn calls_go_by_the_file() {
    let place = Place::with("work = \"reports\"\nmax_write_bytes = 3\n");
    let write = |content: &str| {
        let arguments = json!({ "path": "t", "content": content });
        let config = place.file();
        place.cli.call(
            "write_file",
            &arguments,
            ["--config".as_ref(), config.as_os_str()],
        )
    };
    assert_eq!(write("four").refusal()["limit"], "max_write_bytes");
    write("tri").success();
    assert!(place.base.path().join("etc/reports/t").exists());
}

fn example() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rootbound.example.toml");
    fs::read_to_string(file).unwrap()
}

#[test]
fn the_example_starts_a_session() {
    let place = Place::with(&example());
    fs::create_dir(place.base.path().join("etc/archive/papers")).unwrap();
    let check = place.check(&["--json"]).success();
    assert_eq!(check["grants"].as_array().unwrap().len(), 3);
    assert_eq!(check["policy"]["protect_secrets"], true);
}

/// What the example shows as defaults are the defaults, and every key stands there.
#[test]
fn the_example_has_every_key() {
    let set = |line: &str| -> Option<(String, String)> {
        let (key, value) = line.trim_start_matches('#').split_once(" = ")?;
        let is_key = key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        is_key.then(|| {
            (
                key.to_owned(),
                value.split("  #").next().unwrap().trim().to_owned(),
            )
        })
    };
    let mut shown: Vec<String> = example()
        .lines()
        .filter_map(set)
        .map(|(key, _)| key)
        .collect();
    let mut known = keys();
    shown.sort();
    known.sort();
    assert_eq!(shown, known);
    let nothing = Place::with("").options(&[]);
    let commented: Vec<String> = example()
        .lines()
        .filter(|line| line.starts_with('#') && set(line).is_some())
        .map(|line| line[1..].to_owned())
        .collect();
    let exceptions = [
        "max_session_write_bytes",
        "max_session_files",
        "max_calls_per_second",
        "work",
        "approve",
        "audit",
        "audit_key",
        "audit_max_bytes",
        "audit_max_age",
        "compile_timeout_ms",
        "component",
        "lock",
        "session_dir",
        "default_encoding",
        "otlp",
    ];
    for line in commented {
        let (key, _) = set(&line).unwrap();
        if !exceptions.contains(&key.as_str()) {
            let value = Place::with(&line).options(&[])[&key]["value"].clone();
            assert_eq!(value, nothing[&key]["value"], "{line}");
        }
    }
}
