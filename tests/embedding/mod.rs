//! The library as an embedding program uses it.

mod prepared;
mod watched;

use rootbound::{AuditLog, Session};
use serde_json::json;

use crate::support::Fixture;

#[test]
fn reading_and_writing_work_over_the_granted_directories() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "hello");
    let recorded = fixture.session();
    let output = recorded
        .call("read_file", json!({"path": "notes.md"}))
        .unwrap();
    assert_eq!(output.text(), Some("hello"));
    recorded
        .call(
            "write_file",
            json!({"path": "out/report.md", "content": "done"}),
        )
        .unwrap();
    assert_eq!(fixture.workspace_text("out/report.md"), "done");
}

#[test]
fn without_a_grant_every_file_operation_is_refused() {
    let session = Session::builder().audit(AuditLog::none()).build().unwrap();
    for (tool, arguments) in [
        ("read_file", json!({"path": "x"})),
        ("list_files", json!({})),
        ("file_exists", json!({"path": "x"})),
        ("write_file", json!({"path": "x", "content": ""})),
        ("create_file", json!({"file_path": "x", "content": ""})),
        ("create_directory", json!({"dir_path": "x"})),
        ("delete_file", json!({"path": "x"})),
    ] {
        assert_eq!(
            session.call(tool, arguments).unwrap_err().code(),
            "not-granted",
            "{tool}"
        );
    }
}

#[test]
fn every_clone_of_a_closed_session_answers_closed() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let clone = recorded.session.clone();
    recorded.session.close().unwrap();
    assert_eq!(
        clone.call("list_files", json!({})).unwrap_err().code(),
        "closed"
    );
}

#[test]
fn every_call_runs_the_component() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    recorded.session.tools().unwrap();
    let before = recorded.session.component().instantiations();
    for _ in 0..3 {
        let _ = recorded.call("file_exists", json!({"path": "x"}));
        let _ = recorded.call("no_such_tool", json!({}));
    }
    // Other tests run in this process, so there may be more.
    assert!(recorded.session.component().instantiations() >= before + 6);
}
