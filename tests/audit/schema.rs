//! `docs/audit.md` and `docs/audit.schema.json`, against what is really written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rootbound::{
    AuditKey, AuditLog, CallOptions, Consent, RefuseEverything, Rotation, Session, SessionBuilder,
    TraceParent,
};
use serde_json::{Value, json};

use super::lines_of;
use crate::hostile::component;
use crate::support::Fixture;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name);
    fs::read_to_string(path).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(&document("audit.schema.json")).unwrap()
}

/// The part of JSON Schema that the schema uses. A word that is not known here fails the
/// test, so that none goes unheeded.
struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        for (word, rule) in schema.as_object().unwrap() {
            let holds = match &**word {
                "$schema"
                | "$id"
                | "$defs"
                | "title"
                | "description"
                | "required"
                | "additionalProperties" => true,
                "$ref" => return self.check(self.referred(rule), value),
                "oneOf" => return self.check_one(rule, value),
                "type" => is_of_type(rule.as_str().unwrap(), value),
                "const" => value == rule,
                "enum" => rule.as_array().unwrap().contains(value),
                "minimum" => value.as_u64() >= rule.as_u64(),
                "pattern" => matches(rule.as_str().unwrap(), value.as_str().unwrap()),
                "properties" => return self.check_members(schema, value),
                "items" => return self.check_items(rule, value),
                other => panic!("the test does not know `{other}`: teach it"),
            };
            if !holds {
                return Err(format!("`{word}` does not hold for {value}"));
            }
        }
        Ok(())
    }

    fn referred(&self, reference: &Value) -> &Value {
        let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
        self.root.pointer(pointer).unwrap()
    }

    fn check_one(&self, choices: &Value, value: &Value) -> Result<(), String> {
        let choices = choices.as_array().unwrap();
        let answers: Vec<_> = choices
            .iter()
            .map(|choice| self.check(choice, value))
            .collect();
        match answers.iter().filter(|answer| answer.is_ok()).count() {
            1 => Ok(()),
            count => Err(format!("{count} kinds fit {value}: {answers:?}")),
        }
    }

    fn check_items(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let items = value.as_array().ok_or("no array")?;
        items.iter().try_for_each(|item| self.check(schema, item))
    }

    fn check_members(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let members = value
            .as_object()
            .ok_or_else(|| format!("no object: {value}"))?;
        for name in schema["required"].as_array().into_iter().flatten() {
            if !members.contains_key(name.as_str().unwrap()) {
                return Err(format!("without {name}"));
            }
        }
        for (name, member) in members {
            match schema["properties"].get(name) {
                Some(schema) => self
                    .check(schema, member)
                    .map_err(|why| format!("`{name}`: {why}"))?,
                None if schema["additionalProperties"] == false => {
                    return Err(format!("`{name}` is not foreseen"));
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("the test does not know the type `{other}`"),
    }
}

/// Patterns of one class of characters, so many times: `^[0-9a-f]{64}$`, `^[0-9]+$`; and the
/// one of a trace.
fn matches(pattern: &str, text: &str) -> bool {
    if pattern.starts_with("^00-") {
        return text
            .parse::<TraceParent>()
            .is_ok_and(|trace| trace.to_string() == text);
    }
    let (class, times) = pattern
        .strip_prefix("^[")
        .and_then(|rest| rest.strip_suffix('$'))
        .and_then(|rest| rest.split_once(']'))
        .unwrap_or_else(|| panic!("the test does not know the pattern `{pattern}`"));
    let hex = class == "0-9a-f";
    assert!(hex || class == "0-9", "{pattern}");
    let fits = |c: char| c.is_ascii_digit() || hex && ('a'..='f').contains(&c);
    let length = times
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let right_length = match length {
        Some(length) => text.len() == length.parse::<usize>().unwrap(),
        None => !text.is_empty(),
    };
    right_length && text.chars().all(fits)
}

fn check(entry: &Value) -> Result<(), String> {
    let schema = schema();
    Validator { root: &schema }.check(&schema, entry)
}

/// A session's calls: what succeeds, what is refused, what fails, whatever leaves entries.
fn work(session: &Session) {
    for (tool, arguments) in [
        ("list_files", json!({})),
        ("read_file", json!({ "path": "t" })),
        ("read_file", json!({ "path": "./d/../t" })),
        ("read_files", json!({ "paths": ["t", "d/t"] })),
        ("search_files", json!({ "query": "x" })),
        ("find_files", json!({ "pattern": "**" })),
        ("file_exists", json!({ "path": "none" })),
        ("read_file", json!({ "path": "../t" })),
        ("write_file", json!({ "path": "new/t", "content": "x" })),
        ("write_file", json!({ "path": "new/t", "content": "y" })),
        ("append_file", json!({ "path": "new/t", "content": "z" })),
        ("move_file", json!({ "from": "new/t", "to": "new/u" })),
        (
            "write_file",
            json!({ "path": "new/u", "content": "x", "expected_sha256": "0".repeat(64) }),
        ),
        ("create_directory", json!({ "dir_path": "d2/e\u{202e}" })),
        ("delete_file", json!({ "path": "old" })),
        ("delete_file", json!({ "path": "new", "recursive": true })),
        ("no_such_tool", json!([])),
    ] {
        let _ = session.call(tool, arguments);
    }
    let dry_run = CallOptions {
        dry_run: true,
        trace: Some(super::traces::PARENT.parse().unwrap()),
        ..CallOptions::default()
    };
    let write = json!({ "path": "never-made", "content": "x" });
    session.call_with("write_file", write, dry_run).unwrap();
}

fn builder(fixture: &Fixture) -> SessionBuilder {
    let log = fixture.outside().join("audit.jsonl");
    let log = AuditLog::file(log).unwrap().signed_by(AuditKey::generate());
    Session::builder()
        .read_root(fixture.inputs())
        .work_root(fixture.workspace())
        .state_directory(crate::support::STATE)
        .overwrite(Consent::Allow)
        .delete(Consent::Allow)
        .audit(log)
}

/// The lines of a long run: all policies, both components, a crash, a torn line, rotation.
fn long_run(fixture: &Fixture) -> Vec<String> {
    fixture.input("t", "x");
    fixture.input("d/t", "x");
    fixture.work("old", "x");
    let log = fixture.outside().join("audit.jsonl");
    work(&builder(fixture).record_arguments(true).build().unwrap());
    work(
        &builder(fixture)
            .delete(Consent::Ask)
            .approver(RefuseEverything)
            .principal("somebody")
            .note_confinement(true)
            .build()
            .unwrap(),
    );
    work(
        &builder(fixture)
            .overwrite(Consent::Deny)
            .delete(Consent::Deny)
            .build()
            .unwrap(),
    );
    let hostile = builder(fixture)
        .component(component::compiled())
        .build()
        .unwrap();
    for tool in [
        "trap",
        "stage_and_trap",
        "make_directories_and_trap",
        "rename_over",
        "walk_out",
    ] {
        let _ = hostile.call(tool, "{}");
    }
    drop(hostile);
    let mut lines = lines_of(&log);
    // Killed between an intent and its outcome, and then half a line.
    let intent = lines
        .iter()
        .rposition(|line| line.contains("\"kind\":\"intent\""))
        .unwrap();
    fs::write(&log, lines[..=intent].join("\n") + "\n{\"kind\"").unwrap();
    drop(builder(fixture).build().unwrap());
    lines.extend(lines_of(&log).split_off(intent + 1));
    let rotation = Rotation {
        max_bytes: Some(1),
        max_age: None,
    };
    let session = builder(fixture).audit_rotation(rotation).build().unwrap();
    work(&session);
    drop(session);
    lines.extend(lines_of(&log));
    lines
}

#[test]
fn every_entry_of_a_long_run_is_as_the_schema_says() {
    let lines = long_run(&Fixture::new());
    let mut kinds = BTreeSet::new();
    let mut fields = BTreeSet::new();
    for line in lines {
        let entry: Value = serde_json::from_str(&line).unwrap();
        check(&entry).unwrap_or_else(|why| panic!("{why}:\n{line}"));
        kinds.insert(entry["kind"].as_str().unwrap().to_owned());
        fields.extend(entry.as_object().unwrap().keys().cloned());
    }
    // The control: the run is long enough to have everything in it.
    assert_eq!(Vec::from_iter(kinds), kinds_of_schema());
    // But for what our own component does not have; `tests/components` has one that does.
    let missing: Vec<String> = fields_of_schema().difference(&fields).cloned().collect();
    assert_eq!(missing, ["imports"]);
}

fn kinds_of_schema() -> Vec<String> {
    let schema = schema();
    let choices = schema["oneOf"].as_array().unwrap().iter();
    let name = |choice: &Value| {
        choice["$ref"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap()
            .to_owned()
    };
    choices.map(name).collect()
}

fn fields_of_schema() -> BTreeSet<String> {
    let schema = schema();
    let kinds = kinds_of_schema().into_iter();
    let members = kinds.map(|kind| {
        schema["$defs"][kind]["properties"]
            .as_object()
            .unwrap()
            .clone()
    });
    members
        .flat_map(|members| members.into_iter().map(|(name, _)| name))
        .collect()
}

/// The control: the schema does notice.
#[test]
fn the_schema_refuses_what_is_not_an_entry() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    recorded.error("read_file", json!({ "path": "../x" }));
    for entry in recorded.entries() {
        check(&entry).unwrap();
        for name in ["kind", "seq", "time", "prev", "hash", "session"] {
            let mut without = entry.clone();
            without.as_object_mut().unwrap().remove(name);
            assert!(check(&without).is_err(), "{without}");
            let mut wrong = entry.clone();
            wrong[name] = json!([]);
            assert!(check(&wrong).is_err(), "{wrong}");
        }
        let mut more = entry;
        more["content"] = json!("x");
        assert!(check(&more).is_err(), "{more}");
    }
}

#[test]
fn the_documentation_knows_every_kind_and_field() {
    let text = document("audit.md");
    for name in kinds_of_schema().into_iter().chain(fields_of_schema()) {
        assert!(
            text.contains(&format!("`{name}`")),
            "docs/audit.md does not say what `{name}` is"
        );
    }
}

#[test]
fn the_lines_in_the_documentation_are_entries() {
    let text = document("audit.md");
    let mut kinds = BTreeSet::new();
    for line in text.lines().filter(|line| line.starts_with("{\"")) {
        let entry: Value = serde_json::from_str(line).unwrap();
        check(&entry).unwrap_or_else(|why| panic!("{why}:\n{line}"));
        assert_eq!(entry["hash"], super::hash_of(&entry), "{line}");
        kinds.insert(entry["kind"].as_str().unwrap().to_owned());
    }
    assert_eq!(Vec::from_iter(kinds), kinds_of_schema());
}
