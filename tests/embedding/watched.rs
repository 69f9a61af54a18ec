//! Calls that others watch and end, and sessions that are set apart for many callers.

use std::sync::Arc;

use rootbound::{
    ApproveEverythingUnseen, CallOptions, CallWatch, RefuseEverything, SessionBuilder,
};
use serde_json::json;

use crate::support::{Fixture, Recorded};

fn watched(watch: &Arc<CallWatch>) -> CallOptions {
    CallOptions {
        watch: Some(Arc::clone(watch)),
        ..CallOptions::default()
    }
}

#[test]
fn a_call_that_is_cancelled_before_it_runs_changes_nothing_and_is_on_record() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let watch = Arc::new(CallWatch::default());
    assert!(watch.cancel());
    let arguments = json!({"path": "a.md", "content": "x"});
    let error = recorded
        .session
        .call_with("write_file", arguments, watched(&watch))
        .unwrap_err();
    assert_eq!(error.code(), "cancelled");
    assert!(!fixture.workspace().join("a.md").exists());
    let call = recorded.entries_of("call").remove(0);
    assert_eq!(call["outcome"], "cancelled");
}

#[test]
fn what_was_committed_cannot_be_cancelled() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let watch = Arc::new(CallWatch::default());
    let arguments = json!({"path": "a.md", "content": "x"});
    let written = recorded
        .session
        .call_with("write_file", arguments, watched(&watch));
    assert!(written.is_ok() && !watch.cancel());
    assert!(watch.operations() > 0);
}

#[test]
fn an_approver_for_one_call_is_asked_instead_of_the_sessions() {
    let fixture = Fixture::new();
    let both = |builder: SessionBuilder| builder.work_root(fixture.workspace());
    let recorded = Recorded::build(both(rootbound::Session::builder()).approver(RefuseEverything));
    fixture.work("a.md", "x");
    fixture.work("b.md", "x");
    let options = CallOptions {
        approver: Some(Arc::new(ApproveEverythingUnseen)),
        ..CallOptions::default()
    };
    let delete = |path: &str| json!({ "path": path });
    let once = recorded
        .session
        .call_with("delete_file", delete("a.md"), options);
    assert!(once.is_ok());
    let again = recorded.error("delete_file", delete("b.md"));
    assert_eq!(again.code(), "approval-denied");
}

#[test]
fn a_session_apart_does_not_take_the_others_work_for_its_own() {
    let fixture = Fixture::new();
    let recorded = Recorded::build(rootbound::Session::builder().work_root(fixture.workspace()));
    let apart = recorded.session.apart("someone");
    assert_eq!(apart.principal(), "someone");
    assert!(apart.id().starts_with(recorded.session.id()));
    let write = json!({"path": "a.md", "content": "x"});
    recorded.call("write_file", write).unwrap();
    let delete = json!({"path": "a.md"});
    let refused = apart.call("delete_file", &delete).unwrap_err();
    assert_eq!(refused.code(), "approval-required");
    recorded.call("delete_file", delete).unwrap();
    recorded.session.close().unwrap();
    assert!(apart.is_closed());
}
