//! `sandbox_filesystem`: one tool for everything, which answers in a form of its own.

use std::collections::BTreeSet;
use std::fs;

use rootbound::{Consent, Limits, Session, Toolset};
use serde_json::{Value, json};

use crate::support::cli::Cli;
use crate::support::mounts::Mount;
use crate::support::tree::names;
use crate::support::{Fixture, Recorded};

const TOOL: &str = "sandbox_filesystem";

fn allowing(fixture: &Fixture) -> Recorded {
    let builder = Session::builder()
        .work_root(fixture.workspace())
        .toolset(Toolset::Single);
    Recorded::build(builder.overwrite(Consent::Allow).delete(Consent::Allow))
}

fn answer(recorded: &Recorded, arguments: Value) -> Value {
    let fields = recorded.fields(TOOL, arguments);
    assert_eq!(fields["success"], true);
    json!([fields["data"], fields["metadata"]])
}

#[test]
fn every_operation_answers_data_and_metadata() {
    let fixture = Fixture::new();
    fixture.work("d/e/f", "deep");
    fixture.work("bytes", b"\xff\0");
    let recorded = allowing(&fixture);
    for (arguments, expected) in [
        (
            json!({ "operation": "write", "path": "n/t", "content": "text" }),
            json!([null, { "bytesWritten": 4, "created": true }]),
        ),
        (
            json!({ "operation": "read", "path": "n/t" }),
            json!(["text", { "bytesRead": 4 }]),
        ),
        (
            json!({ "operation": "read", "path": "bytes", "encoding": "base64" }),
            json!(["/wA=", { "bytesRead": 2 }]),
        ),
        (
            json!({ "operation": "write", "path": "b", "content": "/wA=", "encoding": "base64" }),
            json!([null, { "bytesWritten": 2, "created": true }]),
        ),
        (
            json!({ "operation": "list", "path": "d" }),
            json!([[{ "name": "e", "type": "directory" }], { "itemsCount": 1, "truncated": false }]),
        ),
        (
            json!({ "operation": "list", "path": "d", "recursive": true }),
            json!([
                [{ "name": "e", "type": "directory" }, { "name": "e/f", "type": "file" }],
                { "itemsCount": 2, "truncated": false },
            ]),
        ),
        (
            json!({ "operation": "createDir", "path": "x" }),
            json!([null, { "created": true }]),
        ),
        (
            json!({ "operation": "createDir", "path": "y/z", "recursive": true }),
            json!([null, { "created": true }]),
        ),
        (
            json!({ "operation": "exists", "path": "n/t" }),
            json!([true, { "type": "file" }]),
        ),
        (
            json!({ "operation": "exists", "path": "no" }),
            json!([false, {}]),
        ),
        (
            json!({ "operation": "delete", "path": "n/t" }),
            json!([null, { "deleted": true }]),
        ),
    ] {
        assert_eq!(
            answer(&recorded, arguments.clone()),
            expected,
            "{arguments}"
        );
    }
    assert_eq!(fs::read(fixture.workspace().join("b")).unwrap(), b"\xff\0");
    let info = answer(&recorded, json!({ "operation": "info", "path": "b" }));
    assert_eq!(
        (&info[0]["type"], &info[0]["size"]),
        (&json!("file"), &json!(2))
    );
    assert_eq!(info[0]["version"].as_str().map(str::len), Some(32));
}

#[test]
fn what_destroys_takes_force_and_the_policy() {
    let fixture = Fixture::new();
    fixture.work("f", "old");
    fixture.work("d/x", "x");
    let write = json!({ "operation": "write", "path": "f", "content": "new" });
    let delete = json!({ "operation": "delete", "path": "d", "recursive": true });
    let forced = |arguments: &Value| {
        let mut arguments = arguments.clone();
        arguments["force"] = true.into();
        arguments
    };
    let denying = Session::builder()
        .work_root(fixture.workspace())
        .toolset(Toolset::Single);
    let denying = Recorded::build(denying);
    assert_eq!(
        denying.error(TOOL, forced(&write)).code(),
        "overwrite-denied"
    );
    assert_eq!(
        denying.error(TOOL, forced(&delete)).code(),
        "approval-required"
    );
    let recorded = allowing(&fixture);
    assert_eq!(recorded.error(TOOL, write.clone()).code(), "exists");
    assert_eq!(recorded.error(TOOL, delete.clone()).code(), "not-empty");
    assert_eq!(names(&fixture.workspace()), ["d", "d/x", "f"]);
    let metadata = &answer(&recorded, forced(&write))[1];
    assert_eq!(metadata["created"], false);
    answer(&recorded, forced(&delete));
    assert_eq!(names(&fixture.workspace()), ["f"]);
    assert_eq!(fixture.workspace_text("f"), "new");
}

#[test]
fn a_recursive_listing_ends_ten_levels_down() {
    let fixture = Fixture::new();
    let path = "d/".repeat(12);
    fixture.work(&format!("{path}f"), "");
    let listed = answer(
        &allowing(&fixture),
        json!({ "operation": "list", "path": ".", "recursive": true }),
    );
    assert_eq!(listed[1]["itemsCount"], 10);
    assert_eq!(listed[0][9]["name"], ["d"; 10].join("/"));
    assert_too_deep(&listed, &["d"; 10].join("/"));
}

fn assert_too_deep(listed: &Value, path: &str) {
    let skipped = json!({ "too_deep": 1, "examples": [path] });
    assert_eq!(listed[1]["skipped"], skipped);
    assert_eq!(listed[1]["truncated"], true);
    assert_ne!(listed[1]["hint"].as_str().unwrap_or_default(), "");
}

