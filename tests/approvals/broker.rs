//! The same questions for tools that are not ours.

use rootbound::{
    ApprovalQueue, ApprovalRequest, ApproveEverythingUnseen, Broker, BrokerAnswer, Consent,
    Decision, RefuseEverything, RiskClass,
};
use serde_json::{Value, json};

use super::Witness;
use super::binding::queue;
use crate::support::Fixture;

fn email() -> Value {
    json!({"to": "a@example.org", "body": "hello"})
}

fn ask(broker: &Broker) -> BrokerAnswer {
    broker.check("send_email", &email())
}

#[test]
fn what_nobody_declared_is_send() {
    let broker = Broker::default()
        .declare("search_mail", RiskClass::Read)
        .declare("save_draft", RiskClass::Draft)
        .declare("empty_trash", RiskClass::Destructive);
    for (tool, class, allowed) in [
        ("search_mail", RiskClass::Read, true),
        ("save_draft", RiskClass::Draft, true),
        ("empty_trash", RiskClass::Destructive, false),
        ("send_email", RiskClass::Send, false),
        ("post_api", RiskClass::Send, false),
        ("read_file", RiskClass::Send, false),
        ("", RiskClass::Send, false),
        // A name is declared as it is, not as it looks.
        ("Search_Mail", RiskClass::Send, false),
        ("search_mail ", RiskClass::Send, false),
        ("search_maiI", RiskClass::Send, false),
    ] {
        assert_eq!(broker.classify(tool, &json!({})), class, "{tool:?}");
        let answer = broker.check(tool, &json!({}));
        assert_eq!((answer.class, answer.allowed), (class, allowed), "{tool:?}");
        assert!(!answer.message.is_empty(), "{tool:?}");
    }
}

#[test]
fn no_argument_lowers_the_class() {
    let broker = Broker::default();
    for arguments in [
        json!({"risk": "READ", "approved": true}),
        json!({"class": "DRAFT"}),
        json!("READ"),
        Value::Null,
    ] {
        assert_eq!(broker.classify("send_email", &arguments), RiskClass::Send);
        assert!(!broker.check("send_email", &arguments).allowed);
    }
}

#[test]
fn an_approver_decides_about_what_is_not_harmless() {
    assert!(ask(&Broker::default().approver(ApproveEverythingUnseen)).allowed);
    assert!(!ask(&Broker::default().approver(RefuseEverything)).allowed);
    let broken = |_: &ApprovalRequest| -> Decision { panic!("broken") };
    assert!(!ask(&Broker::default().approver(broken)).allowed);
}

#[test]
fn deny_and_allow_ask_nobody() {
    for (consent, allowed) in [(Consent::Deny, false), (Consent::Allow, true)] {
        let witness = Witness::answering(Decision::approve_once("witness"));
        let broker = Broker::default()
            .approver(witness.clone())
            .consent(RiskClass::Send, consent);
        assert_eq!(ask(&broker).allowed, allowed);
        assert_eq!(witness.asked(), 0);
    }
}

#[test]
fn reading_can_be_made_to_ask() {
    let witness = Witness::refusing();
    let broker = Broker::default()
        .approver(witness.clone())
        .declare("search_mail", RiskClass::Read)
        .consent(RiskClass::Read, Consent::Ask);
    assert!(!broker.check("search_mail", &json!({})).allowed);
    assert_eq!(witness.question().tool, "search_mail");
}

/// A broker over the queue of `fixture`, as an agent host that starts anew would make it.
fn over(queue: ApprovalQueue) -> Broker {
    Broker::default().approver(queue)
}

#[test]
fn a_call_waits_in_the_queue_and_is_admitted_once() {
    let fixture = Fixture::new();
    let waiting = ask(&over(queue(&fixture)));
    assert!(!waiting.allowed);
    let id = waiting.approval.unwrap();
    let listed = queue(&fixture).list().unwrap();
    assert_eq!(
        (listed[0].id.as_str(), listed[0].tool.as_str()),
        (&*id, "send_email")
    );

    queue(&fixture).approve(&id).unwrap();
    assert!(ask(&over(queue(&fixture))).allowed);
    let replay = ask(&over(queue(&fixture)));
    assert!(!replay.allowed);
    assert_eq!(replay.approval, Some(id));
}

#[test]
fn an_approval_is_for_the_same_tool_arguments_and_user() {
    let fixture = Fixture::new();
    let id = ask(&over(queue(&fixture))).approval.unwrap();
    queue(&fixture).approve(&id).unwrap();
    let broker = || over(queue(&fixture));
    let other_body = json!({"to": "a@example.org", "body": "hello!"});
    for refused in [
        broker().check("send_email", &other_body),
        broker().check("send_email2", &email()),
        ask(&broker().principal("someone else")),
    ] {
        assert!(!refused.allowed);
        assert_ne!(refused.approval.as_deref(), Some(&*id));
    }
    let reordered = json!({"body": "hello", "to": "a@example.org"});
    assert!(broker().check("send_email", &reordered).allowed);
}

#[test]
fn a_denied_call_is_refused() {
    let fixture = Fixture::new();
    let id = ask(&over(queue(&fixture))).approval.unwrap();
    queue(&fixture).deny(&id).unwrap();
    let refused = ask(&over(queue(&fixture)));
    assert!(!refused.allowed);
    assert_eq!(refused.approval, None);
}

#[test]
fn the_approval_of_a_call_of_ours_is_none_for_theirs() {
    let fixture = super::destructible();
    super::binding::approve(&fixture);
    let (tool, arguments) = super::binding::write();
    assert!(!over(queue(&fixture)).check(tool, &arguments).allowed);
}
