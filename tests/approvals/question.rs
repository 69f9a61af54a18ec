//! What the approver is shown: every effect, with sizes and versions, and the difference in
//! text, none of which can deceive the eye.

use rootbound::{ApprovalRequest, EffectReceipt, Operation};
use serde_json::{Value, json};

use super::{Witness, destructible, session_asking};
use crate::support::Fixture;

/// What is asked when a call is made on the files of `fixture`, and refused.
fn question(fixture: &Fixture, tool: &str, arguments: Value) -> ApprovalRequest {
    let witness = Witness::refusing();
    let recorded = session_asking(fixture, witness.clone());
    assert_eq!(recorded.error(tool, arguments).code(), "approval-denied");
    witness.question()
}

fn only_effect(request: &ApprovalRequest) -> &EffectReceipt {
    let [effect] = &request.effects[..] else {
        panic!("{request:?}");
    };
    effect
}

fn version(fixture: &Fixture, path: &str) -> String {
    let recorded = session_asking(fixture, Witness::refusing());
    let fields = recorded.fields("file_exists", json!({"path": path}));
    fields["version"].as_str().unwrap().to_owned()
}

#[test]
fn a_replacement_is_shown_with_sizes_versions_and_the_new_hash() {
    let fixture = destructible();
    let arguments = json!({"path": "a.txt", "content": "newer"});
    let request = question(&fixture, "write_file", arguments);
    let effect = only_effect(&request);
    assert_eq!(effect.operation, Operation::Replace);
    assert_eq!(
        (effect.root.as_str(), effect.path.as_str()),
        ("workspace", "a.txt")
    );
    assert_eq!((effect.bytes_before, effect.bytes), (Some(3), Some(5)));
    assert_eq!(
        effect.sha256.as_deref(),
        Some(&*crate::support::sha256("newer"))
    );
    let before = effect.version_before.unwrap().to_string();
    assert_eq!(before, version(&fixture, "a.txt"));
    assert_eq!(
        request.diff(0).unwrap(),
        "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+newer\n\\ No newline at end of file"
    );
}

#[test]
fn a_deletion_is_shown_with_what_is_lost() {
    let fixture = destructible();
    let request = question(&fixture, "delete_file", json!({"path": "a.txt"}));
    let effect = only_effect(&request);
    assert_eq!(effect.operation, Operation::Delete);
    assert_eq!((effect.bytes_before, effect.bytes), (Some(3), None));
    assert_eq!(
        effect.version_before.unwrap().to_string(),
        version(&fixture, "a.txt")
    );
    assert!(request.diff(0).unwrap().contains("-old"));
}

#[test]
fn a_deletion_of_a_directory_says_how_much_it_covers() {
    let fixture = destructible();
    fixture.work("full/deep/er/c.txt", "12345");
    let arguments = json!({"path": "full", "recursive": true});
    let request = question(&fixture, "delete_file", arguments);
    let effect = only_effect(&request);
    assert_eq!(effect.operation, Operation::DeleteTree);
    let covers = effect.covers.unwrap();
    assert_eq!((covers.files, covers.directories, covers.bytes), (2, 2, 8));
    assert_eq!(request.diff(0), None);
}

#[test]
fn the_question_names_the_tool_the_user_and_a_digest() {
    let fixture = destructible();
    let request = question(&fixture, "delete_file", json!({"path": "a.txt"}));
    assert_eq!(request.tool, "delete_file");
    let uid = rustix::process::geteuid().as_raw();
    assert_eq!(request.principal, format!("uid:{uid}"));
    assert_eq!(request.digest.len(), 64);
    assert!(request.digest.starts_with(request.id()));
}

#[test]
fn two_sessions_that_ask_for_the_same_have_one_digest() {
    let fixture = destructible();
    let ask = || question(&fixture, "delete_file", json!({"path": "a.txt"})).digest;
    assert_eq!(ask(), ask());
}

#[test]
fn a_diff_is_short_and_says_what_it_leaves_out() {
    let fixture = destructible();
    let lines = |word: &str| {
        (0..500)
            .map(|n| format!("{word} {n}\n"))
            .collect::<String>()
    };
    fixture.work("a.txt", lines("old"));
    let arguments = json!({"path": "a.txt", "content": lines("new")});
    let diff = question(&fixture, "write_file", arguments).diff(0).unwrap();
    assert_eq!(diff.lines().count(), 41);
    assert_eq!(diff.lines().last().unwrap(), "… 961 more lines");
}

#[test]
fn what_is_no_text_or_too_large_has_no_diff() {
    let huge = vec![b'x'; (256 << 10) + 1];
    for old in [&b"\xff\xfe\x00"[..], &huge] {
        let fixture = destructible();
        fixture.work("a.txt", old);
        let request = question(&fixture, "delete_file", json!({"path": "a.txt"}));
        assert_eq!(request.diff(0), None);
        assert_eq!(only_effect(&request).bytes_before, Some(old.len() as u64));
    }
}

#[test]
fn an_effect_that_is_not_there_has_no_diff() {
    let fixture = destructible();
    let request = question(&fixture, "delete_file", json!({"path": "a.txt"}));
    assert_eq!(request.diff(1), None);
}

/// Text that would move the cursor, change colours or directions, or hide.
const DECEIVING: &str =
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{2066}\u{200b}\u{feff}\u{7f}\r\u{8}\0";

#[test]
fn a_diff_cannot_draw_on_the_screen() {
    let fixture = destructible();
    fixture.work("a.txt", format!("old{DECEIVING}\n"));
    let arguments = json!({"path": "a.txt", "content": format!("new{DECEIVING}\n")});
    let diff = question(&fixture, "write_file", arguments).diff(0).unwrap();
    assert!(diff.contains("-old\\u{1b}[2J") && diff.contains("+new\\u{1b}[2J"));
    let shown = |c: char| c == '\n' || !DECEIVING.contains(c) || c.is_ascii_graphic();
    assert!(diff.chars().all(shown), "{diff:?}");
}
