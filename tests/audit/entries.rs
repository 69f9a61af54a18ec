//! Which entries a call leaves, in order.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::{Consent, Session};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded, pipe};

fn arranged(policy: Consent) -> (Fixture, Recorded) {
    let fixture = Fixture::new();
    fixture.input("t", "hello");
    fixture.input("d/a", "");
    fixture.input("d/b", "");
    fixture.work("old", "old");
    fixture.work("linked", "old");
    fs::hard_link(
        fixture.workspace().join("linked"),
        fixture.outside().join("l"),
    )
    .unwrap();
    symlink("../outside", fixture.inputs().join("out")).unwrap();
    symlink("old", fixture.workspace().join("link")).unwrap();
    pipe(&fixture.inputs().join("pipe"));
    let recorded = fixture.session_with(|b| b.overwrite(policy).delete(policy));
    recorded.forget();
    (fixture, recorded)
}

/// An entry in short: its kind and whatever else distinguishes it.
fn brief(entry: &Value) -> String {
    let fields = [
        "kind",
        "operation",
        "risk",
        "root",
        "path",
        "decision",
        "code",
        "reason",
        "outcome",
    ];
    let words = fields.iter().filter_map(|field| entry[*field].as_str());
    words.collect::<Vec<_>>().join(" ")
}

fn assert_leaves(policy: Consent, tool: &str, arguments: Value, expected: &[&str]) {
    let (_fixture, recorded) = arranged(policy);
    let _ = recorded.call(tool, arguments.clone());
    let entries = recorded.entries();
    let actual: Vec<String> = entries.iter().map(brief).collect();
    assert_eq!(actual, expected, "{tool} {arguments}, {policy:?}");
    for entry in entries {
        assert_eq!(entry["tool"], tool);
        let call = format!("{}-1", recorded.session.id());
        assert_eq!(entry["call"], call);
    }
}

#[test]
fn reading_leaves_accesses() {
    let rows: [(&str, Value, &[&str]); 6] = [
        (
            "read_file",
            json!({ "path": "t" }),
            &["access read READ inputs t allow", "call ok"],
        ),
        (
            "read_file",
            json!({ "path": "./d/../t" }),
            &["access read READ inputs ./d/../t allow", "call ok"],
        ),
        (
            "list_files",
            json!({}),
            &["access list READ inputs . allow", "call ok"],
        ),
        (
            "list_files",
            json!({ "path": "d" }),
            &["access list READ inputs d allow", "call ok"],
        ),
        (
            "file_exists",
            json!({ "path": "d" }),
            &["access stat READ inputs d allow", "call ok"],
        ),
        (
            "generate_from_template",
            json!({ "template": "", "variables": {} }),
            &["call ok"],
        ),
    ];
    for (tool, arguments, expected) in rows {
        assert_leaves(Consent::Deny, tool, arguments, expected);
    }
}

#[test]
fn an_access_says_which_object_and_how_many_bytes() {
    use std::os::unix::fs::MetadataExt;
    let (fixture, recorded) = arranged(Consent::Deny);
    recorded.fields("read_file", json!({ "path": "t" }));
    let access = &recorded.entries_of("access")[0];
    let metadata = fs::metadata(fixture.inputs().join("t")).unwrap();
    assert_eq!(access["bytes"], 5);
    let object = json!({
        "device": metadata.dev().to_string(),
        "inode": metadata.ino().to_string(),
    });
    assert_eq!(access["object"], object);
}

/// Without links and `..` the path says so itself.
#[test]
fn an_object_says_where_it_stands_if_the_path_asked_does_not() {
    let (fixture, recorded) = arranged(Consent::Allow);
    symlink("t", fixture.inputs().join("to_t")).unwrap();
    symlink("d", fixture.inputs().join("to_d")).unwrap();
    for (tool, path, resolved) in [
        ("read_file", "t", None),
        ("read_file", "d/a", None),
        ("read_file", "./t", Some("t")),
        ("read_file", "d/../t", Some("t")),
        ("read_file", "d//a", Some("d/a")),
        ("read_file", "to_t", Some("t")),
        ("read_file", "to_d/a", Some("d/a")),
        ("read_file", "to_d/../to_t", Some("t")),
        ("file_exists", "t", None),
        ("file_exists", "to_t", Some("t")),
        ("file_exists", "to_d/b", Some("d/b")),
        ("list_files", ".", None),
        ("list_files", "d", None),
        ("list_files", "to_d", Some("d")),
        ("list_files", "d/..", Some(".")),
    ] {
        recorded.forget();
        recorded.fields(tool, json!({ "path": path }));
        let access = &recorded.entries_of("access")[0];
        assert_eq!(access["path"], path);
        let said = access["object"]["resolved"].as_str();
        assert_eq!(said, resolved, "{tool} {path}");
    }
}

