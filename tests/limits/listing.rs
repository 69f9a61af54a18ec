//! Entries of one listing: what is over the limit is cut off, and the answer says so.

use std::fs;

use rootbound::Limits;
use serde_json::{Value, json};

use crate::support::mounts::Mount;
use crate::support::{Fixture, Recorded};

fn limited(fixture: &Fixture, max_entries: u64) -> Recorded {
    let limits = Limits {
        max_entries,
        ..Limits::default()
    };
    fixture.session_with(|builder| builder.limits(limits))
}

fn names(listing: &Value) -> Vec<&str> {
    let entries = listing["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect()
}

#[test]
fn max_entries_is_exact() {
    for (entries, cut) in [(2, false), (3, false), (4, true)] {
        let fixture = Fixture::new();
        for number in 0..entries {
            fixture.input(&format!("n{number}"), "");
        }
        let recorded = limited(&fixture, 3);
        for details in [true, false] {
            let listing = recorded.fields("list_files", json!({ "details": details }));
            assert_eq!(listing["count"], entries.min(3), "{entries}");
            assert_eq!(listing["truncated"], cut, "{entries}");
            let cursor = if cut { json!("0:0:n2") } else { Value::Null };
            assert_eq!(listing["next_cursor"], cursor, "{entries}");
        }
        // To be cut short is an answer, not a refusal.
        assert!(recorded.entries_of("refusal").is_empty());
    }
}

#[test]
fn what_is_left_is_the_first_in_order_of_names() {
    let fixture = Fixture::new();
    let all: Vec<String> = (0..50).map(|number| format!("{number:02}")).collect();
    for name in all.iter().rev() {
        fixture.input(name, "");
    }
    let listing = limited(&fixture, 20).fields("list_files", json!({}));
    assert_eq!(names(&listing), all[..20]);
    assert_eq!(listing["next_cursor"], "0:0:19");
}

#[test]
fn the_default_is_ten_thousand_entries() {
    let fixture = Fixture::new();
    // In memory, where so many files are made and gone in no time.
    let _memory = Mount::memory("64m", &fixture.inputs());
    for number in 0..10_001 {
        fs::write(fixture.inputs().join(format!("{number:05}")), "").unwrap();
    }
    let recorded = fixture.session();
    let listing = recorded.fields("list_files", json!({ "details": false }));
    assert_eq!(listing["count"], 10_000);
    assert_eq!(listing["truncated"], true);
    assert_eq!(listing["next_cursor"], "0:0:09999");
    fs::remove_file(fixture.inputs().join("10000")).unwrap();
    let listing = recorded.fields("list_files", json!({ "details": true }));
    assert_eq!(listing["count"], 10_000);
    assert_eq!(listing["truncated"], false);
    assert_eq!(listing["next_cursor"], Value::Null);
}

#[test]
fn a_limit_of_zero_entries_answers_with_the_limit() {
    let fixture = Fixture::new();
    let recorded = limited(&fixture, 0);
    assert_eq!(recorded.fields("list_files", json!({}))["count"], 0);
    fixture.input("t", "");
    let error = recorded.error("list_files", json!({}));
    assert_eq!(error.code(), "limit-exceeded");
    assert_eq!(error.details()["limit"], "max_entries");
}

/// A component asks for page after page: what it lists in all is bounded by time.
#[test]
fn max_entries_bounds_a_page_of_a_directory_and_not_a_walk() {
    let fixture = Fixture::new();
    for path in ["a/1", "a/2", "a/3", "b/1", "b/2", "b/3"] {
        fixture.input(path, "");
    }
    let recorded = limited(&fixture, 2);
    let tree = recorded.fields("list_files", json!({ "recursive": true }));
    assert_eq!(
        (&tree["count"], &tree["truncated"]),
        (&json!(8), &json!(false))
    );
    let found = recorded.fields("find_files", json!({ "pattern": "3" }));
    assert_eq!(found["count"], 2);
    let flat = recorded.fields("list_files", json!({ "path": "a" }));
    assert_eq!(
        (&flat["count"], &flat["truncated"]),
        (&json!(2), &json!(true))
    );
}
