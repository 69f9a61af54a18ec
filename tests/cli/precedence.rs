//! What counts, for every key: the command line before the environment before the file before
//! the defaults; and of what narrows, all of it (`tests/cli/narrowing.rs`).

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::hostile::component;
use crate::support::cli::{Cli, Run};

/// Keys of which a session takes one at most.
const WRITES: [&str; 3] = ["write", "work", "session_dir"];

/// A directory with everything that keys can name, and a configuration file beside it.
struct Place {
    base: TempDir,
    cli: Cli,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            base: tempfile::tempdir().unwrap(),
            cli: Cli::new(),
        };
        for directory in ["one", "two", "three"] {
            fs::create_dir(place.base.path().join(directory)).unwrap();
            let file = place.base.path().join(format!("{directory}.wasm"));
            fs::write(file, component::bytes()).unwrap();
            let lock = place.base.path().join(format!("{directory}.lock"));
            fs::write(lock, "lock = 1\n").unwrap();
            let key = place.base.path().join(format!("{directory}.key"));
            let mut keygen = place.cli.command(["audit", "keygen"]);
            assert_eq!(Run::of(keygen.arg(key)).status, Some(0));
        }
        for directory in ["four", "five"] {
            fs::create_dir(place.base.path().join(directory)).unwrap();
        }
        place
    }

    fn file(&self) -> std::path::PathBuf {
        self.base.path().join("rootbound.toml")
    }

    fn options(&self, config: &str, further: &[String], environment: &[(&str, &str)]) -> Value {
        fs::write(self.file(), config).unwrap();
        let mut command = self
            .cli
            .command(["check", "--print-config", "--format=json"]);
        command.arg("--config").arg(self.file()).args(further);
        command.envs(environment.iter().copied());
        let run = Run::of(command.current_dir(self.base.path()));
        assert_eq!(run.status, Some(0), "{config} {further:?}: {run:?}");
        run.json()["options"].clone()
    }
}

fn keys() -> Map<String, Value> {
    let schema = include_str!("../../docs/rootbound.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    schema["properties"].as_object().unwrap().clone()
}

/// Three values of a key, for the file, the environment and the command line, by what the schema
/// says of it.
fn values(key: &str, schema: &Value) -> [Value; 3] {
    if let Some(choices) = schema["enum"].as_array() {
        let last = choices.len() - 1;
        return [&choices[last], &choices[0], &choices[0]].map(Clone::clone);
    }
    let paths = |suffix: &str| ["one", "two", "three"].map(|name| json!(format!("{name}{suffix}")));
    match (key, &schema["type"]) {
        ("component", _) => paths(".wasm").map(|path| json!([path])),
        ("import", _) => ["clocks", "random", "stdio"].map(|name| json!([name])),
        ("audit_key", _) => paths(".key"),
        ("lock", _) => paths(".lock"),
        ("trusted_key", _) => {
            ["A", "B", "C"].map(|rest| json!([format!("RWQ{}", rest.repeat(53))]))
        }
        ("otlp", _) => [1, 2, 3].map(|port| json!(format!("http://localhost:{port}"))),
        ("audit", _) => ["stderr", "none", "log"].map(|name| json!(name)),
        ("audit_max_age", _) => ["1h", "2h", "3h"].map(|age| json!(age)),
        ("default_encoding", _) => ["latin1", "gbk", "big5"].map(|name| json!(name)),
        (_, kind) if kind == "boolean" => [false, true, true].map(|flag| json!(flag)),
        (_, kind) if is_list(kind) => ["one", "two", "three"].map(|item| json!([item])),
        (_, kind) if kind == "string" => paths(""),
        _ => [70_000, 80_000, 90_000].map(|number| json!(number)),
    }
}

/// What has to be said as well, so that the key means anything.
fn partner(key: &str) -> Option<&'static str> {
    (key == "remove_session_dir").then_some("session_dir")
}

/// A list, which may also be given as one text.
fn is_list(kind: &Value) -> bool {
    kind == "array"
        || kind
            .as_array()
            .is_some_and(|kinds| kinds.contains(&json!("array")))
}

fn flags(key: &str, value: &Value) -> Vec<String> {
    let option = format!("--{}", key.replace('_', "-"));
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    match value {
        Value::Bool(true) => vec![option],
        Value::Array(items) => items
            .iter()
            .map(|item| format!("{option}={}", text(item)))
            .collect(),
        value => vec![format!("{option}={}", text(value))],
    }
}

/// The variables, as the help names them.
fn variables() -> Vec<(String, String)> {
    let help = Cli::new().run(["call", "--help"]).stdout;
    let options = help.split("\n      --").skip(1);
    let variables = options.filter_map(|option| {
        let (_, rest) = option.split_once("[env: ")?;
        let name = option.split([' ', '\n']).next()?;
        Some((name.replace('-', "_"), rest.split(']').next()?.to_owned()))
    });
    // The file itself, and what is of one call alone, have no key.
    let keys = keys();
    variables
        .filter(|(key, _)| keys.contains_key(key))
        .collect()
}

