//! What stands in the queue's directory and is no answer of the queue approves nothing.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use rootbound::{ApprovalQueue, Session, SessionBuilder, StartError};
use serde_json::{Value, json};

use super::binding::{approve, directory, id_of, queue, rewrite, session, write};
use super::{asking, destructible, is_untouched};
use crate::support::Fixture;

/// A change to the file of an approved question.
type Forgery = (&'static str, fn(&mut Value));

const FORGERIES: [Forgery; 12] = [
    ("nothing", |question| *question = Value::Null),
    ("a list", |question| *question = json!([question.clone()])),
    ("a member more", |question| question["force"] = json!(true)),
    ("a member less", |question| {
        question.as_object_mut().unwrap().remove("principal");
    }),
    ("another digest", |question| {
        question["digest"] = json!("0".repeat(64))
    }),
    ("the digest in capitals", |question| {
        let digest = question["digest"].as_str().unwrap().to_uppercase();
        question["digest"] = json!(digest);
    }),
    ("another principal", |question| {
        question["principal"] = json!("uid:4242")
    }),
    ("another id", |question| question["id"] = json!("abcdef")),
    ("a state in capitals", |question| {
        question["state"] = json!("Approved")
    }),
    ("a state that is true", |question| {
        question["state"] = json!(true)
    }),
    ("no end", |question| question["expires"] = json!("never")),
    ("an end before the beginning", |question| {
        question["expires"] = json!(-1)
    }),
];

#[test]
fn a_forged_answer_approves_nothing() {
    for (what, forge) in FORGERIES {
        let fixture = destructible();
        let id = approve(&fixture);
        rewrite(&fixture, &id, forge);
        let (tool, arguments) = write();
        let code = session(&fixture).error(tool, arguments).code().to_owned();
        assert!(code.starts_with("approval-"), "{what}: {code}");
        assert!(is_untouched(&fixture), "{what}");
    }
}

#[test]
fn a_file_that_is_no_json_approves_nothing() {
    for content in [
        &b""[..],
        b"{",
        b"approved",
        b"\xff\xfe",
        b"{}",
        &[b'['; 100_000],
    ] {
        let fixture = destructible();
        let id = approve(&fixture);
        fs::write(directory(&fixture).join(format!("{id}.json")), content).unwrap();
        let (tool, arguments) = write();
        assert_eq!(id_of(&session(&fixture).error(tool, arguments)), id);
        assert!(is_untouched(&fixture));
    }
}

#[test]
fn an_answer_moved_to_another_question_approves_nothing() {
    let fixture = destructible();
    let approved = approve(&fixture);
    let delete = json!({"path": "a.txt"});
    let other = id_of(&session(&fixture).error("delete_file", delete.clone()));
    let file = |id: &str| directory(&fixture).join(format!("{id}.json"));
    fs::rename(file(&approved), file(&other)).unwrap();
    let code = session(&fixture)
        .error("delete_file", delete)
        .code()
        .to_owned();
    assert!(code.starts_with("approval-"), "{code}");
    assert!(is_untouched(&fixture));
}

#[test]
fn other_files_in_the_directory_are_left_alone() {
    let names = [
        "notes.txt",
        "readme.json",
        ".json",
        "zz.json",
        "0123.json.bak",
    ];
    let fixture = destructible();
    let id = approve(&fixture);
    for name in names {
        fs::write(directory(&fixture).join(name), "mine").unwrap();
    }
    let waiting = queue(&fixture).list().unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].id, id);
    let (tool, arguments) = write();
    session(&fixture).fields(tool, arguments);
    for name in names {
        let text = fs::read_to_string(directory(&fixture).join(name)).unwrap();
        assert_eq!(text, "mine", "{name}");
    }
}

#[test]
fn a_full_queue_takes_no_further_question() {
    let fixture = destructible();
    approve(&fixture);
    let question = serde_json::to_value(&queue(&fixture).list().unwrap()[0]).unwrap();
    for number in 0..1000 {
        let mut another = question.clone();
        another["id"] = json!(format!("{number:020x}"));
        let file = directory(&fixture).join(format!("{number:020x}.json"));
        fs::write(file, another.to_string()).unwrap();
    }
    let error = session(&fixture).error("delete_file", json!({"path": "a.txt"}));
    assert_eq!(error.code(), "approval-required");
    assert!(!error.details().contains_key("approval"));
    assert_eq!(queue(&fixture).list().unwrap().len(), 1001);
    assert!(is_untouched(&fixture));
}

#[test]
fn the_queue_keeps_to_its_user() {
    let fixture = destructible();
    approve(&fixture);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&directory(&fixture)), 0o700);
    for entry in fs::read_dir(directory(&fixture)).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[test]
fn a_directory_that_others_may_enter_is_no_queue() {
    for mode in [0o755, 0o750, 0o701, 0o710, 0o702, 0o777] {
        let fixture = Fixture::new();
        let directory = directory(&fixture);
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&directory)
            .unwrap();
        ApprovalQueue::open(&directory).expect("the control: with mode 0700 it is one");
        fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
        ApprovalQueue::open(&directory).unwrap_err();
    }
}

#[test]
fn a_directory_of_someone_else_is_no_queue() {
    let fixture = Fixture::new();
    let directory = directory(&fixture);
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&directory)
        .unwrap();
    std::os::unix::fs::chown(&directory, Some(65534), Some(65534))
        .expect("this test gives a directory away, which takes the superuser");
    ApprovalQueue::open(&directory).unwrap_err();
}

/// Grants that would let a tool reach the queue.
type Reaching = (&'static str, fn(&Fixture) -> SessionBuilder);

const REACHING: [Reaching; 5] = [
    ("the queue itself, for reading", |fixture| {
        Session::builder().read_root(directory(fixture))
    }),
    ("the queue itself, for writing", |fixture| {
        Session::builder().write_root(directory(fixture))
    }),
    ("what it stands in, for reading", |fixture| {
        Session::builder().read_root(fixture.base())
    }),
    ("what it stands in, both ways", |fixture| {
        Session::builder().work_root(fixture.base())
    }),
    ("what it stands in, as a base directory", |fixture| {
        Session::builder().base_dir(fixture.base())
    }),
];

#[test]
fn a_session_whose_tools_could_reach_the_queue_does_not_start() {
    for (what, grant) in REACHING {
        let fixture = destructible();
        let queue = queue(&fixture);
        let log = rootbound::AuditLog::none;
        let control = grant(&fixture).audit(log()).build();
        assert!(control.is_ok(), "without the queue it starts: {what}");
        let refused = grant(&fixture).audit(log()).approver(queue).build();
        assert!(matches!(refused, Err(StartError::Root { .. })), "{what}");
    }
    let fixture = destructible();
    let beside = asking(&fixture).approver(queue(&fixture));
    beside.audit(rootbound::AuditLog::none()).build().unwrap();
}
