//! The tables of cases: one row is one situation, in the words of `cases/README.md`.

use serde_json::Deserializer;

/// Stands for the absolute path of the root in set-ups and paths.
pub const ABSOLUTE_ROOT: &str = "$ABS";

/// One situation: what is there, what is asked, what the answer is.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: &'static str,
    pub setup: &'static str,
    pub operation: &'static str,
    pub path: String,
    /// Every answer that is right; more than one only where something else moves.
    pub answers: Vec<&'static str>,
    pub unconfined: Unconfined,
}

impl Row {
    /// Whether something stands beside the root.
    pub fn has_outside(&self) -> bool {
        self.setup.contains("OUT") || self.setup.starts_with('^')
    }
}

/// What the same operation does without confinement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unconfined {
    /// It succeeds: the attack is real.
    Works,
    /// It succeeds when root and path are joined as text.
    WorksJoined,
    /// It succeeds when the path ends at its NUL, as a C string does.
    WorksCut,
    /// The same as confined: answer, content, and the tree afterwards.
    Same,
    /// The same as confined, once names of other systems are allowed.
    SameWithAnyNames,
    /// Another failure than the guard's.
    Natively(&'static str),
    /// Not shown, for this reason.
    NotShown(&'static str),
}

/// The rows of a table, without its head.
pub fn rows(table: &'static str) -> Vec<Row> {
    table.lines().skip(1).map(row).collect()
}

fn row(line: &'static str) -> Row {
    let fields: Vec<&'static str> = line.split('\t').collect();
    let [
        id,
        setup,
        operation,
        path,
        answers,
        unconfined,
        _note,
        _source,
    ] = fields[..]
    else {
        panic!("not eight fields: {line}");
    };
    Row {
        id,
        setup,
        operation,
        path: text_of(path),
        answers: answers.split('|').collect(),
        unconfined: self::unconfined(unconfined),
    }
}

fn unconfined(text: &'static str) -> Unconfined {
    match text {
        "works" => Unconfined::Works,
        "works joined" => Unconfined::WorksJoined,
        "works cut" => Unconfined::WorksCut,
        "same" => Unconfined::Same,
        "same with any names" => Unconfined::SameWithAnyNames,
        other => match (other.strip_prefix("natively "), other.strip_prefix("no: ")) {
            (Some(answer), _) => Unconfined::Natively(answer),
            (_, Some(reason)) => Unconfined::NotShown(reason),
            _ => panic!("`{other}` does not say what happens without confinement"),
        },
    }
}

/// JSON strings, each perhaps repeated, put together: `"a/"*2047+"b"`.
pub fn text_of(notation: &str) -> String {
    let mut text = String::new();
    let mut rest = notation;
    loop {
        let (part, after) = json_string(rest);
        let (times, after) = repetitions(after);
        text.push_str(&part.repeat(times));
        match after.strip_prefix('+') {
            Some(more) => rest = more,
            None if after.is_empty() => return text,
            None => panic!("`{after}` does not continue a path"),
        }
    }
}

/// The JSON string at the start, and what follows it.
pub fn json_string(text: &str) -> (String, &str) {
    let mut strings = Deserializer::from_str(text).into_iter::<String>();
    let string = strings.next().unwrap().unwrap();
    let end = strings.byte_offset();
    (string, &text[end..])
}

fn repetitions(text: &str) -> (usize, &str) {
    let Some(text) = text.strip_prefix('*') else {
        return (1, text);
    };
    let end = text.find('+').unwrap_or(text.len());
    (text[..end].parse().unwrap(), &text[end..])
}

#[test]
fn a_path_is_json_strings_put_together() {
    assert_eq!(text_of(r#""a\u0000b""#), "a\0b");
    assert_eq!(text_of(r#""a/"*3+"b""#), "a/a/a/b");
    assert_eq!(text_of(r#""a+b*2""#), "a+b*2");
}