#[test]
fn what_the_operator_says_is_too_deep_is_said_to_be_left_out() {
    let fixture = Fixture::new();
    fixture.work("a/b/c/f", "");
    let limits = Limits {
        max_depth: 2,
        ..Limits::default()
    };
    let builder = Session::builder().work_root(fixture.workspace());
    let recorded = Recorded::build(builder.toolset(Toolset::Single).limits(limits));
    let all = json!({ "operation": "list", "path": ".", "recursive": true });
    assert_too_deep(&answer(&recorded, all), "a/b");
    let below = json!({ "operation": "list", "path": "a/b", "recursive": true });
    let below = answer(&recorded, below);
    assert_eq!(below[0][1]["name"], "c/f");
    assert_eq!(below[1]["truncated"], false);
}

/// Of a tree and of one directory, by the number of entries and by their bytes.
#[test]
fn a_listing_is_cut_into_pages_that_are_the_whole() {
    let fixture = Fixture::new();
    let _memory = Mount::memory("64m", &fixture.workspace());
    for number in 0..15_000 {
        fixture.work(&format!("d/{}/{number}", number % 3), "");
    }
    for number in 0..7_000 {
        fixture.work(&format!("wide/{}{number}", "n".repeat(30)), "");
    }
    let recorded = allowing(&fixture);
    for (path, recursive, total) in [("d", true, 15_003), ("wide", false, 7_000)] {
        let mut arguments = json!({ "operation": "list", "path": path, "recursive": recursive });
        let mut names = BTreeSet::new();
        let mut pages = 0;
        loop {
            let page = answer(&recorded, arguments.clone());
            let items = page[0].as_array().unwrap();
            assert_eq!(page[1]["itemsCount"], items.len());
            assert!(items.len() <= 10_000 && page.to_string().len() < 256 * 1024);
            names.extend(items.iter().map(|item| item["name"].to_string()));
            pages += 1;
            assert_eq!(page[1]["truncated"], page[1].get("next_cursor").is_some());
            match page[1].get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        assert!(pages > 1, "{path} came in one page");
        assert_eq!(names.len(), total, "{path}");
    }
}

#[test]
fn a_directory_without_its_parents_is_told_how_to_make_them() {
    let fixture = Fixture::new();
    let recorded = allowing(&fixture);
    for path in ["d/e", "d/e/f"] {
        let error = recorded.error(TOOL, json!({ "operation": "createDir", "path": path }));
        assert_eq!(error.code(), "not-found");
        let told = Toolset::Single.failure(&error)["error"]["hint"].clone();
        assert!(
            told.as_str().unwrap().contains("`recursive: true`"),
            "{told}"
        );
    }
    // What is missing for another reason keeps its word.
    let error = recorded.error(TOOL, json!({ "operation": "read", "path": "d/e" }));
    let told = Toolset::Single.failure(&error)["error"]["hint"].clone();
    assert!(told.as_str().unwrap().contains("`list`"), "{told}");
}

#[test]
fn one_toolset_does_not_have_the_tools_of_the_other() {
    let fixture = Fixture::new();
    let single = allowing(&fixture);
    let listed: Vec<&str> = single
        .session
        .tools()
        .unwrap()
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(listed, [TOOL]);
    let error = single.error("read_file", json!({ "path": "a" }));
    assert_eq!(
        (error.code(), &error.details()["known"]),
        ("unknown-tool", &json!([TOOL]))
    );
    let files = fixture.session();
    let tools = files.session.tools().unwrap();
    assert!(tools.len() > 10 && tools.iter().all(|tool| tool.name != TOOL));
    assert_eq!(
        files
            .error(TOOL, json!({ "operation": "list", "path": "." }))
            .code(),
        "unknown-tool"
    );
    let known = files.error("no_such_tool", json!({})).details()["known"].clone();
    assert_eq!(known.as_array().map(Vec::len), Some(tools.len()));
}

#[test]
fn strict_paths_are_always_on() {
    let fixture = Fixture::new();
    fixture.work("d/f", "x");
    let error = allowing(&fixture).error(TOOL, json!({ "operation": "read", "path": "d/../d/f" }));
    assert_eq!(
        (error.code(), error.reason()),
        ("invalid-path", Some("traversal"))
    );
}

#[test]
fn on_the_command_line_a_failure_has_the_form_of_the_tool() {
    let fixture = Fixture::new();
    let work = fixture.workspace();
    let grants = ["--work", work.to_str().unwrap(), "--toolset", "single"];
    let cli = Cli::new();
    let run = cli.call(
        TOOL,
        &json!({ "operation": "read", "path": "../x" }),
        grants,
    );
    assert_eq!(run.status, Some(1));
    let answer = run.json();
    assert_eq!(
        (&answer["success"], &answer["data"]),
        (&json!(false), &Value::Null)
    );
    let error = answer["error"].as_object().unwrap();
    assert_eq!(error["code"], "invalid-path");
    assert_eq!(
        error.keys().collect::<Vec<_>>(),
        ["code", "message", "hint"]
    );
    let run = cli.call(
        TOOL,
        &json!({ "operation": "write", "path": "a", "content": "b" }),
        grants,
    );
    let answer = run.success();
    assert_eq!(answer["receipt"]["effects"][0]["operation"], "create");
    assert_eq!(answer["metadata"]["bytesWritten"], 1);
    // Arguments that are wrong, and a tool that is not there.
    for (tool, arguments) in [
        (TOOL, json!({ "operation": "read" })),
        ("read_file", json!({ "path": "a" })),
    ] {
        assert_eq!(cli.call(tool, &arguments, grants).json()["success"], false);
    }
}
