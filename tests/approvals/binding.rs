//! An approval is good for the effects that were shown, once, for who asked.

use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rootbound::{ApprovalQueue, ApprovalState, Approver, CallError, Decision, SessionBuilder};
use serde_json::{Value, json};

use super::{Witness, asking, destructible, is_untouched, session_asking};
use crate::support::{Fixture, Recorded};

pub fn directory(fixture: &Fixture) -> PathBuf {
    fixture.base().join("queue")
}

pub fn queue(fixture: &Fixture) -> ApprovalQueue {
    ApprovalQueue::open(directory(fixture)).unwrap()
}

pub fn session(fixture: &Fixture) -> Recorded {
    session_asking(fixture, queue(fixture))
}

/// The call that is approved in these tests.
pub fn write() -> (&'static str, Value) {
    ("write_file", json!({"path": "a.txt", "content": "new"}))
}

/// The id under which a call waits.
pub fn id_of(error: &CallError) -> String {
    assert_eq!(error.code(), "approval-required");
    error.details()["approval"].as_str().unwrap().to_owned()
}

/// Asks for [`write`] and approves it.
pub fn approve(fixture: &Fixture) -> String {
    let (tool, arguments) = write();
    let id = id_of(&session(fixture).error(tool, arguments));
    queue(fixture).approve(&id).unwrap();
    id
}

#[test]
fn an_approved_call_is_admitted_from_any_session_of_the_same_user() {
    let fixture = destructible();
    approve(&fixture);
    let (tool, arguments) = write();
    session(&fixture).fields(tool, arguments);
    assert_eq!(fixture.workspace_text("a.txt"), "new");
    assert!(queue(&fixture).list().unwrap().is_empty(), "it was used up");
}

#[test]
fn asking_again_before_the_answer_is_the_same_question() {
    let fixture = destructible();
    let (tool, arguments) = write();
    let first = id_of(&session(&fixture).error(tool, arguments.clone()));
    let second = id_of(&session(&fixture).error(tool, arguments));
    assert_eq!(first, second);
    assert_eq!(queue(&fixture).list().unwrap().len(), 1);
}

#[test]
fn an_approval_is_used_up_even_by_a_call_that_fails_afterwards() {
    let fixture = destructible();
    let id = approve(&fixture);
    let (tool, mut arguments) = write();
    // The caller's own expectation is checked after the question, so the target stays as it
    // was and the replay asks for exactly the same effects.
    arguments["expected_version"] = json!("0".repeat(32));
    assert_eq!(session(&fixture).error(tool, arguments).code(), "conflict");
    assert!(is_untouched(&fixture));
    let (tool, arguments) = write();
    assert_eq!(id_of(&session(&fixture).error(tool, arguments)), id);
    assert!(is_untouched(&fixture));
}

/// A call, or a session, that differs in one thing from what was approved.
struct Other {
    what: &'static str,
    tool: &'static str,
    arguments: fn() -> Value,
    change: fn(SessionBuilder, &Fixture) -> SessionBuilder,
    before: fn(&Fixture),
}

const SAME: Other = Other {
    what: "the same",
    tool: "write_file",
    arguments: || write().1,
    change: |builder, _| builder,
    before: |_| {},
};

const OTHERS: [Other; 12] = [
    Other {
        what: "one byte of the content",
        arguments: || json!({"path": "a.txt", "content": "neW"}),
        ..SAME
    },
    Other {
        what: "one byte more",
        arguments: || json!({"path": "a.txt", "content": "new\n"}),
        ..SAME
    },
    Other {
        what: "another file",
        arguments: || json!({"path": "full/b.txt", "content": "new"}),
        ..SAME
    },
    Other {
        what: "another spelling of the path",
        arguments: || json!({"path": "./a.txt", "content": "new"}),
        ..SAME
    },
    Other {
        what: "a deletion of the same file",
        tool: "delete_file",
        arguments: || json!({"path": "a.txt"}),
        ..SAME
    },
    Other {
        what: "another tool with the same effect",
        tool: "create_file",
        arguments: || json!({"file_path": "a.txt", "content": "new", "overwrite": true}),
        ..SAME
    },
    Other {
        what: "another user",
        change: |builder, _| builder.principal("someone else"),
        ..SAME
    },
    Other {
        what: "one grant more",
        change: |builder, fixture| builder.read_root(fixture.inputs()),
        ..SAME
    },
    Other {
        what: "a target that was written to",
        before: |fixture| fs::write(fixture.workspace().join("a.txt"), "old").unwrap(),
        ..SAME
    },
    Other {
        what: "a target that was exchanged for another",
        before: |fixture| {
            let root = fixture.workspace();
            fs::write(root.join("other"), "old").unwrap();
            fs::rename(root.join("other"), root.join("a.txt")).unwrap();
        },
        ..SAME
    },
    Other {
        what: "a target whose mode was changed",
        before: |fixture| {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::Permissions::from_mode(0o600);
            fs::set_permissions(fixture.workspace().join("a.txt"), mode).unwrap();
        },
        ..SAME
    },
    Other {
        what: "a root that was exchanged for another",
        before: |fixture| {
            let root = fixture.workspace();
            fs::rename(&root, fixture.base().join("away")).unwrap();
            fs::create_dir(&root).unwrap();
            fixture.work("a.txt", "old");
            fixture.work("full/b.txt", "old");
        },
        ..SAME
    },
];

