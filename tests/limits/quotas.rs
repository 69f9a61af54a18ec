//! What all calls of a session together may take, at its edges.

use rootbound::{Consent, Limits};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded};

fn limited(fixture: &Fixture, change: impl FnOnce(&mut Limits)) -> Recorded {
    let mut limits = Limits::default();
    change(&mut limits);
    fixture.session_with(|builder| builder.limits(limits).delete(Consent::Allow))
}

fn write(recorded: &Recorded, path: &str, bytes: usize) -> Result<(), Value> {
    let arguments = json!({ "path": path, "content": "x".repeat(bytes) });
    let written = recorded.call("write_file", arguments);
    written.map(drop).map_err(|error| error.to_json())
}

fn assert_exceeded(answer: Result<(), Value>, limit: &str, value: u64, actual: u64) {
    let error = answer.unwrap_err();
    assert_eq!(error["code"], "limit-exceeded", "{error}");
    let expected = (json!(limit), json!(value), json!(actual));
    let found = (
        error["limit"].clone(),
        error["value"].clone(),
        error["actual"].clone(),
    );
    assert_eq!(found, expected);
}

#[test]
fn bytes_written_by_all_calls_are_exact() {
    let fixture = Fixture::new();
    let recorded = limited(&fixture, |limits| limits.max_session_write_bytes = Some(10));
    assert_eq!(write(&recorded, "a", 4), Ok(()));
    assert_exceeded(write(&recorded, "b", 7), "max_session_write_bytes", 10, 11);
    assert!(!fixture.workspace().join("b").exists());
    assert_eq!(write(&recorded, "c", 5), Ok(()));
    assert_eq!(write(&recorded, "d", 1), Ok(()));
    assert_exceeded(write(&recorded, "e", 1), "max_session_write_bytes", 10, 11);
    assert_eq!(write(&recorded, "f", 0), Ok(()));
    // Another session has its own share.
    let another = limited(&fixture, |limits| limits.max_session_write_bytes = Some(10));
    assert_eq!(write(&another, "g", 10), Ok(()));
}

#[test]
fn files_and_directories_made_by_all_calls_are_exact() {
    let fixture = Fixture::new();
    let recorded = limited(&fixture, |limits| limits.max_session_files = Some(3));
    assert_eq!(write(&recorded, "a", 1), Ok(()));
    assert_exceeded(write(&recorded, "x/y/b", 1), "max_session_files", 3, 4);
    assert!(!fixture.workspace().join("x").exists());
    recorded.fields("create_directory", json!({ "dir_path": "d" }));
    assert_eq!(write(&recorded, "d/b", 1), Ok(()));
    assert_exceeded(write(&recorded, "c", 1), "max_session_files", 3, 4);
    // What is deleted was made all the same.
    recorded.fields("delete_file", json!({ "path": "a" }));
    assert_exceeded(write(&recorded, "c", 1), "max_session_files", 3, 4);
}

