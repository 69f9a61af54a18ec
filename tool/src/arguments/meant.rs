//! What an unknown argument stands for.

use super::explain::{is_of_type, kind, names, required};
use crate::{nearest, quoted};
use serde_json::{Map, Value};

/// A sentence on what was meant by unknown arguments, if anything known.
pub(super) fn meant(
    unknown: &[&str],
    members: &Map<String, Value>,
    schema: &Value,
) -> Option<String> {
    wrapped(unknown, members, schema)
        .or_else(|| inner(unknown, schema))
        .or_else(|| outer(unknown, members, schema))
}

/// Arguments that stand inside of one that there is not, such as `arguments` or `input`.
fn wrapped(unknown: &[&str], members: &Map<String, Value>, schema: &Value) -> Option<String> {
    let [name] = unknown else { return None };
    let inside = members[*name].as_object()?;
    let is_known = |inner: &String| names(schema).any(|known| known == inner);
    let is_wrapped = !inside.is_empty() && inside.keys().all(is_known);
    is_wrapped.then(|| {
        let inside = quoted(inside.keys().map(String::as_str));
        format!("give {inside} by itself, without `{name}` round it;")
    })
}

/// Arguments that stand at the wrong level: they belong into the items of an array.
fn inner(unknown: &[&str], schema: &Value) -> Option<String> {
    let properties = schema["properties"].as_object()?;
    let (name, there) = properties.iter().find_map(|(name, property)| {
        let there = unknown
            .iter()
            .map(|name| in_items(name, &property["items"]));
        Some((name, there.collect::<Option<Vec<_>>>()?))
    })?;
    let as_there = match there
        .iter()
        .zip(unknown)
        .all(|(there, given)| there == given)
    {
        true => String::new(),
        false => format!(" as {}", quoted(there.iter().copied())),
    };
    let unknown = quoted(unknown.iter().copied());
    Some(format!(
        "{unknown} belong into an object in the array `{name}`{as_there};"
    ))
}

/// What an argument is called in the items of an array.
fn in_items<'a>(name: &str, items: &'a Value) -> Option<&'a str> {
    let same = names(items).find(|known| *known == name);
    same.or_else(|| elsewhere(&name.to_ascii_lowercase(), names(items)))
}

/// Which arguments the unknown ones stand for.
fn outer(unknown: &[&str], members: &Map<String, Value>, schema: &Value) -> Option<String> {
    let mut taken: Vec<&str> = members.keys().map(String::as_str).collect();
    let mut meant = Vec::new();
    for name in unknown {
        let is_free = |known: &&str| !taken.contains(known);
        if let Some(known) = stands_for(name, &members[*name], unknown.len(), schema, is_free) {
            taken.push(known);
            meant.push(known);
        }
    }
    (!meant.is_empty()).then(|| format!("did you mean {}?", quoted(meant)))
}

/// What an argument is called elsewhere, and what such an argument is called here.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "dir directory folder cwd file filename uri",
        &["path", "dir_path", "file_path"],
    ),
    ("source src old_path source_path path", &["from"]),
    (
        "destination dest dst target new_path destination_path",
        &["to"],
    ),
    ("text data contents body file_text", &["content"]),
    (
        "start start_line first line from_line line_start tail view_range line_range range",
        &["offset"],
    ),
    (
        "lines count num max max_results max_lines head_limit n head end end_line line_end to_line",
        &["limit"],
    ),
    ("case_sensitive case_insensitive", &["ignore_case"]),
    (
        "include filter file_pattern file_glob file_type",
        &["glob", "pattern"],
    ),
    ("force recurse", &["recursive", "overwrite"]),
    ("replace force", &["overwrite"]),
    (
        "old_string old_str oldtext oldstring search find",
        &["old_text"],
    ),
    (
        "new_string new_str newtext newstring replacement replace replace_with",
        &["new_text"],
    ),
    ("replaceall", &["replace_all"]),
    ("max_depth levels", &["depth"]),
    ("page page_token next_cursor token", &["cursor"]),
];

/// The argument that an unknown one stands for: the only one that is missing, if the value
/// could be meant for it; else one of a near name, or of one that means the same.
fn stands_for<'a>(
    name: &str,
    value: &Value,
    unknown: usize,
    schema: &'a Value,
    is_free: impl Fn(&&str) -> bool,
) -> Option<&'a str> {
    let free = || names(schema).filter(|known| is_free(known));
    let fits = |known: &&str| is_of_type(value, kind(&schema["properties"][*known]));
    let mut missing = required(schema).filter(|known| is_free(known));
    let only = match (missing.next(), missing.next(), unknown) {
        (Some(only), None, 1) => Some(only).filter(fits),
        _ => None,
    };
    let plain = name.to_ascii_lowercase();
    only.or_else(|| elsewhere(&plain, free()))
        .or_else(|| nearest(name, free()).filter(|_| !has_a_meaning(&plain)))
        .or_else(|| part_of(&plain, free()))
}

/// Whether tools here have an argument of this name, so that it is no slip for another.
fn has_a_meaning(name: &str) -> bool {
    ELSEWHERE.iter().any(|(_, ours)| ours.contains(&name))
}

fn elsewhere<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let calling = |(theirs, _): &&(&str, _)| theirs.split(' ').any(|one| one == name);
    let mut ours = ELSEWHERE.iter().filter(calling).flat_map(|(_, ours)| *ours);
    ours.find_map(|ours| known.clone().find(|known| known == ours))
}

/// A known name with a word before or behind it, such as `file_path` or `pathname`.
fn part_of<'a>(name: &str, mut known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known.find(|known| {
        let is_long = known.len() > 3;
        is_long && (name.contains(known) || known.split('_').any(|word| word == name))
    })
}
