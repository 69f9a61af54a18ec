//! Memory and open handles, as far as an ordinary tool comes near them.

use std::time::Duration;

use rootbound::Limits;
use serde_json::{Value, json};

use crate::support::tree::tree;
use crate::support::{Fixture, Recorded};

fn limited(fixture: &Fixture, change: impl FnOnce(&mut Limits)) -> Recorded {
    let mut limits = Limits::default();
    change(&mut limits);
    fixture.session_with(|builder| builder.limits(limits))
}

#[test]
fn a_tool_that_needs_more_memory_than_it_may_have_is_stopped() {
    const MIB: u64 = 1 << 20;
    let fixture = Fixture::new();
    fixture.input("small", "x");
    fixture.input("large", vec![b'x'; 8 * MIB as usize]);
    let recorded = limited(&fixture, |limits| limits.max_memory = 4 * MIB);
    recorded.fields("read_file", json!({ "path": "small" }));
    let error = recorded.error("read_file", json!({ "path": "large" }));
    assert_eq!(error.code(), "limit-exceeded", "{error}");
    assert_eq!(error.details()["limit"], "max_memory");
    assert_eq!(error.details()["value"], 4 * MIB);
    assert!(error.details()["actual"].as_u64().unwrap() > 4 * MIB);
    // One call was stopped; the next starts with all of its memory again.
    recorded.fields("read_file", json!({ "path": "small" }));
}

#[test]
fn a_write_that_is_stopped_for_memory_leaves_nothing() {
    let fixture = Fixture::new();
    let recorded = limited(&fixture, |limits| limits.max_memory = 4 << 20);
    let before = tree(fixture.base());
    let arguments = json!({ "path": "d/t", "content": "x".repeat(5 << 20) });
    let error = recorded.error("write_file", arguments);
    assert_eq!(error.details()["limit"], "max_memory", "{error}");
    assert_eq!(tree(fixture.base()), before);
}

#[test]
fn time_without_limit_is_no_time_out() {
    let fixture = Fixture::new();
    let recorded = fixture.session_with(|builder| builder.timeout(Duration::MAX));
    recorded.fields("list_files", json!({}));
}

/// How many handles a tool needs is its own affair; with one fewer it is refused.
#[test]
fn max_handles_is_exact() {
    let fixture = Fixture::new();
    fixture.input("t", "x");
    let read = json!({ "path": "t" });
    let with = |handles| limited(&fixture, |limits| limits.max_handles = handles);
    let enough = (1..20)
        .find(|handles| with(*handles).call("read_file", read.clone()).is_ok())
        .unwrap();
    let fewer = enough - 1;
    let error = with(fewer).error("read_file", read);
    assert_eq!(error.code(), "limit-exceeded");
    let expected = json!({ "limit": "max_handles", "value": fewer, "actual": enough });
    assert_eq!(Value::Object(error.details().clone()), expected);
}
