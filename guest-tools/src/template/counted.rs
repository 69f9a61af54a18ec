//! Filters that take a count, with a limit on it: the engine's own reserve memory for as many
//! items as a template names, and a component has no way to survive that.

use super::words::plain;
use minijinja::value::{Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, filters};

/// As many as the engine's `range` takes.
const MOST: usize = 100_000;

/// Puts the limit before the filters of a template's engine.
pub(super) fn bound(engine: &mut Environment<'_>) {
    engine.add_filter("__batch", filters::batch);
    engine.add_filter("__slice", filters::slice);
    engine.add_filter("__indent", filters::indent);
    engine.add_filter("__format", filters::format);
    engine.add_filter("batch", |state: &State<'_, '_>, arguments: Rest<Value>| {
        apply(state, "__batch", &arguments)
    });
    engine.add_filter("slice", |state: &State<'_, '_>, arguments: Rest<Value>| {
        apply(state, "__slice", &arguments)
    });
    engine.add_filter("indent", |state: &State<'_, '_>, arguments: Rest<Value>| {
        apply(state, "__indent", &arguments)
    });
    engine.add_filter("format", |state: &State<'_, '_>, arguments: Rest<Value>| {
        let pattern = arguments.first().and_then(Value::as_str);
        check_widths(
            pattern.unwrap_or_default(),
            arguments.get(1..).unwrap_or_default(),
        )?;
        arguments
            .iter()
            .cloned()
            .try_for_each(|it| plain(it).map(drop))?;
        state.apply_filter("__format", &arguments)
    });
}

fn apply(state: &State<'_, '_>, filter: &str, arguments: &[Value]) -> Result<Value, Error> {
    let counts = arguments.get(1..).unwrap_or_default();
    counts.iter().try_for_each(check)?;
    state.apply_filter(filter, arguments)
}

/// Refuses a count that is too large, by its place or by its name.
fn check(argument: &Value) -> Result<(), Error> {
    if argument.kind() == ValueKind::Map {
        let names = argument.try_iter()?;
        return names
            .filter_map(|name| argument.get_item(&name).ok())
            .try_for_each(|value| check_count(value.as_usize()));
    }
    check_count(argument.as_usize())
}

/// Refuses a width or precision in a pattern of `format` that is too large, and in its values
/// where the pattern says that they stand there.
fn check_widths(pattern: &str, values: &[Value]) -> Result<(), Error> {
    let printf = pattern.split('%').skip(1).map(|behind| {
        let end = behind.find(|c: char| !"-+ #.*0123456789".contains(c));
        &behind[..end.unwrap_or(behind.len())]
    });
    let braces = pattern.split('{').skip(1);
    let braces = braces.map(|behind| behind.split('}').next().unwrap_or_default());
    for directions in printf.chain(braces) {
        let numbers = directions.split(|c: char| !c.is_ascii_digit());
        let mut given = numbers.filter(|digits| !digits.is_empty());
        given.try_for_each(|digits| check_count(Some(digits.parse().unwrap_or(usize::MAX))))?;
        if directions.ends_with(':') || directions.contains('*') {
            values.iter().try_for_each(check)?;
        }
    }
    Ok(())
}

fn check_count(count: Option<usize>) -> Result<(), Error> {
    match count {
        Some(count) if count > MOST => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{count} is more than the {MOST} that a filter may be asked for"),
        )),
        _ => Ok(()),
    }
}
