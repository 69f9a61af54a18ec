//! `rootbound check --print-config`: every option, its value, and where that comes from.

use std::fmt::Write;

use rootbound::{escaped, escaped_json};
use serde_json::{Map, Value, json};

use super::settings::{Origin, Settled, Sources};

/// For programs.
pub(super) fn as_json(sources: &Sources, policy: &Value) -> String {
    let options: Map<String, Value> = (settled(sources, policy))
        .map(|one| (one.key.clone(), describe(&one)))
        .collect();
    let file = sources.file.as_ref().map(|file| file.display().to_string());
    json!({ "file": file, "options": options }).to_string()
}

fn settled(sources: &Sources, policy: &Value) -> impl Iterator<Item = Settled> {
    sources.settled.iter().map(|one| in_force(one, policy))
}

/// An option with the value that the session goes by, which for the policy's is known better
/// than from what was given: defaults are its own, and sizes are in bytes there.
fn in_force(given: &Settled, policy: &Value) -> Settled {
    let mut settled = given.clone();
    // Lists are in force as they were given, and the policy does not tell their parts.
    if let Some(value) = policy.get(&given.key).filter(|value| !value.is_array()) {
        settled.value = value.clone();
    }
    settled
}

fn describe(settled: &Settled) -> Value {
    let mut option = with_origin(json!(settled.value), settled.origin);
    for (name, parts) in [("parts", &settled.parts), ("also", &settled.also)] {
        if !parts.is_empty() {
            let parts = parts.iter();
            let described = parts.map(|part| with_origin(json!(part.value), part.origin));
            option[name] = described.collect();
        }
    }
    option
}

fn with_origin(value: Value, origin: Origin) -> Value {
    let name = match origin {
        Origin::Default => "default",
        Origin::File { .. } => "file",
        Origin::Environment => "environment",
        Origin::CommandLine => "command-line",
    };
    let mut described = json!({ "value": value, "origin": name });
    if let Origin::File { line } = origin {
        described["line"] = json!(line);
    }
    described
}

/// In the language of the file, so that it could be one: but for two lists that allow, for which
/// a file has no words. That key stands there twice, and no file with it is taken.
pub(super) fn as_text(sources: &Sources, policy: &Value) -> String {
    let mut text = String::new();
    for one in settled(sources, policy) {
        let origin = |origin| shown_origin(sources, origin);
        let key = &one.key;
        // JSON's texts, numbers, booleans and arrays of texts are TOML's as well. Writing to a
        // string cannot fail.
        let _ = match &one.value {
            Value::Null => writeln!(text, "# {key} is not set"),
            _ if !one.parts.is_empty() => writeln!(text, "{key} = [\n{}]", parts(sources, &one)),
            value => {
                let value = value.to_string();
                let origin = origin(one.origin);
                writeln!(text, "{key} = {}  # {origin}", escaped_json(&value))
            }
        };
        for also in &one.also {
            let (value, origin) = (json!(also.value).to_string(), origin(also.origin));
            let value = escaped_json(&value);
            let _ = writeln!(
                text,
                "{key} = {value}  # {origin}; each of the two has to name it"
            );
        }
    }
    text
}

/// One line for each value, with where it comes from.
fn parts(sources: &Sources, settled: &Settled) -> String {
    let mut text = String::new();
    for part in &settled.parts {
        let origin = shown_origin(sources, part.origin);
        for value in &part.value {
            // Writing to a string cannot fail.
            let value = json!(value).to_string();
            let _ = writeln!(text, "  {},  # {origin}", escaped_json(&value));
        }
    }
    text
}

fn shown_origin(sources: &Sources, origin: Origin) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::File { line } => match &sources.file {
            // A name with a line end must not begin a line of its own.
            Some(file) => escaped(&format!("{}:{line}", file.display())),
            None => "file".to_owned(),
        },
        Origin::Environment => "environment".to_owned(),
        Origin::CommandLine => "command line".to_owned(),
    }
}
