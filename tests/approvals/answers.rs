//! Every kind of approver, and what a call answers when it has been asked.

use std::future::{Future, pending, poll_fn};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use rootbound::{
    ApprovalRequest, ApproveEverythingUnseen, AsyncApprover, Consent, Decision, Nobody,
    RefuseEverything, Scope, Session, SessionBuilder,
};
use serde_json::json;

use super::{DESTRUCTIONS, Witness, asking, destructible, is_untouched};
use crate::support::Recorded;

/// Short where nobody will answer, long where somebody will.
const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(60);

/// An approver, and the code of the answer; none where the change is made.
struct Row {
    approver: &'static str,
    add: fn(SessionBuilder) -> SessionBuilder,
    code: Option<&'static str>,
}

const ROWS: [Row; 13] = [
    Row {
        approver: "none, which is the default",
        add: |builder| builder,
        code: Some("approval-required"),
    },
    Row {
        approver: "nobody",
        add: |builder| builder.approver(Nobody),
        code: Some("approval-required"),
    },
    Row {
        approver: "one that refuses everything",
        add: |builder| builder.approver(RefuseEverything),
        code: Some("approval-denied"),
    },
    Row {
        approver: "one that approves everything",
        add: |builder| builder.approver(ApproveEverythingUnseen),
        code: None,
    },
    Row {
        approver: "a function that approves",
        add: |builder| builder.approver(|_: &ApprovalRequest| Decision::approve_once("f")),
        code: None,
    },
    Row {
        approver: "a function that refuses",
        add: |builder| builder.approver(|_: &ApprovalRequest| Decision::refuse("f")),
        code: Some("approval-denied"),
    },
    Row {
        approver: "a function that reaches nobody",
        add: |builder| builder.approver(|_: &ApprovalRequest| Decision::Nobody),
        code: Some("approval-required"),
    },
    Row {
        approver: "a function that leaves the question open",
        add: |builder| {
            builder.approver(|request: &ApprovalRequest| Decision::Pending {
                id: request.id().to_owned(),
            })
        },
        code: Some("approval-required"),
    },
    Row {
        approver: "a function that panics",
        add: |builder| builder.approver(|_: &ApprovalRequest| -> Decision { panic!("broken") }),
        code: Some("approval-denied"),
    },
    Row {
        approver: "an async function that approves at once",
        add: |builder| builder.approver(AsyncApprover::new(approve, LONG)),
        code: None,
    },
    Row {
        approver: "an async function that approves later, from another thread",
        add: |builder| builder.approver(AsyncApprover::new(|_| approve_elsewhere(), LONG)),
        code: None,
    },
    Row {
        approver: "an async function that never answers",
        add: |builder| builder.approver(AsyncApprover::new(|_| pending(), SHORT)),
        code: Some("approval-denied"),
    },
    Row {
        approver: "an async function that panics",
        add: |builder| builder.approver(AsyncApprover::new(break_down, LONG)),
        code: Some("approval-denied"),
    },
];

async fn approve(_: ApprovalRequest) -> Decision {
    Decision::approve_once("async")
}

async fn break_down(_: ApprovalRequest) -> Decision {
    panic!("broken")
}

/// Answers when it is asked for the second time, which another thread brings about.
fn approve_elsewhere() -> impl Future<Output = Decision> {
    let mut asked_before = false;
    poll_fn(move |context| {
        if asked_before {
            return Poll::Ready(Decision::approve_once("async"));
        }
        asked_before = true;
        let waker = context.waker().clone();
        thread::spawn(move || waker.wake());
        Poll::Pending
    })
}

#[test]
fn only_an_approval_lets_a_change_happen() {
    for row in &ROWS {
        for destruction in &DESTRUCTIONS {
            let fixture = destructible();
            let recorded = Recorded::build((row.add)(asking(&fixture)));
            let answer = recorded.call(destruction.tool, (destruction.arguments)());
            let case = format!("{}: {}", row.approver, destruction.tool);
            let code = answer.as_ref().err().map(|error| error.code().to_owned());
            assert_eq!(code.as_deref(), row.code, "{case}");
            assert_eq!(is_untouched(&fixture), row.code.is_some(), "{case}");
            if let Err(error) = answer {
                assert!(!error.hint().is_empty(), "{case}");
                assert!(!error.details().contains_key("committed"), "{case}");
            }
        }
    }
}

#[test]
fn a_session_goes_on_after_its_approver_broke() {
    let fixture = destructible();
    let recorded = Recorded::build(asking(&fixture).approver(
        |request: &ApprovalRequest| -> Decision {
            assert_eq!(request.tool, "delete_file", "broken");
            Decision::approve_once("f")
        },
    ));
    let write = json!({"path": "a.txt", "content": "new"});
    assert_eq!(
        recorded.error("write_file", write).code(),
        "approval-denied"
    );
    recorded.fields("delete_file", json!({"path": "a.txt"}));
}

#[test]
fn the_clock_stands_still_while_somebody_thinks() {
    let fixture = destructible();
    let limit = Duration::from_millis(400);
    let think = move |_: &ApprovalRequest| {
        thread::sleep(limit * 2);
        Decision::approve_once("a slow thinker")
    };
    let recorded = Recorded::build(asking(&fixture).timeout(limit).approver(think));
    recorded.fields("delete_file", json!({"path": "a.txt"}));
    assert!(!is_untouched(&fixture));
}

#[test]
fn others_may_write_beside_the_file_while_somebody_thinks() {
    let fixture = destructible();
    let other = Recorded::build(asking(&fixture));
    let other = other.session.clone();
    let recorded = Recorded::build(asking(&fixture).approver(move |_: &ApprovalRequest| {
        let beside = json!({"path": "beside.txt", "content": "new"});
        other.call("write_file", beside).unwrap();
        Decision::approve_once("f")
    }));
    recorded.fields("delete_file", json!({"path": "a.txt"}));
    assert_eq!(fixture.workspace_text("beside.txt"), "new");
}

#[test]
fn an_approver_of_one_session_does_not_answer_for_another() {
    let fixture = destructible();
    let approving = Witness::answering(Decision::Approved {
        scope: Scope::Session,
        by: "witness".to_owned(),
    });
    let first = Recorded::build(asking(&fixture).approver(approving));
    first.fields("write_file", json!({"path": "a.txt", "content": "new"}));
    let second = Recorded::build(asking(&fixture));
    let error = second.error("delete_file", json!({"path": "full/b.txt"}));
    assert_eq!(error.code(), "approval-required");
}

#[test]
fn without_ask_there_is_no_default_that_overwrites() {
    let fixture = destructible();
    let builder = Session::builder().work_root(fixture.workspace());
    let defaults = Recorded::build(builder.approver(ApproveEverythingUnseen));
    let write = json!({"path": "a.txt", "content": "new"});
    assert_eq!(
        defaults.error("write_file", write).code(),
        "overwrite-denied"
    );
    assert_eq!(defaults.session.policy().overwrite, Consent::Deny);
    assert_eq!(defaults.session.policy().delete, Consent::Ask);
    assert!(is_untouched(&fixture));
}
