//! What a success means when the power fails: content and names were synced before it. What
//! could not be synced is not called one.

use super::desk::{
    CREATION, DELETION, DIRECTORIES, Desk, EVERYTHING, FAST_REPLACEMENT, REPLACEMENT, Scenario,
};
use super::strace::{Fault, SystemCall, trace};

fn calls(scenario: &'static Scenario) -> Vec<SystemCall> {
    let desk = Desk::new(scenario);
    let traced = trace(desk.command(), &desk.log(), None);
    traced.run.success();
    traced.calls
}

/// The names of the calls that give something its name or sync something, in order.
fn order(scenario: &'static Scenario) -> Vec<String> {
    let matters = ["fsync", "linkat", "renameat", "renameat2", "unlinkat"];
    let calls = calls(scenario).into_iter();
    calls
        .map(|call| call.name)
        .filter(|name| matters.contains(&&**name))
        .collect()
}

#[test]
fn content_is_synced_before_it_has_its_name_and_the_name_before_the_success() {
    assert_eq!(
        order(&REPLACEMENT),
        ["fsync", "linkat", "renameat", "fsync"]
    );
    // Two directories, and the names of both.
    let creation = [
        "renameat2",
        "renameat2",
        "fsync",
        "fsync",
        "fsync",
        "linkat",
        "fsync",
    ];
    assert_eq!(order(&CREATION), creation);
    let directories = ["renameat2", "renameat2", "fsync", "fsync"];
    assert_eq!(order(&DIRECTORIES), directories);
    assert_eq!(order(&DELETION), ["unlinkat", "fsync"]);
}

#[test]
fn fast_syncs_nothing_of_the_change() {
    assert_eq!(order(&FAST_REPLACEMENT), ["linkat", "renameat"]);
}

#[test]
fn content_that_cannot_be_synced_leaves_the_old() {
    for errno in ["EIO", "ENOSPC", "EDQUOT"] {
        for scenario in [&CREATION, &REPLACEMENT, &EVERYTHING, &DIRECTORIES] {
            let desk = Desk::new(scenario);
            let old = desk.state();
            let fault = Fault::at_every("fsync", &format!("error={errno}"));
            let traced = trace(desk.command(), &desk.log(), Some(&fault));
            let error = traced.run.refusal();
            let code = if errno == "EIO" { "io" } else { "no-space" };
            assert_eq!(error["code"], code, "{}", scenario.name);
            assert_eq!(error.get("committed"), None, "{}", scenario.name);
            assert_eq!(desk.state(), old, "{}", scenario.name);
        }
    }
}

/// The change is there, and everybody sees it; the caller must not take it for lasting.
#[test]
fn a_name_that_cannot_be_synced_is_said_to_be_there_and_not_to_last() {
    for (scenario, syncs) in [(&REPLACEMENT, "2"), (&CREATION, "4"), (&DELETION, "1")] {
        let desk = Desk::new(scenario);
        let old = desk.state();
        let fault = Fault::at("fsync", "error=EIO", syncs);
        let traced = trace(desk.command(), &desk.log(), Some(&fault));
        let error = traced.run.refusal();
        assert_eq!(error["code"], "io");
        assert_eq!(error["reason"], "not-durable");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("the change was made"), "{message}");
        assert!(error["committed"].is_array(), "{error}");
        assert_ne!(desk.state(), old);
        let entries = desk.entries();
        let outcome = entries.iter().rfind(|entry| entry["kind"] == "outcome");
        let outcome = outcome.unwrap();
        assert_eq!(outcome["outcome"], "ok");
        assert_eq!(
            (&outcome["code"], &outcome["reason"]),
            (&error["code"], &error["reason"])
        );
    }
}

/// Two answers want to be given; the one that is must say what the other would have.
#[test]
fn what_was_made_is_listed_also_when_the_call_cannot_be_recorded_any_more() {
    let desk = Desk::new(&REPLACEMENT);
    // The third write is that of the last line: before it come the intent and the outcome.
    let fault = Fault::at("fsync", "error=EIO", "2").and("write:error=EIO:when=3");
    let traced = trace(desk.command(), &desk.log(), Some(&fault));
    let error = traced.run.refusal();
    assert_eq!(error["code"], "audit-unavailable", "{error}");
    assert_eq!(error["committed"][0]["path"], "report.md", "{error}");
    let entries = desk.entries();
    let last = entries.last().unwrap();
    assert_eq!(
        (&last["kind"], &last["reason"]),
        (&"outcome".into(), &"not-durable".into())
    );
}
