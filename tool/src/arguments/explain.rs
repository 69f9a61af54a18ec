//! What is wrong with arguments, in words that an agent can act on.

use super::meant;
use crate::schema::OF_THE_OPERATOR;
use crate::{Failure, nearest, quoted};
use serde_json::{Map, Value, json};

const OBJECT: &str =
    "give the arguments as one JSON object, such as `{\"path\": \"notes/todo.txt\"}`";

pub(super) fn not_an_object(text: &str, mut schema: Value) -> Failure {
    let failure = match serde_json::from_str::<Value>(text) {
        Ok(value) => Failure::invalid_arguments(format!(
            "the arguments are {} and not a JSON object",
            type_of(&value)
        ))
        .hint(OBJECT),
        Err(error) => not_json(&error),
    };
    take_out_the_operators(&mut schema);
    with_what_is_known(failure, &schema)
}

fn not_json(error: &serde_json::Error) -> Failure {
    Failure::invalid_arguments(format!("the arguments are not valid JSON: {error}")).hint(OBJECT)
}

/// Holds arguments that the parser refused against their schema.
pub(super) fn explain(text: &str, mut schema: Value, error: &serde_json::Error) -> Failure {
    let is_taken_out = take_out_the_operators(&mut schema);
    let failure = match serde_json::from_str::<Value>(text) {
        Err(error) => not_json(&error),
        Ok(mut arguments) => {
            // The host put it there.
            if let (true, Some(members)) = (is_taken_out, arguments.as_object_mut()) {
                members.shift_remove(OF_THE_OPERATOR);
            }
            explain_value(&arguments, &schema, error)
        }
    };
    with_what_is_known(failure, &schema)
}

fn explain_value(arguments: &Value, schema: &Value, error: &serde_json::Error) -> Failure {
    // Null is another way to leave an argument out, where the parser allows it.
    wrong(&without_null(arguments), schema, &At::top(schema))
        .or_else(|| wrong(arguments, schema, &At::top(schema)))
        .unwrap_or_else(|| otherwise_wrong(error, schema))
}

/// Leaves what callers know of: not the operator's word on texts, where the tool takes that.
fn take_out_the_operators(schema: &mut Value) -> bool {
    let taken = required(schema).all(|name| name != OF_THE_OPERATOR)
        && schema["properties"][OF_THE_OPERATOR]["type"] == "string";
    if taken && let Some(properties) = schema["properties"].as_object_mut() {
        properties.shift_remove(OF_THE_OPERATOR);
    }
    taken
}

/// Adds what the next try needs: the arguments that there are, unless the failure says which are
/// known inside of one, and the least that a call takes.
fn with_what_is_known(failure: Failure, schema: &Value) -> Failure {
    let mut details = serde_json::from_str(&failure.details).unwrap_or_else(|_| json!({}));
    if details["known"].is_null() {
        details["known"] = names(schema).collect();
    }
    if let Some(example) = least_example(schema) {
        details["example"] = example;
    }
    failure.details(&details)
}

/// The tool's own example without what may be left out, or whole where all may.
fn least_example(schema: &Value) -> Option<Value> {
    // A longer one says less than the words.
    const LONG: usize = 400;
    let whole = schema["examples"][0].as_object()?;
    let needed = required(schema).filter_map(|name| Some((name.to_owned(), whole.get(name)?)));
    let needed: Map<String, Value> = needed.map(|(name, it)| (name, it.clone())).collect();
    let example = match needed.is_empty() {
        true => whole.clone(),
        false => needed,
    };
    let example = Value::from(example);
    (example.to_string().len() <= LONG).then_some(example)
}

fn without_null(arguments: &Value) -> Value {
    let members = arguments.as_object().into_iter().flatten();
    let given = members.filter(|(_, value)| !value.is_null());
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// What the parser alone saw, such as an argument given twice.
fn otherwise_wrong(error: &serde_json::Error, schema: &Value) -> Failure {
    let said = error.to_string();
    // The place is that in the JSON text, which the agent never saw.
    let said = said.split(" at line ").next().unwrap_or(&said);
    let known = format!("known arguments: {}", quoted(names(schema)));
    Failure::invalid_arguments(said).hint(match said.starts_with("duplicate field") {
        true => format!("give each argument once; {known}"),
        false => known,
    })
}

/// Where a value stands in the arguments.
struct At<'a> {
    /// Such as `edits[0].old_text`; empty for all of them.
    place: String,
    /// What stands there in the tool's own example; else null.
    example: &'a Value,
}