#[test]
fn a_change_says_where_it_was_made_if_the_path_asked_does_not() {
    let (fixture, recorded) = arranged(Consent::Allow);
    fixture.work("d/old", "old");
    symlink("d", fixture.workspace().join("to_d")).unwrap();
    let resolved = |kind: &str| {
        let entries = recorded.entries_of(kind);
        entries[0]["object"]["resolved"].as_str().map(str::to_owned)
    };
    for (tool, arguments, before, after) in [
        (
            "write_file",
            json!({ "path": "to_d/old", "content": "" }),
            Some("d/old"),
            Some("d/old"),
        ),
        (
            "delete_file",
            json!({ "path": "d/../to_d/old" }),
            Some("d/old"),
            Some("d/old"),
        ),
        (
            "write_file",
            json!({ "path": "to_d/new", "content": "" }),
            None,
            Some("d/new"),
        ),
        (
            "write_file",
            json!({ "path": "plain", "content": "" }),
            None,
            None,
        ),
    ] {
        recorded.forget();
        recorded.fields(tool, arguments.clone());
        assert_eq!(resolved("intent").as_deref(), before, "{tool} {arguments}");
        assert_eq!(resolved("outcome").as_deref(), after, "{tool} {arguments}");
    }
}

#[test]
fn changing_leaves_an_intent_before_and_an_outcome_after() {
    let create = json!({ "path": "new/t", "content": "x" });
    assert_leaves(
        Consent::Deny,
        "write_file",
        create,
        &[
            "intent create-directory DRAFT workspace new allow",
            "outcome create-directory DRAFT workspace new allow ok",
            "intent create DRAFT workspace new/t allow",
            "outcome create DRAFT workspace new/t allow ok",
            "call ok",
        ],
    );
    assert_leaves(
        Consent::Allow,
        "write_file",
        json!({ "path": "old", "content": "x" }),
        &[
            "intent replace DESTRUCTIVE workspace old allow",
            "outcome replace DESTRUCTIVE workspace old allow ok",
            "call ok",
        ],
    );
    assert_leaves(
        Consent::Allow,
        "delete_file",
        json!({ "path": "old" }),
        &[
            "intent delete DESTRUCTIVE workspace old allow",
            "outcome delete DESTRUCTIVE workspace old allow ok",
            "call ok",
        ],
    );
}

/// Two calls at a time can make and rename directories of one name; what they are tells them apart.
#[test]
fn a_new_directory_is_recorded_with_the_object_that_it_is() {
    use std::os::unix::fs::MetadataExt;
    let (fixture, recorded) = arranged(Consent::Deny);
    recorded.fields("create_directory", json!({ "dir_path": "new" }));
    let entries = recorded.entries();
    let made = fs::metadata(fixture.workspace().join("new")).unwrap();
    let outcome = &entries[1];
    assert_eq!(outcome["kind"], "outcome");
    let object = json!({ "device": made.dev().to_string(), "inode": made.ino().to_string() });
    assert_eq!(outcome["object"], object);
}

/// A slash at the end says nothing about where something stands.
#[test]
fn a_directory_is_not_said_to_stand_elsewhere_for_its_slash() {
    let (_fixture, recorded) = arranged(Consent::Allow);
    recorded.fields("create_directory", json!({ "dir_path": "new" }));
    recorded.fields("move_file", json!({ "from": "new/", "to": "other" }));
    recorded.fields("list_files", json!({ "path": "d/" }));
    for entry in recorded.entries() {
        assert_eq!(entry["object"]["resolved"], Value::Null, "{entry}");
    }
}

#[test]
fn what_is_taken_back_is_recorded_as_taken_back() {
    assert_leaves(
        Consent::Deny,
        "create_directory",
        json!({ "dir_path": "new/x\u{202e}" }),
        &[
            "intent create-directory DRAFT workspace new allow",
            "outcome create-directory DRAFT workspace new allow ok",
            "refusal create-directory DRAFT workspace new/x\u{202e} deny invalid-path unsafe-name",
            "outcome create-directory DRAFT workspace new allow rolled-back",
            "call invalid-path unsafe-name failed",
        ],
    );
}

