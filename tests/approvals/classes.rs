//! What is asked about at all: `READ` and `DRAFT` run by themselves, `deny` and `allow` ask
//! nobody.

use std::fs;

use rootbound::{ApproveEverythingUnseen, Consent};
use serde_json::{Value, json};

use super::{DESTRUCTIONS, Witness, asking, destructible, is_untouched, session_asking};
use crate::support::Recorded;

#[test]
fn reading_and_creating_are_never_asked_about() {
    let fixture = destructible();
    let witness = Witness::refusing();
    let recorded = session_asking(&fixture, witness.clone());
    for (tool, arguments) in [
        ("read_file", json!({"path": "a.txt"})),
        ("list_files", json!({})),
        ("file_exists", json!({"path": "a.txt"})),
        ("write_file", json!({"path": "new.txt", "content": "x"})),
        (
            "write_file",
            json!({"path": "new/deep/er.txt", "content": "x"}),
        ),
        (
            "create_file",
            json!({"file_path": "new2.txt", "content": "x"}),
        ),
        ("create_directory", json!({"dir_path": "made"})),
    ] {
        recorded.fields(tool, arguments);
        assert_eq!(witness.asked(), 0, "{tool}");
    }
}

#[test]
fn every_destruction_is_asked_about_once() {
    for destruction in &DESTRUCTIONS {
        let fixture = destructible();
        let witness = Witness::approving();
        let recorded = session_asking(&fixture, witness.clone());
        recorded.fields(destruction.tool, (destruction.arguments)());
        assert_eq!(witness.asked(), 1, "{}", destruction.tool);
    }
}

#[test]
fn deny_asks_nobody_and_neither_does_allow() {
    for (consent, expected) in [(Consent::Deny, Some("denied")), (Consent::Allow, None)] {
        for destruction in &DESTRUCTIONS {
            let fixture = destructible();
            let witness = Witness::approving();
            let builder = asking(&fixture).overwrite(consent).delete(consent);
            let recorded = Recorded::build(builder.approver(witness.clone()));
            let answer = recorded.call(destruction.tool, (destruction.arguments)());
            let code = answer.err().map(|error| error.code().to_owned());
            let ends = code.as_deref().and_then(|code| code.rsplit('-').next());
            assert_eq!(ends, expected, "{consent:?} {}", destruction.tool);
            assert_eq!(witness.asked(), 0, "{consent:?} {}", destruction.tool);
            assert_eq!(is_untouched(&fixture), consent == Consent::Deny);
        }
    }
}

#[test]
fn deny_holds_for_what_the_session_made_itself() {
    let fixture = destructible();
    let builder = asking(&fixture)
        .overwrite(Consent::Deny)
        .delete(Consent::Deny);
    let recorded = Recorded::build(builder.approver(ApproveEverythingUnseen));
    let write = json!({"path": "mine.txt", "content": "x"});
    recorded.fields("write_file", write.clone());
    assert_eq!(
        recorded.error("write_file", write).code(),
        "overwrite-denied"
    );
    let delete = json!({"path": "mine.txt"});
    assert_eq!(
        recorded.error("delete_file", delete).code(),
        "delete-denied"
    );
    assert_eq!(fixture.workspace_text("mine.txt"), "x");
}

/// What someone else does to a file that the session made.
type Touch = fn(&std::path::Path);

const TOUCHES: [(&str, Touch); 5] = [
    ("writes to it", |file| {
        fs::write(file, "someone else's").unwrap()
    }),
    ("writes the same size", |file| fs::write(file, "y").unwrap()),
    ("replaces it", |file| {
        let other = file.with_extension("other");
        fs::write(&other, "x").unwrap();
        fs::rename(other, file).unwrap();
    }),
    ("changes its mode", |file| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }),
    ("gives it another name and takes it away again", |file| {
        let other = file.with_extension("other");
        fs::hard_link(file, &other).unwrap();
        fs::remove_file(other).unwrap();
    }),
];

fn changes_to_own_file() -> [(&'static str, Value); 2] {
    [
        ("write_file", json!({"path": "mine.txt", "content": "z"})),
        ("delete_file", json!({"path": "mine.txt"})),
    ]
}

#[test]
fn the_sessions_own_file_is_a_draft_until_someone_else_touches_it() {
    for (what, touch) in TOUCHES {
        for (tool, arguments) in changes_to_own_file() {
            let fixture = destructible();
            let witness = Witness::refusing();
            let recorded = session_asking(&fixture, witness.clone());
            let mine = json!({"path": "mine.txt", "content": "x"});
            recorded.fields("write_file", mine.clone());
            recorded.fields("write_file", mine);
            assert_eq!(witness.asked(), 0, "its own file is a draft");

            touch(&fixture.workspace().join("mine.txt"));
            assert_eq!(
                recorded.error(tool, arguments).code(),
                "approval-denied",
                "someone {what}, then {tool}"
            );
            assert_eq!(witness.asked(), 1);
        }
    }
}

#[test]
fn the_sessions_own_file_is_deleted_without_a_question() {
    let fixture = destructible();
    let witness = Witness::refusing();
    let recorded = session_asking(&fixture, witness.clone());
    recorded.fields("write_file", json!({"path": "mine.txt", "content": "x"}));
    recorded.fields("delete_file", json!({"path": "mine.txt"}));
    assert_eq!(witness.asked(), 0);
}

#[test]
fn the_sessions_own_directory_is_deleted_without_a_question() {
    let fixture = destructible();
    let witness = Witness::refusing();
    let recorded = session_asking(&fixture, witness.clone());
    recorded.fields("create_directory", json!({"dir_path": "mine"}));
    recorded.fields("delete_file", json!({"path": "mine"}));
    assert_eq!(witness.asked(), 0);
}

#[test]
fn a_file_of_another_session_is_not_a_draft() {
    let fixture = destructible();
    let first = session_asking(&fixture, Witness::refusing());
    first.fields("write_file", json!({"path": "mine.txt", "content": "x"}));
    for (tool, arguments) in changes_to_own_file() {
        let witness = Witness::refusing();
        let second = session_asking(&fixture, witness.clone());
        assert_eq!(second.error(tool, arguments).code(), "approval-denied");
        assert_eq!(witness.asked(), 1, "{tool}");
    }
}

#[test]
fn a_dry_run_asks_nobody() {
    let fixture = destructible();
    let witness = Witness::refusing();
    let recorded = session_asking(&fixture, witness.clone());
    for destruction in &DESTRUCTIONS {
        let options = rootbound::CallOptions {
            dry_run: true,
            ..Default::default()
        };
        let arguments = (destruction.arguments)();
        let output = recorded
            .session
            .call_with(destruction.tool, arguments, options)
            .unwrap();
        assert_eq!(output.dry_run().unwrap().len(), 1);
    }
    assert_eq!(witness.asked(), 0);
    assert!(is_untouched(&fixture));
}