impl<'a> At<'a> {
    fn top(schema: &'a Value) -> Self {
        let place = String::new();
        let example = &schema["examples"][0];
        Self { place, example }
    }

    /// A member of an object.
    fn member(&self, name: &str) -> Self {
        let place = match &*self.place {
            "" => name.to_owned(),
            place => format!("{place}.{name}"),
        };
        let example = &self.example[name];
        Self { place, example }
    }

    /// An item of an array; what one looks like is shown by the first.
    fn item(&self, number: usize) -> Self {
        let place = format!("{}[{number}]", self.place);
        let example = &self.example[0];
        Self { place, example }
    }

    /// The example as a part of a hint, unless it is too long for one.
    fn such_as(&self) -> String {
        const LONG: usize = 120;
        let example = self.example.to_string();
        match self.example.is_null() || example.len() > LONG {
            true => String::new(),
            false => format!(", such as `{example}`"),
        }
    }
}

/// The first thing that is wrong with a value.
fn wrong(value: &Value, schema: &Value, at: &At<'_>) -> Option<Failure> {
    wrong_type(value, schema, at).or_else(|| match value {
        Value::Object(members) => wrong_object(members, schema, at),
        Value::Array(items) => wrong_array(items, schema, at),
        Value::Number(number) => wrong_number(number, schema, &at.place),
        Value::String(word) => wrong_word(word, schema, &at.place),
        _ => None,
    })
}

fn wrong_object(members: &Map<String, Value>, schema: &Value, at: &At<'_>) -> Option<Failure> {
    unknown(members, schema, at)
        .or_else(|| missing(members, schema, at))
        .or_else(|| {
            members.iter().find_map(|(name, value)| {
                let schema = schema["properties"].get(name)?;
                wrong(value, schema, &at.member(name))
            })
        })
}

fn wrong_array(items: &[Value], schema: &Value, at: &At<'_>) -> Option<Failure> {
    let schema = schema.get("items")?;
    let mut items = items.iter().enumerate();
    items.find_map(|(number, item)| wrong(item, schema, &at.item(number)))
}

pub(super) fn names(schema: &Value) -> impl Iterator<Item = &str> + Clone {
    let properties = schema["properties"].as_object();
    properties
        .into_iter()
        .flat_map(|members| members.keys().map(String::as_str))
}

pub(super) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let required = schema["required"].as_array().into_iter().flatten();
    required.filter_map(Value::as_str)
}

fn unknown(members: &Map<String, Value>, schema: &Value, at: &At<'_>) -> Option<Failure> {
    if schema["additionalProperties"] != false {
        return None;
    }
    let known = names(schema);
    let unknown: Vec<&str> = members
        .keys()
        .map(String::as_str)
        .filter(|name| !known.clone().any(|known| known == *name))
        .collect();
    let noun = match unknown.len() {
        0 => return None,
        1 => "argument",
        _ => "arguments",
    };
    let places: Vec<String> = unknown.iter().map(|name| at.member(name).place).collect();
    let message = format!(
        "unknown {noun} {}",
        quoted(places.iter().map(String::as_str))
    );
    let listed = match &*at.place {
        "" => format!("known arguments: {}", quoted(known.clone())),
        place => format!("known in `{place}`: {}", quoted(known.clone())),
    };
    let hint = match meant::meant(&unknown, members, schema) {
        Some(hint) => format!("{hint} {listed}"),
        None => listed,
    };
    let known: Vec<&str> = known.collect();
    Some(
        Failure::invalid_arguments(message)
            .hint(hint)
            .details(&json!({ "known": known })),
    )
}

