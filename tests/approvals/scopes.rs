//! An answer reaches as far as the approver says, and no further.

use rootbound::{Decision, Scope};
use serde_json::{Value, json};

use super::{Witness, destructible, session_asking};

fn approving(scope: Scope) -> Witness {
    Witness::answering(Decision::Approved {
        scope,
        by: "witness".to_owned(),
    })
}

/// Calls in one session, each with how often the approver has been asked by then.
type Story = [(&'static str, fn() -> Value, usize)];

const STORIES: [(Scope, &Story); 3] = [
    (
        Scope::Call,
        &[
            ("write_file", || json!({"path": "a.txt", "content": "1"}), 1),
            ("write_file", || json!({"path": "a.txt", "content": "2"}), 2),
            ("delete_file", || json!({"path": "a.txt"}), 3),
        ],
    ),
    (
        Scope::Paths,
        &[
            ("write_file", || json!({"path": "a.txt", "content": "1"}), 1),
            ("write_file", || json!({"path": "a.txt", "content": "2"}), 1),
            ("delete_file", || json!({"path": "full/b.txt"}), 2),
            // Another spelling is asked about again: an answer is about what was shown.
            (
                "write_file",
                || json!({"path": "./a.txt", "content": "3"}),
                3,
            ),
        ],
    ),
    (
        Scope::Session,
        &[
            ("write_file", || json!({"path": "a.txt", "content": "1"}), 1),
            ("delete_file", || json!({"path": "a.txt"}), 1),
            (
                "delete_file",
                || json!({"path": "full", "recursive": true}),
                1,
            ),
        ],
    ),
];

#[test]
fn an_answer_reaches_as_far_as_its_scope() {
    for (scope, story) in STORIES {
        let fixture = destructible();
        let witness = approving(scope);
        let recorded = session_asking(&fixture, witness.clone());
        for (tool, arguments, asked) in story {
            // What the session wrote is its own; someone else touches it, so that it is not.
            touch(&fixture);
            recorded.fields(tool, arguments());
            assert_eq!(witness.asked(), *asked, "{scope:?}: {tool} {}", arguments());
        }
    }
}

fn touch(fixture: &crate::support::Fixture) {
    let file = fixture.workspace().join("a.txt");
    if file.exists() {
        std::fs::write(file, "touched").unwrap();
    }
}

#[test]
fn an_approved_directory_does_not_cover_what_is_inside() {
    let fixture = destructible();
    fixture.work("full/c.txt", "old");
    let witness = approving(Scope::Paths);
    let recorded = session_asking(&fixture, witness.clone());
    recorded.fields("delete_file", json!({"path": "full", "recursive": true}));
    fixture.work("full/c.txt", "again");
    recorded.fields("delete_file", json!({"path": "full/c.txt"}));
    assert_eq!(witness.asked(), 2);
}

#[test]
fn a_refusal_is_about_one_call() {
    let fixture = destructible();
    let witness = Witness::refusing();
    let recorded = session_asking(&fixture, witness.clone());
    for asked in 1..=3 {
        let error = recorded.error("delete_file", json!({"path": "a.txt"}));
        assert_eq!(error.code(), "approval-denied");
        assert_eq!(witness.asked(), asked);
    }
}

#[test]
fn every_clone_of_a_session_shares_its_answers() {
    let fixture = destructible();
    let witness = approving(Scope::Session);
    let recorded = session_asking(&fixture, witness.clone());
    recorded.fields("delete_file", json!({"path": "a.txt"}));
    let clone = recorded.session.clone();
    clone
        .call("delete_file", json!({"path": "full/b.txt"}))
        .unwrap();
    assert_eq!(witness.asked(), 1);
}