/// A path is told with its directory in front.
fn assert_shown(options: &Value, key: &str, value: &Value, origin: &str) {
    let (shown, from) = (&options[key]["value"], &options[key]["origin"]);
    assert_eq!(from, origin, "{key}: {shown}");
    let last = |value: &Value| match value {
        Value::String(text) => json!(Path::new(text).file_name().unwrap().to_str().unwrap()),
        Value::Array(items) => {
            let names = items
                .iter()
                .map(|item| Path::new(item.as_str().unwrap()).file_name());
            json!(
                names
                    .map(|name| name.unwrap().to_str().unwrap())
                    .collect::<Vec<_>>()
            )
        }
        value => value.clone(),
    };
    assert_eq!(last(shown), last(value), "{key} from {origin}");
}

#[test]
fn for_every_key_the_command_line_counts_more_than_the_file_and_the_file_than_the_default() {
    let place = Place::new();
    let defaults = place.options("", &[], &[]);
    for (key, schema) in keys() {
        let [in_file, _, by_hand] = values(&key, &schema);
        assert_eq!(defaults[&key]["origin"], "default", "{key}");
        let config = format!("{key} = {in_file}\n");
        let options = place.options(&config, &[], &[]);
        assert_shown(&options, &key, &in_file, "file");
        assert_eq!(options[&key]["line"], 1, "{key}");
        let others =
            |(other, option): (&String, &Value)| *other == key || option["origin"] == "default";
        assert!(options.as_object().unwrap().iter().all(others), "{key}");
        let mut further = flags(&key, &by_hand);
        further.extend(partner(&key).map(|key| format!("--{}=two", key.replace('_', "-"))));
        let options = place.options(&config, &further, &[]);
        let counts = match key.as_str() {
            "deny" => json!(["one", "three"]),
            _ => by_hand.clone(),
        };
        assert_shown(&options, &key, &counts, "command-line");
        // What stands in the file is still looked at.
        fs::write(place.file(), format!("{key} = {{}}\n")).unwrap();
        let mut command = place.cli.command(["check", "--config"]);
        let run = Run::of(command.arg(place.file()).args(flags(&key, &by_hand)));
        assert_eq!(run.status, Some(2), "{key}: {run:?}");
    }
}

#[test]
fn for_every_variable_it_counts_more_than_the_file_and_less_than_the_command_line() {
    let place = Place::new();
    let variables = variables();
    assert!(variables.len() >= 2, "{variables:?}");
    for (key, variable) in variables {
        let [in_file, around, by_hand] = values(&key, &keys()[&key]);
        let config = format!("{key} = {in_file}\n");
        let text = around.as_str().unwrap();
        let set = [(variable.as_str(), text)];
        let options = place.options(&config, &[], &set);
        assert_shown(&options, &key, &around, "environment");
        let options = place.options(&config, &flags(&key, &by_hand), &set);
        assert_shown(&options, &key, &by_hand, "command-line");
        // An empty variable is as good as none.
        let options = place.options(&config, &[], &[(variable.as_str(), "")]);
        assert_shown(&options, &key, &in_file, "file");
        let options = place.options("", &[], &[(variable.as_str(), "")]);
        assert_eq!(options[&key]["origin"], "default", "{key}");
        assert_eq!(options[&key]["value"], Value::Null, "{key}");
    }
}

/// Each says which directory is written to, and the nearer one is meant: the command line's, else
/// that of `ROOTBOUND_WORK_DIR`, else the file's. `--read` and `read` say nothing of it.
#[test]
fn of_the_options_that_grant_writing_the_nearer_one_counts() {
    let place = Place::new();
    let options = || std::iter::once(None).chain(WRITES.map(Some));
    let around_directory = place.base.path().join("three");
    let around_directory = around_directory.to_str().unwrap();
    for (in_file, by_hand) in options().flat_map(|one| options().map(move |two| (one, two))) {
        for around in [None, Some(""), Some(around_directory)] {
            let mut config = "read = [\"four\"]\n".to_owned();
            config.extend(in_file.map(|key| format!("{key} = \"one\"\n")));
            let mut further: Vec<String> = Vec::new();
            further.extend(
                by_hand
                    .map(|key| flags(key, &json!("two")))
                    .into_iter()
                    .flatten(),
            );
            let environment: Vec<_> = (around.iter())
                .map(|directory| ("ROOTBOUND_WORK_DIR", *directory))
                .collect();
            let around = around.filter(|directory| !directory.is_empty());
            let expected = (by_hand.map(|key| (key, "command-line")))
                .or(around.map(|_| ("work", "environment")))
                .or(in_file.map(|key| (key, "file")));
            for read in [None, Some("--read=five")] {
                let all: Vec<String> = (further.iter().cloned())
                    .chain(read.map(str::to_owned))
                    .collect();
                let options = place.options(&config, &all, &environment);
                let row = format!("{in_file:?} {around:?} {by_hand:?} {read:?}");
                for key in WRITES {
                    let origin = expected.filter(|(it, _)| *it == key);
                    let origin = origin.map_or("default", |(_, origin)| origin);
                    assert_eq!(options[key]["origin"], origin, "{row}: {key}");
                }
                let origin = read.map_or("file", |_| "command-line");
                assert_eq!(options["read"]["origin"], origin, "{row}");
            }
        }
    }
}
