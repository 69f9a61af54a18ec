//! What a listing shows: every name, none that opens something else.

use std::fs;

use serde_json::{Value, json};

use super::answer::of_tool;
use super::layout::Layout;
use super::trial::{session, session_of};
use super::uses::USES;
use super::verdict::Policy;

/// Names that no path can carry, and one that can.
const ODD: &str = "~x6261642dff=hit; ~xff=hit; ~xc328=hit; ~xeda080=hit; ~xe9=hit; \
    ~j\"bad-\\\\xff\"=hit; ~j\"a\\nb\"=hit; ~j\"\\u001b[31mred\"=hit; ~j\"C:x\"=hit; \
    ~j\"NUL\"=hit; ~j\"a\\\\b\"=hit; ~j\"\\u00e9\"=good; good=good";

fn entries(layout: &Layout, path: &str) -> Vec<Value> {
    let output = session(layout, Policy::Everything)
        .call("list_files", json!({ "path": path }))
        .unwrap();
    output.fields()["entries"].as_array().unwrap().clone()
}

fn unusable(entries: &[Value]) -> Vec<&str> {
    let unusable = entries.iter().filter(|entry| entry["usable"] == false);
    unusable
        .map(|entry| entry["name"].as_str().unwrap())
        .collect()
}

#[test]
fn names_that_are_not_utf_8_are_shown_escaped_and_hide_nothing() {
    let layout = Layout::new("~x6261642dff; ~xff2f66; d/; good; ~j\"\\u00e9\"");
    let entries = entries(&layout, ".");
    let shown: Vec<_> = entries
        .iter()
        .map(|entry| {
            (
                entry["name"].as_str().unwrap(),
                entry["type"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("bad-\\xff", "file"),
            ("d", "directory"),
            ("good", "file"),
            ("\u{e9}", "file"),
            ("\\xff", "directory"),
        ]
    );
    assert_eq!(unusable(&entries), ["bad-\\xff", "\\xff"]);
}

#[test]
fn what_is_shown_as_unusable_opens_nothing_by_any_argument() {
    for policy in [Policy::Everything, Policy::AnyNames] {
        let layout = Layout::new(ODD);
        let entries = entries(&layout, ".");
        let unusable = unusable(&entries);
        assert_eq!(
            unusable.len(),
            entries.len() - 2,
            "only two of the names are usable"
        );
        let bytes = unusable.iter().filter(|name| name.contains("\\x"));
        for (name, one) in bytes.flat_map(|name| USES.iter().map(move |one| (name, one))) {
            let before = fs::read_dir(layout.root()).unwrap().count();
            let recorded = session_of(one.toolset(), &layout, policy);
            let result = recorded.call(one.tool, one.arguments(name));
            let answer = of_tool(one.operation, &result);
            let refused = answer.starts_with("invalid-path:");
            assert!(refused, "an escaped name is no path: {answer}");
            assert_eq!(fs::read_dir(layout.root()).unwrap().count(), before);
        }
    }
}

#[test]
fn a_name_is_one_line_of_the_result_whatever_is_in_it() {
    let layout = Layout::new("~j\"a\\nFAKE: ok\"; ~j\"b\\u001b[31m\"; ~j\"c\\u2028d\"");
    let recorded = session(&layout, Policy::Everything);
    let output = recorded.call("list_files", json!({})).unwrap();
    let bare = |text: &str| text.chars().any(|c| c.is_control() || c == '\u{2028}');
    assert!(!output.to_json().contains(char::is_control));
    assert!(recorded.lines().iter().all(|line| !bare(line.trim_end())));
}

#[test]
fn links_are_shown_as_links_wherever_they_lead() {
    let layout = Layout::new(
        "f; OUT/s=secret; in -> f; out -> ../OUT/s; away -> ../OUT; dangling -> nowhere; \
         loop -> loop; root -> /; magic -> /proc/self/root",
    );
    for entry in entries(&layout, ".") {
        let expected = if entry["name"] == "f" {
            "file"
        } else {
            "symlink"
        };
        assert_eq!(entry["type"], expected, "{entry}");
        assert!(!entry.to_string().contains("OUT"), "{entry}");
    }
}

#[test]
fn entries_without_permission_spoil_no_listing() {
    let layout = Layout::new("a; closed/f; z; mode closed 0000; fifo p; sock s; dev n");
    let names: Vec<Value> = entries(&layout, ".")
        .iter()
        .map(|entry| json!([entry["name"], entry["type"]]))
        .collect();
    let expected = json!([
        ["a", "file"],
        ["closed", "directory"],
        ["n", "other"],
        ["p", "other"],
        ["s", "other"],
        ["z", "file"],
    ]);
    assert_eq!(Value::from(names), expected);
}

#[test]
fn a_hundred_thousand_entries_are_cut_where_the_limit_says_and_none_is_lost_without() {
    let layout = Layout::new("many d/ 100000");
    let recorded = session(&layout, Policy::Everything);
    let fields = recorded.fields("list_files", json!({ "path": "d" }));
    assert_eq!(fields["count"], 10_000);
    assert_eq!(fields["truncated"], true);
    assert_eq!(fields["next_cursor"], "0:0:009999");

    let limits = rootbound::Limits {
        max_entries: 200_000,
        ..rootbound::Limits::default()
    };
    let wide = crate::support::Recorded::build(
        rootbound::Session::builder()
            .read_root(layout.root())
            .limits(limits),
    );
    let fields = wide.fields("list_files", json!({ "path": "d", "details": false }));
    assert_eq!(fields["count"], 100_000);
    assert_eq!(fields["truncated"], false);
    let entries = fields["entries"].as_array().unwrap();
    let numbers = entries.iter().map(|entry| entry["name"].as_str().unwrap());
    assert!(numbers.eq((0..100_000).map(|number| format!("{number:06}"))));
}
