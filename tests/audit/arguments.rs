//! Arguments in the log: as a hash, or in full where the operator wants that.

use serde_json::{Value, json};

use super::verify;
use crate::support::{Fixture, Recorded};

fn call_entry(recorded: &Recorded) -> Value {
    verify(&recorded.lines());
    recorded.entries_of("call").pop().unwrap()
}

#[test]
fn arguments_are_a_hash_unless_the_operator_says_otherwise() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    recorded.error("read_file", json!({ "path": "secret-plan" }));
    assert_eq!(call_entry(&recorded)["arguments"], Value::Null);
    let recorded = fixture.session_with(|builder| builder.record_arguments(true));
    recorded.error("read_file", json!({ "path": "secret-plan" }));
    assert_eq!(
        call_entry(&recorded)["arguments"],
        json!({ "path": "secret-plan" })
    );
}

#[test]
fn contents_and_secrets_are_hidden_all_the_same() {
    let fixture = Fixture::new();
    let recorded = fixture.session_with(|builder| builder.record_arguments(true));
    for (tool, arguments) in [
        ("write_file", json!({ "path": "t", "content": "hush" })),
        (
            "edit_file",
            json!({ "path": "t", "edits": [{ "old_text": "hush", "new_text": "hush" }] }),
        ),
        ("apply_patch", json!({ "patch": "--- hush" })),
        (
            "generate_from_template",
            json!({ "template": "hush", "variables": { "x": "hush" } }),
        ),
        (
            "no_such_tool",
            json!({ "password": "hush", "note": "Bearer hushhush" }),
        ),
        ("write_file", json!({ "path": "t", "words": "hush" })),
        (
            "edit_file",
            json!({ "path": "t", "edits": [{ "with": "hush" }] }),
        ),
        ("no_such_tool", json!({ "file": "hush" })),
    ] {
        let _ = recorded.call(tool, arguments);
        let entry = call_entry(&recorded);
        assert!(entry["arguments"].is_object(), "{entry}");
        assert!(
            entry["arguments"].to_string().contains("hidden_bytes"),
            "{entry}"
        );
        assert!(!recorded.lines().concat().contains("hush"), "{tool}");
    }
}

/// Whatever the arguments are, the chain holds and the call is recorded.
#[test]
fn arguments_of_any_form_keep_the_chain() {
    let fixture = Fixture::new();
    let recorded = fixture.session_with(|builder| builder.record_arguments(true));
    let long = json!({ "path": "p".repeat(1 << 20) }).to_string();
    for arguments in [
        r#"{"\ue000": 1, "\ud800\udc00": 1e400, "a": -0.0, "b": 18446744073709551615}"#,
        r#"{"path": "a", "path": "b"}"#,
        "[[[]]]",
        "\"\\ud800\"",
        "",
        "{",
        &long,
    ] {
        let _ = recorded.session.call("read_file", arguments);
        let entry = call_entry(&recorded);
        assert!(entry.to_string().len() < 100_000, "{arguments:.99}");
    }
    assert_eq!(recorded.entries_of("call").len(), 7);
}