/// What is counted is what is there afterwards under a name that nothing had.
#[test]
fn renames_and_replacements_make_no_file() {
    let patch = "--- a/there\n+++ b/there\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n";
    #[rustfmt::skip]
    let rows: [(&str, Value, u64); 17] = [
        ("move_file",        json!({ "from": "there", "to": "moved" }),                             0),
        ("move_file",        json!({ "from": "there", "to": "d/moved" }),                           0),
        ("move_file",        json!({ "from": "there", "to": "other", "overwrite": true }),          0),
        ("move_file",        json!({ "from": "d", "to": "e" }),                                     0),
        ("move_file",        json!({ "from": "there", "to": "new/moved" }),                         1),
        ("copy_file",        json!({ "from": "there", "to": "copied" }),                            1),
        ("copy_file",        json!({ "from": "there", "to": "other", "overwrite": true }),          0),
        ("copy_file",        json!({ "from": "there", "to": "new/a/copied" }),                      3),
        ("write_file",       json!({ "path": "there", "content": "y" }),                            0),
        ("write_file",       json!({ "path": "new", "content": "y" }),                              1),
        ("write_file",       json!({ "path": "a/b/new", "content": "y" }),                          3),
        ("create_file",      json!({ "file_path": "there", "content": "y", "overwrite": true }),    0),
        ("append_file",      json!({ "path": "there", "content": "y" }),                            0),
        ("edit_file",        json!({ "path": "there", "edits": [{ "old_text": "x", "new_text": "y" }] }), 0),
        ("apply_patch",      json!({ "patch": patch }),                                             1),
        ("create_directory", json!({ "dir_path": "a/b" }),                                          2),
        ("delete_file",      json!({ "path": "there" }),                                            0),
    ];
    for (tool, arguments, made) in rows {
        for limit in [made, made + 1].into_iter().chain(made.checked_sub(1)) {
            let fixture = Fixture::new();
            for path in ["there", "other", "d/t"] {
                fixture.work(path, "x\n");
            }
            let limits = Limits {
                max_session_files: Some(limit),
                ..Limits::default()
            };
            let builder = rootbound::Session::builder()
                .work_root(fixture.workspace())
                .overwrite(Consent::Allow)
                .delete(Consent::Allow)
                .limits(limits);
            let recorded = Recorded::build(builder);
            let answer = recorded.call(tool, arguments.clone());
            let code = answer.as_ref().map_or_else(|error| error.code(), |_| "ok");
            let expected = if limit < made { "limit-exceeded" } else { "ok" };
            assert_eq!(code, expected, "{tool} {arguments} {limit}: {answer:?}");
            // What is left can still be made, and no more.
            if limit >= made {
                for number in made..limit {
                    assert_eq!(
                        write(&recorded, &format!("left-{number}"), 1),
                        Ok(()),
                        "{tool}"
                    );
                }
                let one_more = write(&recorded, "one-more", 1);
                assert_exceeded(one_more, "max_session_files", limit, limit + 1);
            }
        }
    }
}

#[test]
fn a_call_of_which_nothing_stays_takes_nothing() {
    let fixture = Fixture::new();
    fixture.work("there", "x");
    let recorded = limited(&fixture, |limits| {
        limits.max_session_write_bytes = Some(5);
        limits.max_session_files = Some(1);
    });
    let options = || rootbound::CallOptions {
        dry_run: true,
        ..Default::default()
    };
    for _ in 0..3 {
        let arguments = json!({ "path": "new", "content": "12345" });
        recorded
            .session
            .call_with("write_file", arguments, options())
            .unwrap();
        let expecting =
            json!({ "path": "new", "content": "12345", "expected_version": "0".repeat(32) });
        assert_eq!(recorded.error("write_file", expecting).code(), "conflict");
    }
    assert_eq!(write(&recorded, "new", 5), Ok(()));
}

/// The calls take less than a second, or the test says nothing and is made again.
#[test]
fn calls_per_second_are_exact() {
    let fixture = Fixture::new();
    fixture.input("t", "x");
    for _ in 0..20 {
        let recorded = limited(&fixture, |limits| limits.max_calls_per_second = Some(3));
        let start = std::time::Instant::now();
        let call = || recorded.call("file_exists", json!({ "path": "t" }));
        let answers: Vec<_> = (0..4).map(|_| call()).collect();
        if start.elapsed().as_millis() >= 1000 {
            continue;
        }
        assert!(answers[..3].iter().all(Result::is_ok), "{answers:?}");
        let error = answers[3]
            .as_ref()
            .map(drop)
            .map_err(|error| error.to_json());
        assert_exceeded(error, "max_calls_per_second", 3, 4);
        assert_eq!(recorded.entries_of("refusal").len(), 1);
        assert_eq!(recorded.entries_of("call").len(), 4);
        return;
    }
    panic!("four calls take longer than a second");
}

#[test]
fn calls_at_once_share_what_is_left() {
    let fixture = Fixture::new();
    let recorded = limited(&fixture, |limits| limits.max_session_write_bytes = Some(20));
    let written: usize = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|number| {
                let recorded = &recorded;
                scope.spawn(move || write(recorded, &number.to_string(), 5).is_ok())
            })
            .collect();
        calls
            .into_iter()
            .map(|call| usize::from(call.join().unwrap()))
            .sum()
    });
    assert_eq!(written, 4);
}
