//! Values as the caller gave them: numbers keep the digits that they were written with.

use super::ALL;
use crate::tool::Failure;
use minijinja::Value;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The values of the variables, as JSON text.
pub(crate) type Variables = BTreeMap<String, Box<RawValue>>;

/// Lists and objects inside each other. The engine and we go down by recursion.
const MOST_DEEP: usize = 64;

/// What the engine looks names up in.
///
/// # Errors
/// `invalid-arguments` for a value that is nested too deep.
pub(super) fn context(variables: &Variables) -> Result<Value, Failure> {
    let all = object(variables, 0)?;
    let mut context = all.clone();
    context.insert(ALL.to_owned(), Value::from(all));
    Ok(Value::from(context))
}

/// Whether a value cannot stand in a text.
pub(super) fn is_no_text(raw: &RawValue) -> bool {
    raw.get().starts_with(['{', '[', 'n'])
}

/// The value at the end of a path of names and numbers, if there is one.
pub(super) fn has(variables: &Variables, path: &str) -> bool {
    let mut names = path.split('.');
    let first = names.next().and_then(|name| variables.get(name));
    let found = names.try_fold(first.map(|raw| raw.get().to_owned()), |raw, name| {
        let member = match parsed::<Variables>(raw.as_deref()?) {
            Some(object) => object.get(name).map(|raw| raw.get().to_owned()),
            None => {
                let list = parsed::<Vec<Box<RawValue>>>(raw.as_deref()?)?;
                list.get(name.parse::<usize>().ok()?)
                    .map(|raw| raw.get().to_owned())
            }
        };
        Some(Some(member?))
    });
    found.flatten().is_some()
}

fn parsed<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}

fn object(members: &Variables, depth: usize) -> Result<BTreeMap<String, Value>, Failure> {
    let members = members.iter();
    members
        .map(|(name, raw)| Ok((name.clone(), value(raw, depth)?)))
        .collect()
}

fn value(raw: &RawValue, depth: usize) -> Result<Value, Failure> {
    if depth > MOST_DEEP {
        let message = format!("a value in `variables` is nested more than {MOST_DEEP} deep");
        return Err(Failure::invalid_arguments(message).hint("give flatter values"));
    }
    let json = raw.get();
    match json.as_bytes().first() {
        Some(b'{') => Ok(Value::from(object(&read(json)?, depth + 1)?)),
        Some(b'[') => {
            let items: Vec<Box<RawValue>> = read(json)?;
            let items: Result<Vec<Value>, Failure> =
                items.iter().map(|item| value(item, depth + 1)).collect();
            Ok(Value::from(items?))
        }
        Some(b'"') => Ok(Value::from(read::<String>(json)?)),
        Some(b't') => Ok(Value::from(true)),
        Some(b'f') => Ok(Value::from(false)),
        Some(b'n') | None => Ok(Value::from(())),
        Some(_) => Ok(number(json)),
    }
}

/// A number, if the engine would write it with the same digits; else those digits as text.
fn number(json: &str) -> Value {
    let integer = json.parse::<i64>().map(Value::from);
    let number = integer.or_else(|_| json.parse::<f64>().map(Value::from));
    number
        .ok()
        .filter(|number| number.to_string() == json)
        .unwrap_or_else(|| Value::from(json))
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|error| {
        Failure::invalid_arguments(format!("a value in `variables` is not valid JSON: {error}"))
    })
}