/// Every refused call of a tool has exactly one `refusal` besides its `call`.
#[test]
fn a_refused_call_has_one_refusal() {
    let write = |path: &str| json!({ "path": path, "content": "x" });
    let rows = [
        (
            "read_file",
            json!({ "path": "../x" }),
            "open READ inputs ../x deny invalid-path traversal",
        ),
        (
            "read_file",
            json!({ "path": "/etc/hosts" }),
            "open READ inputs /etc/hosts deny invalid-path absolute",
        ),
        (
            "read_file",
            json!({ "path": "" }),
            "open READ inputs  deny invalid-path empty",
        ),
        (
            "read_file",
            json!({ "path": "out/x" }),
            "open READ inputs out/x deny escape",
        ),
        (
            "read_file",
            json!({ "path": "pipe" }),
            "open READ inputs pipe deny not-a-file special",
        ),
        (
            "list_files",
            json!({ "path": "out" }),
            "open READ inputs out deny escape",
        ),
        (
            "file_exists",
            json!({ "path": "out/x" }),
            "stat READ inputs out/x deny escape",
        ),
        (
            "write_file",
            write("../x"),
            "create DRAFT workspace ../x deny invalid-path traversal",
        ),
        (
            "write_file",
            write("old"),
            "replace DESTRUCTIVE workspace old deny overwrite-denied",
        ),
        (
            "write_file",
            write("link"),
            "create DRAFT workspace link deny not-a-file symlink",
        ),
        (
            "create_directory",
            json!({ "dir_path": "." }),
            "create-directory DRAFT workspace . deny invalid-path root",
        ),
        (
            "delete_file",
            json!({ "path": "old" }),
            "delete DESTRUCTIVE workspace old deny delete-denied",
        ),
        (
            "delete_file",
            json!({ "path": ".." }),
            "delete DESTRUCTIVE workspace .. deny invalid-path traversal",
        ),
    ];
    for (tool, arguments, refusal) in rows {
        let (_fixture, recorded) = arranged(Consent::Deny);
        let error = recorded.error(tool, arguments.clone());
        let reason = error.reason().map(|reason| format!(" {reason}"));
        let call = format!("call {}{} failed", error.code(), reason.unwrap_or_default());
        let actual: Vec<String> = recorded.entries().iter().map(brief).collect();
        assert_eq!(
            actual,
            [format!("refusal {refusal}"), call],
            "{tool} {arguments}"
        );
    }
    let linked = write("linked");
    assert_leaves(
        Consent::Allow,
        "write_file",
        linked,
        &[
            "refusal replace DESTRUCTIVE workspace linked deny hard-link",
            "call hard-link failed",
        ],
    );
}

#[test]
fn what_fails_without_being_refused_has_its_call_only() {
    for (tool, arguments, code) in [
        ("read_file", json!({ "path": "missing" }), "not-found"),
        ("read_file", json!({}), "invalid-arguments"),
        ("no_such_tool", json!({}), "unknown-tool"),
        (
            "create_file",
            json!({ "file_path": "old", "content": "" }),
            "exists",
        ),
        ("delete_file", json!({ "path": "missing" }), "not-found"),
    ] {
        let call = format!("call {code} failed");
        assert_leaves(Consent::Allow, tool, arguments, &[&call]);
    }
}

/// Nobody is there to be asked; what was asked about is on record all the same.
#[test]
fn a_question_is_recorded_with_what_it_was_about() {
    let (_fixture, recorded) = arranged(Consent::Ask);
    recorded.error("delete_file", json!({ "path": "old" }));
    let entries = recorded.entries();
    let kinds: Vec<&Value> = entries.iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, ["approval", "refusal", "call"]);
    assert_eq!(entries[0]["decision"], "not-approved");
    assert_eq!(entries[0]["code"], "approval-required");
    let text = entries[0].to_string();
    for fact in ["delete", "workspace", "old"] {
        assert!(text.contains(&format!("\"{fact}\"")), "{text}");
    }
}

#[test]
fn a_closed_session_records_nothing_more() {
    let (_fixture, recorded) = arranged(Consent::Deny);
    recorded.session.close().unwrap();
    recorded.error("read_file", json!({ "path": "t" }));
    assert!(recorded.entries().is_empty());
}

/// The tool finds that it has nothing to work with before it calls anything; what it was asked
/// for stands in the arguments.
#[test]
fn a_refusal_that_no_operation_met_says_what_was_asked() {
    let recorded = Recorded::build(Session::builder());
    recorded.forget();
    for (tool, arguments, expected) in [
        (
            "read_file",
            json!({ "path": "t" }),
            "refusal open READ t deny not-granted",
        ),
        (
            "move_file",
            json!({ "from": "t", "to": "u" }),
            "refusal rename DESTRUCTIVE t deny not-granted",
        ),
        (
            "write_file",
            json!({ "path": "x".repeat(5000), "content": "" }),
            "refusal change DESTRUCTIVE deny not-granted",
        ),
    ] {
        recorded.error(tool, arguments);
        let refusals = recorded.entries_of("refusal");
        let told: Vec<_> = refusals.iter().map(brief).collect();
        assert_eq!(told, [expected], "{tool}");
        recorded.forget();
    }
}
