//! Which of two values of an option lets less happen, and lists that deny.

use std::collections::BTreeMap;
use std::ffi::OsString;

use rootbound::Denied;

use super::config::Setting;
use super::settings::{table_command, values_of};

/// Flags by which less may be done.
pub(super) const NARROWING: [&str; 3] = [PROTECT_SECRETS, "strict_paths", "require_signature"];
/// Flags by which more may be done.
pub(super) const WIDENING: [&str; 1] = ["any_names"];
/// Options that take a word, and the words, the narrowest first.
pub(super) const WORDS: [(&str, &[&str]); 3] = [
    ("overwrite", &["deny", "ask", "allow"]),
    ("delete", &["deny", "ask", "allow"]),
    ("durability", &["full", "fast"]),
];
/// Patterns that deny: each source's list does so by itself.
pub(super) const DENY: &str = "deny";
/// What is denied before the patterns of the same source.
pub(super) const PROTECT_SECRETS: &str = "protect_secrets";

/// Whether the first of two values of an option lets less happen than the second.
pub(super) fn is_narrower(id: &str, one: &[OsString], other: &[OsString]) -> bool {
    match (freedom(id, one), freedom(id, other)) {
        (Some(one), Some(other)) => one < other,
        _ => false,
    }
}

/// How much an option lets happen, to be compared with another value of it; `None` for options
/// that have no order.
fn freedom(id: &str, arguments: &[OsString]) -> Option<u64> {
    let is_on = !arguments.is_empty();
    if NARROWING.contains(&id) || WIDENING.contains(&id) {
        return Some(u64::from(is_on == WIDENING.contains(&id)));
    }
    if let Some((_, words)) = WORDS.iter().find(|(option, _)| *option == id) {
        let word = values_of(arguments).pop()?;
        return words.iter().position(|it| *it == word).map(|at| at as u64);
    }
    let command = table_command().no_binary_name(true);
    let matches = command.try_get_matches_from(arguments).ok()?;
    let large = matches.try_get_one::<u64>(id).ok().flatten().copied();
    large.or_else(|| {
        let small = matches.try_get_one::<u32>(id).ok().flatten();
        small.map(|number| u64::from(*number))
    })
}

/// What one source denies.
pub(super) fn denied_by(options: &BTreeMap<String, Setting>) -> Denied {
    denied(|id: &str| options.get(id).map(|it| &it.arguments[..]))
}

pub(super) fn denied<'a>(said: impl Fn(&str) -> Option<&'a [OsString]>) -> Denied {
    Denied {
        patterns: said(DENY).map(values_of).unwrap_or_default(),
        protect_secrets: said(PROTECT_SECRETS).is_some_and(|it| !it.is_empty()),
    }
}

/// Lists that deny as one, where none of them takes anything back.
pub(super) fn joined(lists: Vec<Denied>) -> Vec<Denied> {
    if takes_back(&lists) {
        return lists;
    }
    vec![Denied {
        protect_secrets: lists.iter().any(|list| list.protect_secrets),
        patterns: lists.into_iter().flat_map(|list| list.patterns).collect(),
    }]
}

pub(super) fn takes_back(lists: &[Denied]) -> bool {
    let mut patterns = lists.iter().flat_map(|list| &list.patterns);
    patterns.any(|pattern| pattern.starts_with('!'))
}
