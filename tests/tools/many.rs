//! `read_files`: each file has its own answer.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::{Limits, Session};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded, pipe};

/// Whatever happens to one of many files happens as if it had been asked for alone.
#[test]
fn each_file_has_the_answer_that_it_would_have_alone() {
    let fixture = Fixture::new();
    fixture.input("a", "text\n");
    fixture.input("d/b", "\u{feff}more\r\n");
    fixture.input("binary", b"\x01\xff\x02");
    fixture.input("long", "x".repeat(101));
    fixture.input("with \"quotes\"", "");
    fs::write(fixture.outside().join("secret"), "secret").unwrap();
    symlink("../outside/secret", fixture.inputs().join("out")).unwrap();
    symlink("loop", fixture.inputs().join("loop")).unwrap();
    pipe(&fixture.inputs().join("pipe"));
    let limits = Limits {
        max_read_bytes: 100,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|builder| builder.limits(limits));
    let paths = [
        "a",
        "missing",
        "d/b",
        "d",
        "binary",
        "out",
        "../outside/secret",
        "/etc/passwd",
        "loop",
        "pipe",
        "",
        "a/b",
        "C:x",
        "long",
        "with \"quotes\"",
        "no \"quotes\"",
        "a",
    ];
    recorded.forget();
    let answer = recorded.fields("read_files", json!({ "paths": paths }));
    assert_eq!(answer["read"], 4);
    assert_eq!(answer["failed"], 13);
    let calls = recorded.entries_of("call");
    assert_eq!((calls.len(), &calls[0]["outcome"]), (1, &json!("ok")));
    let refusals: Vec<Value> = recorded.entries_of("refusal");
    let refused: Vec<&str> = refusals
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        refused,
        [
            "out",
            "../outside/secret",
            "/etc/passwd",
            "loop",
            "pipe",
            "",
            "C:x",
            "long"
        ]
    );
    for (path, mut file) in paths
        .iter()
        .zip(answer["files"].as_array().unwrap().clone())
    {
        assert_eq!(file["path"], *path);
        let alone = recorded.call("read_file", json!({ "path": path }));
        match alone {
            Ok(output) => {
                let alone: Value = serde_json::from_str(&output.to_json()).unwrap();
                assert_eq!(file, alone, "{path:?}");
            }
            Err(error) => {
                // The host's answer has no members in an order of its own.
                assert_eq!(file["error"].take(), error.to_json(), "{path:?}");
                assert!(file.get("content").is_none(), "{path:?}");
            }
        }
    }
}

#[test]
fn a_limit_on_each_file_says_where_to_go_on() {
    let fixture = Fixture::new();
    fixture.input("short", "short\n");
    fixture.input("long", "line\n".repeat(100));
    let recorded = fixture.session();
    let arguments = json!({ "paths": ["short", "long"], "max_bytes": 52 });
    let answer = recorded.fields("read_files", arguments);
    assert_eq!(answer["files"][0]["truncated"], false);
    let long = &answer["files"][1];
    assert_eq!(long["content"], format!("{}li", "line\n".repeat(10)));
    let rest = json!({ "path": "long", "cursor": long["next_cursor"] });
    let rest = recorded.call("read_file", rest).unwrap();
    assert_eq!(rest.text(), Some(&*format!("ne\n{}", "line\n".repeat(89))));
}

#[test]
fn a_picture_among_them_is_left_for_a_call_of_its_own() {
    let fixture = Fixture::new();
    fixture.input("t", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    let answer = fixture
        .session()
        .fields("read_files", json!({ "paths": ["t"] }));
    let error = &answer["files"][0]["error"];
    assert_eq!(
        (&error["code"], &error["mime_type"]),
        (&json!("not-text"), &json!("image/png"))
    );
    assert!(error["hint"].as_str().unwrap().contains("`read_file`"));
}

#[test]
fn files_are_found_in_the_roots_in_their_order() {
    let fixture = Fixture::new();
    fixture.input("a", "first");
    fixture.work("a", "second");
    fixture.work("b", "second");
    let builder = Session::builder()
        .read_root(fixture.inputs())
        .read_root(fixture.workspace());
    let recorded = Recorded::build(builder);
    let answer = recorded.fields("read_files", json!({ "paths": ["a", "b", "c"] }));
    let roots: Vec<&Value> = (0..2).map(|at| &answer["files"][at]["root"]).collect();
    assert_eq!(roots, ["inputs", "workspace"]);
    assert_eq!(answer["files"][2]["error"]["code"], "not-found");
}

#[test]
fn none_and_too_many_are_refused() {
    let fixture = Fixture::new();
    fixture.input("t", "");
    let recorded = fixture.session();
    for (count, accepted) in [(0, false), (1, true), (50, true), (51, false)] {
        let answer = recorded.call("read_files", json!({ "paths": vec!["t"; count] }));
        match answer {
            Ok(output) => assert!(accepted && output.fields()["read"] == count, "{count}"),
            Err(error) => {
                assert_eq!(
                    (error.code(), accepted),
                    ("invalid-arguments", false),
                    "{count}"
                );
                assert_ne!(error.hint(), "", "{count}");
            }
        }
    }
}

#[test]
fn without_a_grant_no_file_is_read() {
    let recorded = Recorded::build(Session::builder());
    let answer = recorded.fields("read_files", json!({ "paths": ["a"] }));
    assert_eq!(answer["files"][0]["error"]["code"], "not-granted");
}
