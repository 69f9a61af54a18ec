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
    if let Some(value) = policy.get(&given.key) {
        settled.value = value.clone();
    }
    settled
}

fn describe(settled: &Settled) -> Value {
    let origin = match settled.origin {
        Origin::Default => "default",
        Origin::File { .. } => "file",
        Origin::Environment => "environment",
        Origin::CommandLine => "command-line",
    };
    let mut option = json!({ "value": settled.value, "origin": origin });
    if let Origin::File { line } = settled.origin {
        option["line"] = json!(line);
    }
    option
}

/// In the language of the file, so that it could be one.
pub(super) fn as_text(sources: &Sources, policy: &Value) -> String {
    let mut text = String::new();
    for one in settled(sources, policy) {
        let origin = match one.origin {
            Origin::Default => "default".to_owned(),
            Origin::File { line } => match &sources.file {
                // A name with a line end must not begin a line of its own.
                Some(file) => escaped(&format!("{}:{line}", file.display())),
                None => "file".to_owned(),
            },
            Origin::Environment => "environment".to_owned(),
            Origin::CommandLine => "command line".to_owned(),
        };
        // JSON's texts, numbers, booleans and arrays of texts are TOML's as well. Writing to a
        // string cannot fail.
        let _ = match &one.value {
            Value::Null => writeln!(text, "# {} is not set", one.key),
            value => {
                let value = value.to_string();
                writeln!(text, "{} = {}  # {origin}", one.key, escaped_json(&value))
            }
        };
    }
    text
}
