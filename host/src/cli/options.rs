//! `rootbound check --print-config`: every option, its value, and where that comes from.

use std::fmt::Write;

use rootbound::{escaped, escaped_json};
use serde_json::{Map, Value, json};

use super::config::COMPONENT;
use super::opening::Opened;
use super::settings::{Origin, Settled, Sources};

/// For programs.
pub(super) fn as_json(sources: &Sources, opened: &Opened) -> String {
    let options: Map<String, Value> = settled(sources, opened)
        .into_iter()
        .map(|one| (one.key.clone(), describe(&one)))
        .collect();
    let file = sources.file.as_ref().map(|file| file.display().to_string());
    json!({ "file": file, "options": options }).to_string()
}

/// The options of the session, and those that are a component's own.
fn settled(sources: &Sources, opened: &Opened) -> Vec<Settled> {
    let mut all = sources.settled.clone();
    for one in &mut all {
        one.value = in_force(&one.key, &one.value, &opened.policy);
    }
    for (name, session) in opened.tenant.components() {
        if let Some(policy) = opened.policies.get(&name) {
            of_component(&mut all, &name, policy, &session.policy_json());
        }
    }
    all
}

/// The value that a policy goes by, which is known better than from what was given: defaults are
/// its own, and sizes are in bytes there.
fn in_force(id: &str, given: &Value, policy: &Value) -> Value {
    // Lists are in force as they were given, and the policy does not tell their parts.
    let known = policy.get(id).filter(|value| !value.is_array());
    known.unwrap_or(given).clone()
}

/// A component's own options, with what its manifest narrows of the policy that was set for it.
fn of_component(all: &mut Vec<Settled>, name: &str, set: &Value, narrowed: &Value) {
    let before = format!("{COMPONENT}.{name}.");
    for one in all.iter_mut() {
        if let Some(id) = one.key.strip_prefix(&before) {
            one.value = in_force(id, &one.value, set);
        }
    }
    let changed = |(id, value): &(&String, &Value)| set.get(id) != Some(value);
    for (id, value) in narrowed.as_object().into_iter().flatten().filter(changed) {
        let key = format!("{before}{id}");
        let declared = Settled {
            key: key.clone(),
            value: value.clone(),
            origin: Origin::Manifest,
            parts: Vec::new(),
            also: Vec::new(),
        };
        match all.iter_mut().find(|one| one.key == key) {
            Some(one) => *one = declared,
            None => all.push(declared),
        }
    }
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
        Origin::Manifest => "manifest",
    };
    let mut described = json!({ "value": value, "origin": name });
    if let Origin::File { line } = origin {
        described["line"] = json!(line);
    }
    described
}

/// In the language of the file, so that it could be one: but for two lists of patterns that cannot
/// be one, for which a file has no words. That key stands there twice, and no file with it is taken.
pub(super) fn as_text(sources: &Sources, opened: &Opened) -> String {
    let mut text = String::new();
    for one in settled(sources, opened) {
        let origin = |origin| shown_origin(sources, origin);
        let key = &one.key;
        // A table is the place for it, and where there is none the file is not said to have one.
        let has_table = |name: &str| sources.tables.iter().any(|table| table.name == name);
        let component = key
            .strip_prefix("component.")
            .and_then(|it| it.split_once('.'));
        let is_remark = match component {
            Some((name, _)) => !has_table(name),
            None => key == COMPONENT && !sources.tables.is_empty(),
        };
        if is_remark {
            text.push_str("# ");
        }
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
                "{key} = {value}  # {origin}; {}",
                match key.as_str() {
                    "allow" => "each of the two has to name it",
                    _ => "each of the two denies by itself",
                }
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
        Origin::Manifest => "its manifest".to_owned(),
    }
}
