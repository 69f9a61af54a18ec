//! What is wrong with arguments, in words that an agent can act on.

use crate::{Failure, nearest, quoted};
use serde_json::{Map, Value, json};

const OBJECT: &str =
    "give the arguments as one JSON object, such as `{\"path\": \"notes/todo.txt\"}`";

pub(super) fn not_an_object(text: &str) -> Failure {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => Failure::invalid_arguments(format!(
            "the arguments are {} and not a JSON object",
            type_of(&value)
        ))
        .hint(OBJECT),
        Err(error) => not_json(&error),
    }
}

fn not_json(error: &serde_json::Error) -> Failure {
    Failure::invalid_arguments(format!("the arguments are not valid JSON: {error}")).hint(OBJECT)
}

/// Holds arguments that the parser refused against their schema.
pub(super) fn explain(text: &str, schema: &Value, error: &serde_json::Error) -> Failure {
    match serde_json::from_str::<Value>(text) {
        Err(error) => not_json(&error),
        // Null is another way to leave an argument out, where the parser allows it.
        Ok(arguments) => wrong(&without_null(&arguments), schema, &At::top(schema))
            .or_else(|| wrong(&arguments, schema, &At::top(schema)))
            .unwrap_or_else(|| otherwise_wrong(error, schema)),
    }
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

fn names(schema: &Value) -> impl Iterator<Item = &str> + Clone {
    let properties = schema["properties"].as_object();
    properties
        .into_iter()
        .flat_map(|members| members.keys().map(String::as_str))
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
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
    let hint = match inner(&unknown, schema).or_else(|| outer(&unknown, members, schema)) {
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

/// Arguments that stand at the wrong level: they belong into the items of an array.
fn inner(unknown: &[&str], schema: &Value) -> Option<String> {
    let properties = schema["properties"].as_object()?;
    let belong = |items: &Value| {
        let mut unknown = unknown.iter();
        unknown.all(|name| items["properties"].get(*name).is_some())
    };
    let (name, _) = properties
        .iter()
        .find(|(_, property)| belong(&property["items"]))?;
    let unknown = quoted(unknown.iter().copied());
    Some(format!(
        "{unknown} belong into an object in the array `{name}`;"
    ))
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
    ("source src old_path source_path", &["from"]),
    (
        "destination dest dst target new_path destination_path",
        &["to"],
    ),
    ("text data contents body file_text", &["content"]),
    (
        "start start_line first line from_line line_start",
        &["offset"],
    ),
    (
        "lines count num max max_results max_lines head_limit n",
        &["limit"],
    ),
    ("case_sensitive case_insensitive", &["ignore_case"]),
    (
        "include filter file_pattern file_glob file_type",
        &["glob", "pattern"],
    ),
    ("force recurse", &["recursive", "overwrite"]),
    ("replace force", &["overwrite"]),
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
    only.or_else(|| nearest(name, free()))
        .or_else(|| elsewhere(&plain, free()))
        .or_else(|| part_of(&plain, free()))
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

fn missing(members: &Map<String, Value>, schema: &Value, at: &At<'_>) -> Option<Failure> {
    let name = required(schema).find(|name| !members.contains_key(*name))?;
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
        (Value::Number(_), "integer") => " without a fraction",
        (Value::Number(_), "boolean") => ": `true` or `false`",
        _ => "",
    }
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
fn kind(schema: &Value) -> &str {
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

fn is_of_type(value: &Value, wanted: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use crate::arguments::parse;
    use crate::{Error, Failure, NoArguments, Output, PathArgument, Risk, Tool, Within};
    use schemars::JsonSchema;
    use serde::Deserialize;

    struct Change;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Arguments {
        /// File to change
        path: String,
        content: String,
        edits: Option<Vec<Edit>>,
        names: Option<Vec<String>>,
        #[serde(default)]
        overwrite: bool,
        #[schemars(extend("default" = 5))]
        limit: Option<Within<1, 9>>,
        least: Option<Within<4, { u64::MAX }>>,
        word: Option<Word>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Edit {
        old_text: String,
        new_text: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Strict,
        Replace,
    }

    impl Tool for Change {
        type Arguments = Arguments;
        type Fields = NoArguments;

        const NAME: &'static str = "change";
        const TITLE: &'static str = "Change";
        const DESCRIPTION: &'static str = "Changes nothing at all, since it is here for tests.";
        const RISK: Risk = Risk::Destructive;
        const PATHS: &'static [PathArgument] = &[PathArgument::write("path").guarded()];
        const EXAMPLE: &'static str = r#"{"path":"a","content":"b","limit":3}"#;

        fn run(_: Arguments) -> Result<Output<NoArguments>, Error> {
            Ok(Output::new(NoArguments {}))
        }
    }

    fn refusal(text: &str) -> Failure {
        match parse::<Change>(text) {
            Err(failure) => failure,
            Ok(_) => panic!("`{text}` was accepted"),
        }
    }

    #[test]
    fn the_tool_of_these_tests_is_fit_to_be_shown() {
        crate::check(&[crate::Registered::new::<Change>()]);
    }

    #[test]
    fn what_is_not_an_object_is_refused_by_its_type() {
        for (text, found) in [("[1]", "an array"), ("\"a\"", "a string"), ("null", "null")] {
            let message = format!("the arguments are {found} and not a JSON object");
            assert_eq!(refusal(text).message, message);
        }
    }

    #[test]
    fn what_is_not_json_is_refused_with_the_place() {
        for text in ["", "{", "{\"path\": \"a\",}", "path=a", r#"{"path":"a"} x"#] {
            let failure = refusal(text);
            assert_eq!(failure.code, "invalid-arguments");
            assert!(failure.message.contains("line 1"), "{}", failure.message);
        }
    }

    #[test]
    fn every_slip_is_told_with_what_to_give_instead() {
        for (text, message, hint) in [
            (
                r#"{"path":"a"}"#,
                "argument `content` is missing",
                "give `content` as a string, such as `\"b\"`",
            ),
            (
                r#"{"content":"b"}"#,
                "argument `path` is missing",
                "give `path` as a string, such as `\"a\"`",
            ),
            (
                r#"{"path":5,"content":"b"}"#,
                "argument `path` is a number",
                "give `path` as a string, such as `\"a\"`",
            ),
            (
                r#"{"path":"a","content":"b","overwrite":"yes"}"#,
                "argument `overwrite` is a string",
                "give `overwrite` as a boolean: `true` or `false` without quotes",
            ),
            (
                r#"{"path":"a","content":"b","overwrite":null}"#,
                "argument `overwrite` is null",
                "give `overwrite` as a boolean, or leave it out",
            ),
            (
                r#"{"path":"a","content":"b","limit":"3"}"#,
                "argument `limit` is a string",
                "give `limit` as an integer, without quotes",
            ),
            (
                r#"{"path":"a","content":"b","limit":2.5}"#,
                "argument `limit` is `2.5`",
                "give `limit` as an integer without a fraction",
            ),
            (
                r#"{"path":"a","content":"b","limit":10}"#,
                "`limit` is 10, which is not from 1 to 9",
                "give a number from 1 to 9, or leave out `limit` for 5",
            ),
            (
                r#"{"path":"a","content":"b","least":-3}"#,
                "`least` is -3, which is less than 4",
                "give 4 or more, or leave out `least`",
            ),
            (
                r#"{"path":"a","content":"b","word":"replce"}"#,
                "`word` is `replce`, which is not known",
                "did you mean `replace`? it is one of `strict`, `replace`",
            ),
            (
                r#"{"path":"a","content":"b","names":["a",1]}"#,
                "argument `names[1]` is a number",
                "give `names[1]` as a string",
            ),
            (
                r#"{"path":"a","content":"b","names":"a"}"#,
                "argument `names` is a string",
                "give `names` as an array of strings",
            ),
            (
                r#"{"path":"a","content":"b","edits":"[{}]"}"#,
                "argument `edits` is a string",
                "give `edits` as an array of objects itself, not as a string that holds it",
            ),
            (
                r#"{"path":"a","content":"b","edits":[{"old_text":"x"}]}"#,
                "argument `edits[0].new_text` is missing",
                "give `edits[0].new_text` as a string",
            ),
            (
                r#"{"path":"a","content":"b","expected_version":1}"#,
                "argument `expected_version` is a number",
                "give `expected_version` as a string",
            ),
            (
                r#"{"path":"a","content":"b","path":"c"}"#,
                "duplicate field `path`",
                "give each argument once; known arguments: `path`, `content`, `edits`, `names`, \
                 `overwrite`, `limit`, `least`, `word`, `expected_version`, `expected_sha256`",
            ),
        ] {
            let failure = refusal(text);
            assert_eq!(failure.code, "invalid-arguments");
            assert_eq!(
                (&*failure.message, &*failure.hint),
                (message, hint),
                "{text}"
            );
        }
    }

    #[test]
    fn unknown_arguments_list_the_known_ones() {
        let failure = refusal(r#"{"path":"a","content":"b","overwrit":true}"#);
        assert_eq!(failure.message, "unknown argument `overwrit`");
        assert!(
            failure
                .hint
                .starts_with("did you mean `overwrite`? known arguments: `path`")
        );
        assert!(
            failure
                .details
                .starts_with(r#"{"known":["path","content","#)
        );
        let failure = refusal(r#"{"path":"a","content":"b","x":1,"y":2}"#);
        assert_eq!(failure.message, "unknown arguments `x`, `y`");
    }

    #[test]
    fn unknown_arguments_inside_of_others_list_what_is_known_there() {
        let failure =
            refusal(r#"{"path":"a","content":"b","edits":[{"oldText":"x","new_text":"y"}]}"#);
        assert_eq!(failure.message, "unknown argument `edits[0].oldText`");
        assert_eq!(
            failure.hint,
            "did you mean `old_text`? known in `edits[0]`: `old_text`, `new_text`"
        );
        assert_eq!(failure.details, r#"{"known":["old_text","new_text"]}"#);
    }

    /// Models call a path by many names.
    #[test]
    fn the_argument_that_is_missing_is_what_an_unknown_one_is_taken_for() {
        for name in [
            "file_path",
            "filepath",
            "filename",
            "file",
            "target",
            "Path",
            "pathname",
        ] {
            let failure = refusal(&format!(r#"{{"{name}":"a","content":"b"}}"#));
            assert!(
                failure.hint.starts_with("did you mean `path`?"),
                "{}",
                failure.hint
            );
        }
        let failure = refusal(r#"{"path":"a","text":"b"}"#);
        assert!(
            failure.hint.starts_with("did you mean `content`?"),
            "{}",
            failure.hint
        );
        let failure = refusal(r#"{"path":"a","other":7}"#);
        assert!(
            failure.hint.starts_with("known arguments"),
            "{}",
            failure.hint
        );
    }

    #[test]
    fn what_is_called_otherwise_elsewhere_is_known() {
        for (text, meant) in [
            (r#"{"path":"a","content":"b","max_results":3}"#, "`limit`"),
            (r#"{"path":"a","content":"b","force":true}"#, "`overwrite`"),
            (r#"{"filename":"a","text":"b"}"#, "`path`, `content`"),
        ] {
            let hint = refusal(text).hint;
            assert!(
                hint.starts_with(&format!("did you mean {meant}?")),
                "{text}: {hint}"
            );
        }
    }

    #[test]
    fn arguments_at_the_wrong_level_are_told_where_they_belong() {
        let hint = refusal(r#"{"path":"a","content":"b","old_text":"x","new_text":"y"}"#).hint;
        let belong = "`old_text`, `new_text` belong into an object in the array `edits`;";
        assert!(hint.starts_with(belong), "{hint}");
    }

    #[test]
    fn null_leaves_an_argument_out() {
        assert!(parse::<Change>(r#"{"path":"a","content":"b","limit":null,"word":null}"#).is_ok());
        let failure = refusal(r#"{"path":null,"content":"b"}"#);
        assert_eq!(failure.message, "argument `path` is missing");
    }
}
