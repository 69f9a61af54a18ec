//! What the audit log says about approvals.

use rootbound::{ApproveEverythingUnseen, Decision, Scope};
use serde_json::{Value, json};

use super::{DESTRUCTIONS, Witness, asking, binding, destructible, session_asking};
use crate::support::Recorded;

fn kinds(recorded: &Recorded) -> Vec<String> {
    let kind = |entry: &Value| entry["kind"].as_str().unwrap().to_owned();
    recorded.entries().iter().map(kind).collect()
}

/// An answer, and what the log says of it: decision, approver, code.
type Row = (
    fn() -> Decision,
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
);

const ROWS: [Row; 4] = [
    (
        || Decision::approve_once("alice"),
        "approved",
        Some("alice"),
        None,
    ),
    (
        || Decision::refuse("bob"),
        "not-approved",
        Some("bob"),
        Some("approval-denied"),
    ),
    (
        || Decision::Nobody,
        "not-approved",
        None,
        Some("approval-required"),
    ),
    (
        || Decision::Pending { id: "1".to_owned() },
        "not-approved",
        None,
        Some("approval-required"),
    ),
];

#[test]
fn every_answer_is_recorded_before_anything_changes() {
    for (answer, decision, approver, code) in ROWS {
        for destruction in &DESTRUCTIONS {
            let fixture = destructible();
            let witness = Witness::answering(answer());
            let recorded = session_asking(&fixture, witness.clone());
            let done = recorded.call(destruction.tool, (destruction.arguments)());
            let approvals = recorded.entries_of("approval");
            let [entry] = &approvals[..] else {
                panic!("one approval entry: {approvals:?}");
            };
            assert_eq!(entry["decision"], decision);
            assert_eq!(entry["approval"], witness.question().digest);
            assert_eq!(entry["tool"], destruction.tool);
            assert_eq!(entry["risk"], "DESTRUCTIVE");
            assert_eq!(entry.get("approver").and_then(Value::as_str), approver);
            assert_eq!(entry.get("code").and_then(Value::as_str), code);
            let expected: &[&str] = match done {
                Ok(_) => &["genesis", "approval", "intent", "outcome", "call"],
                Err(_) => &["genesis", "approval", "refusal", "call"],
            };
            assert_eq!(kinds(&recorded), expected, "{}", destruction.tool);
        }
    }
}

#[test]
fn what_was_not_asked_about_has_no_approval_entry() {
    let fixture = destructible();
    let recorded = session_asking(&fixture, Witness::approving());
    recorded.fields("write_file", json!({"path": "new.txt", "content": "x"}));
    recorded.fields("read_file", json!({"path": "a.txt"}));
    assert!(recorded.entries_of("approval").is_empty());
}

#[test]
fn a_change_under_an_earlier_answer_says_so() {
    let fixture = destructible();
    let witness = Witness::answering(Decision::Approved {
        scope: Scope::Session,
        by: "alice".to_owned(),
    });
    let recorded = session_asking(&fixture, witness);
    recorded.fields("delete_file", json!({"path": "a.txt"}));
    recorded.fields("delete_file", json!({"path": "full/b.txt"}));
    let approvals = recorded.entries_of("approval");
    assert_eq!(approvals[0]["approver"], "alice");
    assert_eq!(approvals[1]["approver"], "earlier answer for the session");
    assert_eq!(approvals[1]["decision"], "approved");
    assert_ne!(approvals[0]["approval"], approvals[1]["approval"]);
}

#[test]
fn approving_unseen_shows_in_the_log() {
    let fixture = destructible();
    let recorded = Recorded::build(asking(&fixture).approver(ApproveEverythingUnseen));
    recorded.fields("delete_file", json!({"path": "a.txt"}));
    let approvals = recorded.entries_of("approval");
    assert_eq!(approvals[0]["approver"], "approve-everything-unseen");
}

#[test]
fn question_and_use_of_a_queued_approval_have_one_digest() {
    let fixture = destructible();
    let (tool, arguments) = binding::write();
    let first = binding::session(&fixture);
    let id = binding::id_of(&first.error(tool, arguments.clone()));
    let queue = binding::queue(&fixture);
    let digest = queue.list().unwrap()[0].digest.clone();
    queue.approve(&id).unwrap();
    let second = binding::session(&fixture);
    second.fields(tool, arguments);
    for (recorded, decision) in [(first, "not-approved"), (second, "approved")] {
        let entry = &recorded.entries_of("approval")[0];
        assert_eq!(entry["approval"], digest.as_str());
        assert_eq!(entry["decision"], decision);
    }
}

#[test]
fn the_log_holds_neither_old_nor_new_content() {
    let fixture = destructible();
    fixture.work("a.txt", "the old secret");
    let recorded = session_asking(&fixture, Witness::approving());
    let write = json!({"path": "a.txt", "content": "the new secret"});
    recorded.fields("write_file", write);
    assert!(!recorded.lines().join("\n").contains("secret"));
}
