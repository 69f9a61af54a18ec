//! The JSON Schema of the configuration file, made from the options. It stands in
//! `docs/rootbound.schema.json`; a test writes it there.
#![expect(
    clippy::disallowed_methods,
    reason = "the test compares with a file of the repository"
)]

use std::path::Path;

use clap::{Arg, Command};
use serde_json::{Value, json};

use super::config::{self, COMPONENT, LABELLED, PATHS, Takes, key_of, keys};
use super::settings;

fn schema(command: &Command) -> Value {
    let mut options = properties(command);
    options[COMPONENT]["type"] = json!(["array", "string", "object"]);
    options[COMPONENT]["additionalProperties"] = json!({
        "type": "object",
        "properties": properties(&settings::table_command()),
        "additionalProperties": false,
        "required": ["file"],
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rootbound.toml",
        "description": "The options of a session: each key is the long name of an option, with `_` for `-`. A table `[component.NAME]` has those of one component.",
        "type": "object",
        "properties": options,
        "additionalProperties": false,
    })
}

fn properties(command: &Command) -> serde_json::Map<String, Value> {
    let describe = |arg: &Arg| {
        let mut schema = match Takes::of(arg) {
            Takes::Flag => json!({ "type": "boolean" }),
            Takes::Number => number_schema(arg, command),
            // One may stand for a list of one.
            Takes::List => {
                let mut one = text_schema(arg);
                one["items"] = one.clone();
                // What one of them is says nothing of the list.
                one.as_object_mut().unwrap().remove("enum");
                one["type"] = json!(["array", "string"]);
                one
            }
            Takes::Text => text_schema(arg),
        };
        if Takes::of(arg) == Takes::Text && !choices(arg).is_empty() {
            schema["enum"] = json!(choices(arg));
        }
        let help = arg.get_long_help().or(arg.get_help());
        schema["description"] = json!(help.map(ToString::to_string).unwrap_or_default());
        (key_of(arg), schema)
    };
    keys(command).map(describe).collect()
}

/// What the option takes is found out by trying.
fn number_schema(arg: &Arg, command: &Command) -> Value {
    const SIZE: &str = "^[0-9]+( ?(B|KiB|MiB|GiB|TiB))?$";
    const COUNT: &str = "^[0-9]+$";
    let takes = |value: &str| {
        let argument = format!("--{}={value}", arg.get_long().unwrap_or_default());
        let command = command.clone().no_binary_name(true);
        command.try_get_matches_from([argument]).is_ok()
    };
    let pattern = match (takes("1KiB"), takes("1s")) {
        (true, _) => SIZE.to_owned(),
        (_, true) => format!("{}|{COUNT}", time_pattern()),
        _ => COUNT.to_owned(),
    };
    let mut schema = json!({
        "type": ["integer", "string"],
        "minimum": u8::from(!takes("0")),
        "pattern": pattern,
    });
    if !takes("4294967296") {
        schema["maximum"] = json!(u32::MAX);
    }
    schema
}

fn choices(arg: &Arg) -> Vec<String> {
    let values = arg.get_possible_values();
    values
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect()
}

fn text_schema(arg: &Arg) -> Value {
    match arg.get_id().as_str() {
        "audit_max_age" => json!({ "type": "string", "pattern": time_pattern() }),
        // `~` stands for nothing in a file, and no path is empty.
        id if LABELLED.contains(&id) => {
            json!({ "type": "string", "pattern": "^([^=/]+=[^~]|[^=/~][^=/]*(/|$)|/)" })
        }
        id if PATHS.contains(&id) => json!({ "type": "string", "pattern": "^[^~]" }),
        "trusted_key" => json!({ "type": "string", "pattern": "^RW[A-Za-z0-9+/]{54}$" }),
        "sha256" => json!({ "type": "string", "pattern": "^[0-9A-Fa-f]{64}$" }),
        "import" => json!({ "type": "string", "enum": choices(arg) }),
        "allow" | "deny" => json!({ "type": "string", "minLength": 1 }),
        _ => json!({ "type": "string" }),
    }
}

/// Times as humantime takes them, such as `1h 30min`.
fn time_pattern() -> String {
    const UNITS: &str = "nanos|nsec|ns|usec|us|millis|msec|ms|seconds|second|secs|sec|s|minutes|\
        minute|mins|min|m|hours|hour|hrs|hr|h|days|day|d|weeks|week|wks|wk|w|months|month|years|\
        year|yrs|yr|y";
    format!("^([0-9]+([.][0-9]+)? ?({UNITS}) ?)+$")
}

/// Run with `ROOTBOUND_ACCEPT=1` to write the schema, and read what changed.
#[test]
fn the_schema_is_that_of_the_options() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rootbound.schema.json");
    let schema = serde_json::to_string_pretty(&schema(&settings::command())).unwrap() + "\n";
    if std::env::var_os("ROOTBOUND_ACCEPT").is_some() {
        std::fs::write(&file, &schema).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap_or_default(), schema);
}

