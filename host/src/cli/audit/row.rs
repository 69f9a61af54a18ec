//! Entries as lines of a table, safe on any terminal.

use rootbound::escaped;
use serde_json::Value;

use super::filter::Filter;

/// Least widths of the columns but for the last.
const WIDTHS: [usize; 6] = [23, 18, 12, 10, 16, 32];

pub(super) fn heading() -> String {
    line(
        [
            "TIME",
            "CALL",
            "TOOL",
            "KIND",
            "OPERATION",
            "WHERE",
            "RESULT",
        ]
        .map(str::to_owned),
    )
}

/// One line for an entry, or one for each of its objects that is wanted.
pub(super) fn rows(entry: &Value, filter: &Filter<'_>) -> Vec<String> {
    let parts = ["objects", "effects"].map(|name| entry[name].as_array());
    let parts: Vec<&Value> = parts.into_iter().flatten().flatten().collect();
    if parts.is_empty() {
        return vec![row(entry, entry)];
    }
    let wanted = parts.into_iter().filter(|part| filter.admits_part(part));
    wanted.map(|part| row(entry, part)).collect()
}

fn row(entry: &Value, part: &Value) -> String {
    line([
        time(entry),
        text(entry, "call"),
        text(entry, "tool"),
        text(entry, "kind"),
        text(part, "operation"),
        place(part),
        result(entry, part),
    ])
}

fn line(cells: [String; 7]) -> String {
    let mut line = String::new();
    for (at, cell) in cells.iter().enumerate() {
        // A tab would move what follows.
        let cell = escaped(cell).replace('\t', "\\u{9}");
        let width = WIDTHS.get(at).copied().unwrap_or(0);
        line.push_str(&format!("{cell:<width$}  "));
    }
    line.truncate(line.trim_end().len());
    line
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// To the millisecond, in UTC.
fn time(entry: &Value) -> String {
    let time = text(entry, "time").replace('T', " ");
    time.chars().take(WIDTHS[0]).collect()
}

fn place(part: &Value) -> String {
    let at = |root: &str, path: &str| {
        let path = part[path].as_str()?;
        Some(format!("{}:{path}", text(part, root)))
    };
    let mut place = at("root", "path").unwrap_or_default();
    if let Some(resolved) = part["object"]["resolved"].as_str() {
        place.push_str(&format!(" (is {resolved})"));
    }
    if let Some(to) = at("to_root", "to_path") {
        place.push_str(&format!(" -> {to}"));
    }
    place
}

/// How it ended, as far as the entry tells: in the order in which it was decided.
fn result(entry: &Value, part: &Value) -> String {
    let mut words = Vec::new();
    if entry["kind"] == "genesis" {
        words.push(format!("session {}", text(entry, "session")));
    }
    let said = ["decision", "outcome", "code", "reason"];
    words.extend(
        said.into_iter()
            .filter_map(|name| entry[name].as_str().map(str::to_owned)),
    );
    if entry["dry_run"] == true {
        words.push("dry run".to_owned());
    }
    if let Some(approver) = entry["approver"].as_str() {
        words.push(format!("by {approver}"));
    }
    if let Some(settles) = entry["settles"].as_u64() {
        words.push(format!("for entry {settles} of a killed process"));
    }
    if let Some(bytes) = part["bytes"].as_u64() {
        words.push(format!("{bytes} bytes"));
    }
    if let Some(covers) = entry["covers"].as_object() {
        let count = |name: &str| covers.get(name).and_then(Value::as_u64).unwrap_or(0);
        let (files, directories) = (count("files"), count("directories"));
        words.push(format!(
            "{files} files and {directories} directories inside"
        ));
    }
    if let Some(torn) = entry["repaired"]["bytes"].as_u64() {
        words.push(format!("{torn} bytes of half a line cut off"));
    }
    if let Some(duration) = entry["duration_us"].as_u64() {
        words.push(format!("{}.{:03} ms", duration / 1000, duration % 1000));
    }
    words.join(", ")
}
