//! What is prepared before a call changes nothing of it. One instance is ready in a process, so
//! that each of these calls may find it or not.

use rootbound::{Limits, ToolComponent};
use serde_json::json;

use crate::support::Fixture;

#[test]
fn an_instance_that_was_ready_serves_one_call_of_whoever_calls_first() {
    let (one, other) = (Fixture::new(), Fixture::new());
    one.input("notes.md", "of one");
    other.input("notes.md", "of the other");
    let sessions = [(one.session(), "of one"), (other.session(), "of the other")];
    let component = ToolComponent::file_tools().unwrap();
    let before = component.instantiations();
    for _ in 0..20 {
        for (session, text) in &sessions {
            component.prepare();
            component.prepare();
            let output = session.call("read_file", json!({"path": "notes.md"}));
            assert_eq!(output.unwrap().text(), Some(*text));
        }
    }
    assert!(component.instantiations() >= before + 40);
}

#[test]
fn an_instance_that_was_ready_has_the_limits_of_its_call() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "hello");
    let component = ToolComponent::file_tools().unwrap();
    let refusal = |max_memory| {
        let limits = Limits {
            max_memory,
            ..Limits::default()
        };
        let session = fixture.session_with(|builder| builder.limits(limits));
        component.prepare();
        let error = session.call("read_file", json!({"path": "notes.md"}));
        error.map(drop).map_err(|error| error.details().clone())
    };
    for _ in 0..20 {
        assert_eq!(refusal(256 << 20), Ok(()));
        // Less than an instance has to begin with.
        let details = refusal(1 << 16).unwrap_err();
        assert_eq!(
            (&details["limit"], &details["value"]),
            (&json!("max_memory"), &json!(1 << 16))
        );
    }
}