fn missing(members: &Map<String, Value>, schema: &Value, at: &At<'_>) -> Option<Failure> {
    // What has to be there cannot be left out by null either.
    let is_given = |name: &str| members.get(name).is_some_and(|value| !value.is_null());
    let takes_null = |name: &str| kind(&schema["properties"][name]).is_empty();
    let is_there = |name: &str| is_given(name) || (takes_null(name) && members.contains_key(name));
    let name = required(schema).find(|name| !is_there(name))?;
    let (at, property) = (at.member(name), &schema["properties"][name]);
    let place = &at.place;
    let hint = format!("give `{place}` as {}{}", wanted(property), at.such_as());
    Some(Failure::invalid_arguments(format!("argument `{place}` is missing")).hint(hint))
}

fn wrong_type(value: &Value, schema: &Value, at: &At<'_>) -> Option<Failure> {
    let (place, wanted_type) = (&at.place, kind(schema));
    if is_of_type(value, wanted_type) {
        return None;
    }
    let found = match value {
        Value::Number(number) if wanted_type == "integer" => format!("`{number}`"),
        value => type_of(value).to_owned(),
    };
    let spelling = spelling(value, wanted_type);
    let hint = match spelling {
        "" => format!("give `{place}` as {}{}", wanted(schema), at.such_as()),
        spelling => format!("give `{place}` as {}{spelling}", wanted(schema)),
    };
    Some(Failure::invalid_arguments(format!("argument `{place}` is {found}")).hint(hint))
}

/// What is to be done differently where the same value was meant.
fn spelling(value: &Value, wanted: &str) -> &'static str {
    match (value, wanted) {
        (Value::Null, _) => ", or leave it out",
        (Value::String(text), "integer" | "number") if text.trim().parse::<f64>().is_ok() => {
            ", without quotes"
        }
        (Value::String(_), "boolean") => ": `true` or `false` without quotes",
        (Value::String(text), "array" | "object") if text.trim_start().starts_with(['[', '{']) => {
            " itself, not as a string that holds it"
        }
        (Value::Number(number), "integer") if is_huge(number) => ", and a smaller one",
        (Value::Number(_), "integer") => " without a fraction",
        (Value::Number(_), "boolean") => ": `true` or `false`",
        _ => "",
    }
}

/// Whether a number is none that an integer could be.
fn is_huge(number: &serde_json::Number) -> bool {
    number
        .as_f64()
        .is_some_and(|number| number.abs() >= 2_f64.powi(63))
}

fn wrong_number(number: &serde_json::Number, schema: &Value, place: &str) -> Option<Failure> {
    let (least, most) = (&schema["minimum"], &schema["maximum"]);
    let is_low = least
        .as_f64()
        .is_some_and(|least| number.as_f64() < Some(least));
    let is_high = most
        .as_f64()
        .is_some_and(|most| number.as_f64() > Some(most));
    if !is_low && !is_high {
        return None;
    }
    let (message, range) = match most.is_null() {
        true => (
            format!("`{place}` is {number}, which is less than {least}"),
            format!("{least} or more"),
        ),
        false => (
            format!("`{place}` is {number}, which is not from {least} to {most}"),
            format!("a number from {least} to {most}"),
        ),
    };
    let default = &schema["default"];
    let hint = match default.is_null() {
        true => format!("give {range}, or leave out `{place}`"),
        false => format!("give {range}, or leave out `{place}` for {default}"),
    };
    Some(Failure::invalid_arguments(message).hint(hint))
}

fn wrong_word(word: &str, schema: &Value, place: &str) -> Option<Failure> {
    let known = schema["enum"].as_array()?;
    let known = known.iter().filter_map(Value::as_str);
    if known.clone().any(|known| known == word) {
        return None;
    }
    let listed = format!("it is one of {}", quoted(known.clone()));
    let hint = match nearest(word, known) {
        Some(near) => format!("did you mean `{near}`? {listed}"),
        None => listed,
    };
    let message = format!("`{place}` is `{word}`, which is not known");
    Some(Failure::invalid_arguments(message).hint(hint))
}

/// The type that a schema asks for; empty for any.
pub(super) fn kind(schema: &Value) -> &str {
    schema["type"].as_str().unwrap_or_default()
}

/// What to give, in words.
fn wanted(schema: &Value) -> String {
    match kind(schema) {
        "array" => match kind(&schema["items"]) {
            "" => "an array".to_owned(),
            items => format!("an array of {items}s"),
        },
        "" => "a value".to_owned(),
        kind => article(kind),
    }
}

pub(super) fn is_of_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}
