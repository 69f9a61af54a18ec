//! Which variables a template names that were not given.

use super::source::Source;
use super::values::has;
use super::{ALL, Variables};
use minijinja::Environment;
use std::collections::BTreeSet;

/// All of them in order, wherever in the template they stand.
pub(super) fn names(
    engine: &Environment<'_>,
    source: &Source<'_>,
    variables: &Variables,
) -> Vec<String> {
    let mut missing: BTreeSet<String> = source
        .unknown
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    if let Ok(compiled) = engine.template_from_str(&source.text) {
        let named = compiled.undeclared_variables(true).into_iter();
        missing.extend(named.filter(|path| {
            let top_level = path.split('.').next().unwrap_or(path);
            let is_own = top_level == ALL || engine.globals().any(|(name, _)| name == top_level);
            !is_own && !has(variables, path)
        }));
    }
    missing.into_iter().collect()
}