/// Whether a value fits, by the part of JSON Schema that is used here. A word that is not known
/// fails the test, so that none goes unheeded.
fn fits(schema: &Value, value: &Value) -> bool {
    let rules = schema.as_object().unwrap().iter();
    rules.into_iter().all(|(word, rule)| match word.as_str() {
        "$schema" | "title" | "description" => true,
        "additionalProperties" | "required" => true,
        "type" => match rule {
            Value::Array(types) => types.iter().any(|name| is_of_type(name, value)),
            name => is_of_type(name, value),
        },
        "properties" => value
            .as_object()
            .unwrap()
            .iter()
            .all(|(name, member)| rule.get(name).is_some_and(|schema| fits(schema, member))),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| fits(rule, item))),
        "enum" => rule.as_array().unwrap().contains(value),
        "minimum" => value
            .as_i64()
            .is_none_or(|number| Some(number) >= rule.as_i64()),
        "maximum" => value
            .as_i64()
            .is_none_or(|number| Some(number) <= rule.as_i64()),
        "minLength" => value
            .as_str()
            .is_none_or(|text| Some(text.len() as u64) >= rule.as_u64()),
        "pattern" => value.as_str().is_none_or(|text| {
            regex_lite::Regex::new(rule.as_str().unwrap())
                .unwrap()
                .is_match(text)
        }),
        other => panic!("the test does not know `{other}`: teach it"),
    })
}

fn is_of_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        other => panic!("the test does not know the type `{other}`"),
    }
}

fn agree(text: &str) -> (bool, bool) {
    let command = settings::command();
    let value: Value = toml::from_str(text).unwrap();
    let loaded = config::settings(
        Path::new("f.toml"),
        text,
        &command,
        &settings::table_command(),
    )
    .is_ok();
    (loaded, fits(&schema(&command), &value))
}

#[test]
fn the_example_fits_its_schema() {
    let example = include_str!("../../../docs/rootbound.example.toml");
    assert_eq!(agree(example), (true, true));
    // The lines that show defaults, too.
    for line in example.lines().filter_map(|line| line.strip_prefix('#')) {
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        if keys(&settings::command()).any(|arg| key_of(arg) == key) {
            assert_eq!(agree(line), (true, true), "{line}");
        }
    }
}

#[test]
fn the_schema_takes_what_the_loader_takes_and_nothing_else() {
    #[rustfmt::skip]
    let taken = [
        "max_read_bytes = 0", "max_read_bytes = 10", "max_read_bytes = 1_000", "max_read_bytes = 0x10",
        "max_read_bytes = \"10\"", "max_read_bytes = \"10MiB\"", "max_read_bytes = \"10 KiB\"",
        "max_memory = \"1TiB\"", "max_depth = 4294967295", "max_depth = \"3\"", "max_entries = 4294967296",
        "timeout_ms = 1", "timeout_ms = \"5s\"", "timeout_ms = \"1500\"", "timeout_ms = \"1.5s\"",
        "timeout_ms = \"1m 30s\"", "audit_max_age = \"7d\"", "audit_max_age = \"2 weeks\"",
        "overwrite = \"ask\"", "toolset = \"single\"", "strict_paths = false", "read = []",
        "read = [\"a\", \"b=c\", \"./a=b\"]", "write = \"a\"", "deny = [\"*.pem\"]",
        "audit = \"none\"", "read = \"a\"", "deny = \"*.pem\"", "default_encoding = \"latin1\"",
    ];
    #[rustfmt::skip]
    let refused = [
        "max_read_bytes = -1", "max_read_bytes = 1.5", "max_read_bytes = true", "max_read_bytes = []",
        "max_read_bytes = \"\"", "max_read_bytes = \"10MB\"", "max_read_bytes = \"1.5MiB\"",
        "max_read_bytes = \"-1\"", "max_depth = 4294967296", "max_depth = \"3KiB\"", "max_depth = -1",
        "timeout_ms = 0", "timeout_ms = \"5 parsecs\"", "timeout_ms = \"5M\"", "timeout_ms = \"-5s\"",
        "audit_max_age = 7", "audit_max_age = \"7\"", "overwrite = \"alow\"", "overwrite = \"ASK\"",
        "overwrite = true", "strict_paths = \"yes\"", "strict_paths = 1", "read = 1", "read = [1]",
        "read = [\"~/a\"]", "read = [\"a=\"]", "read = [\"\"]", "write = \"\"", "write = \"~/a\"",
        "write = [\"a\"]", "deny = \"\"", "deny = [\"\"]", "read = [\"a=~/b\"]", "max_read_byte = 1",
        "[limits]\nmax_depth = 1", "config = \"f\"", "max_depth = 1979-05-27",
    ];
    for text in taken {
        assert_eq!(agree(text), (true, true), "{text}");
    }
    for text in refused {
        assert_eq!(agree(text), (false, false), "{text}");
    }
}
