//! Audit entries in words, to be compared with what a row expects.

use serde_json::Value;

/// Entries in words, a change and its outcome in one: `refusal open escape inputs:out`,
/// `done create workspace:new.md`, `access read inputs:notes.md`, `call failed not-found`.
pub fn in_words(entries: &[Value]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut entries = entries.iter().peekable();
    while let Some(entry) = entries.next() {
        if entry["kind"] == "genesis" {
            continue;
        }
        let concludes = |next: &&Value| {
            let same = |name: &str| next[name] == entry[name];
            next["kind"] == "outcome" && ["operation", "root", "path"].into_iter().all(same)
        };
        match entries.next_if(|next| entry["kind"] == "intent" && concludes(next)) {
            Some(outcome) if outcome["outcome"] == "ok" => lines.push(change("done", outcome)),
            Some(outcome) => lines.push(change("failed", outcome)),
            None => lines.push(one(entry)),
        }
    }
    lines
}

fn change(end: &str, entry: &Value) -> String {
    words(&[end, text(&entry["operation"]), &places(entry)])
}

fn one(entry: &Value) -> String {
    let object = |one: &Value| words(&[text(&one["operation"]), &places(one)]);
    let (kind, operation) = (text(&entry["kind"]), text(&entry["operation"]));
    match kind {
        "access" if operation.is_empty() => {
            let objects = entry["objects"].as_array().unwrap();
            let listed: Vec<String> = objects.iter().map(object).collect();
            words(&[kind, &listed.join(", ")])
        }
        "access" => words(&[kind, &object(entry)]),
        "outcome" => words(&[text(&entry["outcome"]), operation, &places(entry)]),
        "call" => words(&[kind, text(&entry["outcome"]), &code(entry)]),
        "approval" => words(&[kind, text(&entry["decision"]), &code(entry)]),
        _ => words(&[kind, operation, &code(entry), &places(entry)]),
    }
}

fn words(words: &[&str]) -> String {
    let said: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !word.is_empty())
        .collect();
    said.join(" ")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn code(entry: &Value) -> String {
    match entry["reason"].as_str() {
        Some(reason) => format!("{}/{reason}", text(&entry["code"])),
        None => text(&entry["code"]).to_owned(),
    }
}

fn places(entry: &Value) -> String {
    let place = |root: &str, path: &str| match text(&entry[root]) {
        "" => text(&entry[path]).to_owned(),
        root => format!("{root}:{}", text(&entry[path])),
    };
    match entry["to_path"].is_string() {
        true => format!(
            "{} to {}",
            place("root", "path"),
            place("to_root", "to_path")
        ),
        false => place("root", "path"),
    }
}

/// Whether the lines are the expected ones. `3 × x` stands for three lines `x`; a line that
/// ends in `…` stands for those that begin so, as many as there are unless a number says.
pub fn agree(expected: &[&str], lines: &[String]) -> bool {
    let mut rest = lines;
    for line in expected {
        let (wanted, line) = match line.split_once(" × ") {
            Some((times, line)) => (times.parse().ok(), line),
            None => (None, *line),
        };
        let start = line.strip_suffix('…');
        let is_meant = |other: &str| match start {
            Some(start) => other.starts_with(start),
            None => other == line,
        };
        let wanted = if start.is_some() {
            wanted
        } else {
            wanted.or(Some(1))
        };
        let found = rest.iter().take_while(|line| is_meant(line)).count();
        let taken = wanted.unwrap_or(found);
        if taken == 0 || taken > found {
            return false;
        }
        rest = &rest[taken..];
    }
    rest.is_empty()
}

/// Lines as they are written in a table.
pub fn counted(lines: &[String]) -> Vec<String> {
    lines
        .chunk_by(|a, b| a == b)
        .map(|same| match same {
            [one] => one.clone(),
            many => format!("{} × {}", many.len(), many[0]),
        })
        .collect()
}

#[test]
fn expected_lines_are_compared_one_by_one() {
    let lines: Vec<String> = ["a 1", "a 2", "b", "b"].map(str::to_owned).into();
    for right in [
        &["a…", "2 × b"][..],
        &["a 1", "a 2", "b", "b"],
        &["2 × a…", "b", "b"],
    ] {
        assert!(agree(right, &lines), "{right:?}");
    }
    for wrong in [
        &["a…"][..],
        &["a…", "b"],
        &["a…", "3 × b"],
        &["3 × a…", "2 × b"],
        &["a…", "2 × b", "c…"],
        &[],
    ] {
        assert!(!agree(wrong, &lines), "{wrong:?}");
    }
}
