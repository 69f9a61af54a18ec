//! `rootbound check --print-config`: every option, its value, and where that comes from.

use std::fmt::Write;

use rootbound::escaped;
use serde_json::{Map, Value, json};

use super::settings::{Origin, Settled, Sources};

pub(super) fn shown(sources: &Sources, policy: &Value, as_json: bool) -> String {
    let settled: Vec<Settled> = (sources.settled.iter())
        .map(|one| in_force(one, policy))
        .collect();
    match as_json {
        true => to_json(sources, &settled).to_string(),
        false => to_text(sources, &settled),
    }
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

fn to_json(sources: &Sources, settled: &[Settled]) -> Value {
    let options: Map<String, Value> = (settled.iter())
        .map(|one| (one.key.clone(), describe(one)))
        .collect();
    let file = sources.file.as_ref().map(|file| file.display().to_string());
    json!({ "file": file, "options": options })
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
fn to_text(sources: &Sources, settled: &[Settled]) -> String {
    let mut text = String::new();
    for one in settled {
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
            value => writeln!(text, "{} = {value}  # {origin}", one.key),
        };
    }
    text.truncate(text.trim_end().len());
    text
}