impl Other {
    fn call(&self, fixture: &Fixture) -> Result<rootbound::Output, CallError> {
        (self.before)(fixture);
        let builder = (self.change)(asking(fixture), fixture);
        let recorded = Recorded::build(builder.approver(queue(fixture)));
        recorded.call(self.tool, (self.arguments)())
    }
}

#[test]
fn whatever_differs_from_what_was_approved_asks_again() {
    for other in &OTHERS {
        let fixture = destructible();
        let id = approve(&fixture);
        let error = other.call(&fixture).unwrap_err();
        assert_ne!(id_of(&error), id, "{}", other.what);
        assert!(is_untouched(&fixture), "{}", other.what);
    }
}

#[test]
fn the_approval_is_still_good_after_something_else_was_asked() {
    let fixture = destructible();
    approve(&fixture);
    for other in OTHERS.iter().take(8) {
        other.call(&fixture).unwrap_err();
    }
    SAME.call(&fixture).unwrap();
    assert_eq!(fixture.workspace_text("a.txt"), "new");
}

#[test]
fn a_directory_in_which_something_appeared_asks_again() {
    let fixture = destructible();
    let delete = json!({"path": "full", "recursive": true});
    let ask = || session(&fixture).error("delete_file", delete.clone());
    let id = id_of(&ask());
    queue(&fixture).approve(&id).unwrap();
    fixture.work("full/appeared.txt", "someone else's");
    assert_ne!(id_of(&ask()), id);
    assert!(is_untouched(&fixture));
}

#[test]
fn a_target_that_changes_after_the_answer_is_a_conflict() {
    let fixture = destructible();
    let file = fixture.workspace().join("a.txt");
    let touching = move |_: &rootbound::ApprovalRequest| {
        fs::write(&file, "someone else's").unwrap();
        Decision::approve_once("f")
    };
    let recorded = session_asking(&fixture, touching);
    let (tool, arguments) = write();
    assert_eq!(recorded.error(tool, arguments).code(), "conflict");
    assert_eq!(fixture.workspace_text("a.txt"), "someone else's");
}

#[test]
fn a_denied_call_stays_denied_until_it_expires() {
    let fixture = destructible();
    let (tool, arguments) = write();
    let id = id_of(&session(&fixture).error(tool, arguments.clone()));
    queue(&fixture).deny(&id).unwrap();
    for _ in 0..2 {
        let error = session(&fixture).error(tool, arguments.clone());
        assert_eq!(error.code(), "approval-denied");
    }
    rewrite(&fixture, &id, |question| question["expires"] = json!(1));
    assert_eq!(id_of(&session(&fixture).error(tool, arguments)), id);
    assert!(is_untouched(&fixture));
}

/// Changes what stands in the file of a question.
pub fn rewrite(fixture: &Fixture, id: &str, change: impl FnOnce(&mut Value)) {
    let file = directory(fixture).join(format!("{id}.json"));
    let mut question: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    change(&mut question);
    fs::write(file, question.to_string()).unwrap();
}

#[test]
fn an_expired_approval_is_no_approval() {
    let fixture = destructible();
    let id = approve(&fixture);
    rewrite(&fixture, &id, |question| question["expires"] = json!(1));
    let (tool, arguments) = write();
    assert_eq!(id_of(&session(&fixture).error(tool, arguments)), id);
    assert!(is_untouched(&fixture));
    let waiting = queue(&fixture).list().unwrap();
    assert_eq!(waiting[0].state, ApprovalState::Pending);
}

#[test]
fn a_question_is_good_for_as_long_as_its_queue_says() {
    let fixture = destructible();
    let lifetime = Duration::from_secs(60);
    let recorded = session_asking(&fixture, queue(&fixture).lifetime(lifetime));
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs()
    };
    let earliest = now() + lifetime.as_secs();
    let (tool, arguments) = write();
    recorded.error(tool, arguments);
    let expires = queue(&fixture).list().unwrap()[0].expires;
    assert!((earliest..=now() + lifetime.as_secs()).contains(&expires));
}

#[test]
fn of_many_that_use_one_approval_at_the_same_time_one_is_admitted() {
    const RACERS: usize = 8;
    let fixture = destructible();
    let witness = Witness::refusing();
    let (tool, arguments) = write();
    session_asking(&fixture, witness.clone()).error(tool, arguments);
    let request = witness.question();
    for round in 0..20 {
        let Decision::Pending { id } = queue(&fixture).decide(&request) else {
            panic!("round {round}: it was used up");
        };
        queue(&fixture).approve(&id).unwrap();
        let start = Barrier::new(RACERS);
        let race = || {
            let queue = queue(&fixture);
            start.wait();
            queue.decide(&request)
        };
        let decisions: Vec<Decision> = thread::scope(|scope| {
            let racers: Vec<_> = (0..RACERS).map(|_| scope.spawn(race)).collect();
            racers
                .into_iter()
                .map(|racer| racer.join().unwrap())
                .collect()
        });
        let approved = |decision: &&Decision| matches!(decision, Decision::Approved { .. });
        assert_eq!(
            decisions.iter().filter(approved).count(),
            1,
            "{decisions:?}"
        );
    }
}
