//! What patterns exclude makes no difference to any answer: the same calls in two directories
//! that differ in nothing else are answered alike.

use std::os::unix::fs::symlink;

use rootbound::{Consent, Durability, Session};
use serde_json::{Value, json};

use crate::hostile::component;
use crate::support::{Fixture, Recorded};

/// What is excluded, and where it stands in one of the two directories.
const DENIED: [&str; 3] = ["*.pem", "/conf/private", "**/.git/hooks"];
const EXCLUDED: [&str; 7] = [
    "key.pem",
    "conf/a.pem",
    "conf/private/deep/x.md",
    "conf/private/y.md",
    "d/needle.PEM",
    "d/.git/hooks/pre-commit",
    "many/05.pem",
];
/// Members of answers that differ from directory to directory and from call to call.
const VOLATILE: [&str; 6] = [
    "version",
    "modified",
    "created_at",
    "call",
    "changed",
    "sha256",
];

/// A directory with or without what is excluded. Links lead there in any case.
fn fixture(with: bool) -> Fixture {
    let fixture = Fixture::new();
    fixture.work("open.md", "needle\n");
    fixture.work("conf/open.md", "needle\n");
    fixture.work("d/open.md", "needle\n");
    fixture.work("d/.git/HEAD", "x\n");
    fixture.work(".gitignore", "*.log\n");
    for number in 0..10 {
        fixture.work(&format!("many/{number:02}.md"), "needle\n");
    }
    let work = fixture.workspace();
    symlink("key.pem", work.join("link")).unwrap();
    symlink("conf/private", work.join("way")).unwrap();
    symlink("conf", work.join("outer")).unwrap();
    fixture.work("pub/open.md", "needle\n");
    for (link, target) in [
        ("pub/up", ".."),
        ("pub/conf", "../conf"),
        ("pub/through", "../conf/private/deep/../../open.md"),
        ("pub/back", "../conf/private/.."),
        ("pub/out", "../conf/private/../../../nowhere"),
    ] {
        symlink(target, work.join(link)).unwrap();
    }
    if with {
        for path in EXCLUDED {
            fixture.work(path, "needle\n");
        }
    }
    fixture
}

fn session(fixture: &Fixture, denied: &[&str]) -> Session {
    let builder = Session::builder()
        .work_root(fixture.workspace())
        .overwrite(Consent::Allow)
        .delete(Consent::Allow)
        .durability(Durability::Fast);
    let builder = denied
        .iter()
        .fold(builder, |builder, pattern| builder.deny(*pattern));
    Recorded::build(builder).session
}

/// Every path that is excluded, beside it, above it, and by way of links.
fn paths() -> Vec<String> {
    let mut paths: Vec<String> = EXCLUDED.iter().map(|&path| path.to_owned()).collect();
    let further = [
        ".",
        "conf",
        "d",
        "d/.git",
        "many",
        "outer",
        "link",
        "way",
        "way/y.md",
        "way/deep/x.md",
        "outer/a.pem",
        "outer/private",
        "conf/private",
        "conf/private/new.md",
        "key.pem/below",
        "conf/../key.pem",
        "conf/private/..",
        "conf/private/../open.md",
        "new.pem",
        "KEY.pem",
        "d/.git/hooks",
        "d/.git/hooks/..",
        "open.md/key.pem",
        "pub/up/conf/private/../open.md",
        "pub/up/conf/private/deep/../../open.md",
        "pub/up/d/.git/hooks/../HEAD",
        "pub/conf/private/../open.md",
        "pub/conf/private/../new.md",
        "pub/through",
        "pub/back",
        "pub/back/open.md",
        "pub/out",
    ];
    paths.extend(further.map(str::to_owned));
    paths
}

/// Every call by which a path can be asked about, and those that list, count and page.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        (
            "read_files",
            json!({ "paths": ["open.md", "key.pem", "way/y.md", "conf/a.pem"] }),
        ),
        (
            "find_files",
            json!({ "pattern": "*.pem", "ignore_case": true, "hidden": true }),
        ),
        (
            "find_files",
            json!({ "pattern": "**/hooks/**", "hidden": true, "gitignore": false }),
        ),
        (
            "search_files",
            json!({ "query": "needle", "hidden": true, "gitignore": false }),
        ),
        (
            "search_files",
            json!({ "query": "needle", "glob": "*.pem" }),
        ),
        ("search_files", json!({ "query": "needle", "limit": 5 })),
        ("list_files", json!({ "path": "many", "limit": 6 })),
        (
            "list_files",
            json!({ "path": "many", "limit": 4, "cursor": "0:0:05.md" }),
        ),
        (
            "list_files",
            json!({ "path": "many", "cursor": "0:0:05.pem" }),
        ),
        (
            "find_files",
            json!({ "path": "many", "pattern": "*", "limit": 6 }),
        ),
        (
            "move_file",
            json!({ "from": "open.md", "to": "absent/key.pem" }),
        ),
        (
            "apply_patch",
            json!({ "patch": "--- /dev/null\n+++ b/key.pem\n@@ -0,0 +1 @@\n+x\n" }),
        ),
        (
            "apply_patch",
            json!({ "patch": "--- a/key.pem\n+++ b/key.pem\n@@ -1 +1 @@\n-needle\n+x\n" }),
        ),
        (
            "apply_patch",
            json!({ "patch": "--- a/key.pem\n+++ /dev/null\n@@ -1 +0,0 @@\n-needle\n" }),
        ),
    ];
    for path in paths() {
        calls.extend(calls_of(&path));
    }
    calls
}

fn calls_of(path: &str) -> Vec<(&'static str, Value)> {
    let patch = format!("--- a/{path}\n+++ b/moved.md\n@@ -1 +1 @@\n-needle\n+x\n");
    vec![
        ("read_file", json!({ "path": path })),
        ("file_exists", json!({ "path": path })),
        ("file_info", json!({ "path": path, "hash": true })),
        ("read_document", json!({ "path": path })),
        (
            "list_files",
            json!({ "path": path, "hidden": true, "gitignore": false }),
        ),
        (
            "list_files",
            json!({ "path": path, "recursive": true, "hidden": true, "details": true }),
        ),
        (
            "find_files",
            json!({ "path": path, "pattern": "*", "hidden": true }),
        ),
        (
            "search_files",
            json!({ "path": path, "query": "needle", "hidden": true }),
        ),
        ("write_file", json!({ "path": path, "content": "x" })),
        ("create_file", json!({ "file_path": path, "content": "x" })),
        (
            "create_file",
            json!({ "file_path": path, "content": "x", "overwrite": true }),
        ),
        ("append_file", json!({ "path": path, "content": "x" })),
        (
            "edit_file",
            json!({ "path": path, "edits": [{ "old_text": "needle", "new_text": "x" }] }),
        ),
        ("create_directory", json!({ "dir_path": path })),
        ("copy_file", json!({ "from": path, "to": "copied" })),
        ("copy_file", json!({ "from": "open.md", "to": path })),
        (
            "copy_file",
            json!({ "from": "open.md", "to": path, "overwrite": true }),
        ),
        ("move_file", json!({ "from": "open.md", "to": path })),
        ("move_file", json!({ "from": "many", "to": path })),
        ("apply_patch", json!({ "patch": patch })),
        (
            "delete_file",
            json!({ "path": path, "expected_sha256": "0".repeat(64) }),
        ),
        (
            "write_file",
            json!({ "path": path, "content": "x", "expected_version": "0".repeat(32) }),
        ),
    ]
}

/// Moving or removing a directory as a whole tells that something in it is excluded, and nothing
/// else; SECURITY.md says so.
fn is_about_a_whole_directory((tool, arguments): &(&str, Value)) -> bool {
    *tool == "move_file" && arguments["from"] == "many"
}

fn answer(session: &Session, (tool, arguments): &(&str, Value)) -> String {
    let mut answer = match session.call(tool, arguments.clone()) {
        Ok(output) => serde_json::from_str(&output.to_json()).unwrap(),
        Err(error) => error.to_json(),
    };
    forget_what_differs(&mut answer);
    answer.to_string()
}

fn forget_what_differs(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            members.values_mut().for_each(forget_what_differs);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_what_differs),
        _ => {}
    }
}

fn changes(tool: &str) -> bool {
    let reads = ["read_", "list_", "find_", "search_", "file_"];
    !reads.iter().any(|prefix| tool.starts_with(prefix))
}

#[test]
fn no_answer_tells_whether_something_excluded_is_there() {
    let [(with, with_session), (without, without_session)] = [true, false].map(|with| {
        let fixture = fixture(with);
        let session = session(&fixture, &DENIED);
        (fixture, session)
    });
    let mut differences = Vec::new();
    for call in calls() {
        if is_about_a_whole_directory(&call) {
            continue;
        }
        let (there, absent) = if changes(call.0) {
            let of = |with| answer(&session(&fixture(with), &DENIED), &call);
            (of(true), of(false))
        } else {
            (
                answer(&with_session, &call),
                answer(&without_session, &call),
            )
        };
        if there != absent {
            differences.push(format!("{call:?}\n  there:  {there}\n  absent: {absent}"));
        }
    }
    drop((with, without));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The control: without patterns the two directories are told apart.
#[test]
fn without_patterns_the_answers_differ() {
    let of = |with| {
        let fixture = fixture(with);
        let session = session(&fixture, &[]);
        let reads = calls().into_iter().filter(|(tool, _)| !changes(tool));
        reads
            .map(|call| answer(&session, &call))
            .collect::<Vec<_>>()
    };
    let differ = of(true)
        .iter()
        .zip(&of(false))
        .filter(|(a, b)| a != b)
        .count();
    assert!(differ > 100, "{differ}");
}

/// A component that asks WASI itself learns no more: sizes, numbers of names, kinds of errors.
#[test]
fn a_raw_guest_is_told_no_more() {
    let steps: Vec<String> = paths()
        .iter()
        .flat_map(|path| {
            ["read", "stat", "measure", "list", "link", "mkdir", "unlink"]
                .map(|verb| format!("{verb} {path}"))
                .into_iter()
                .chain([format!("create {path} x"), format!("rename open.md {path}")])
        })
        .filter(|step| !step.contains(".."))
        .collect();
    let of = |with: bool, step: &str| {
        let fixture = fixture(with);
        let builder = Session::builder()
            .work_root(fixture.workspace())
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .durability(Durability::Fast);
        let builder = DENIED
            .iter()
            .fold(builder, |builder, pattern| builder.deny(*pattern));
        let recorded = Recorded::build(builder.component(component::compiled()));
        let output = recorded.call("follow_a_script", json!({ "script": step }));
        output.map_or_else(
            |error| error.to_string(),
            |output| output.fields_json().to_owned(),
        )
    };
    for step in steps {
        assert_eq!(of(true, &step), of(false, &step), "{step}");
    }
}

/// Only a way through what is excluded is refused, not every way down and up again.
#[test]
fn a_way_through_links_that_touches_nothing_excluded_is_open() {
    let fixture = fixture(true);
    symlink(
        "../d/../conf/open.md",
        fixture.workspace().join("pub/round"),
    )
    .unwrap();
    let session = session(&fixture, &DENIED);
    for path in [
        "pub/up/open.md",
        "pub/up/d/../open.md",
        "pub/conf/../pub/open.md",
        "pub/up/conf/../pub/up/d/open.md",
        "pub/round",
    ] {
        let output = session.call("read_file", json!({ "path": path }));
        assert_eq!(output.unwrap().text(), Some("needle\n"), "{path}");
    }
    let absent = session.call("read_file", json!({ "path": "pub/up/d/../absent" }));
    assert_eq!(absent.unwrap_err().code(), "not-found");
}

#[test]
fn that_a_directory_holds_something_excluded_is_all_that_moving_or_removing_it_tells() {
    let fixture = Fixture::new();
    fixture.work("d/a.pem", "key");
    let session = session(&fixture, &["*.pem"]);
    for (tool, arguments) in [
        ("delete_file", json!({ "path": "d" })),
        ("delete_file", json!({ "path": "d", "recursive": true })),
        ("move_file", json!({ "from": "d", "to": "e" })),
    ] {
        let error = session.call(tool, arguments).unwrap_err();
        let told = (error.code(), error.reason());
        assert_eq!(told, ("pattern-denied", Some("holds-excluded")), "{tool}");
        assert!(!error.to_json().to_string().contains("a.pem"));
    }
    // What can be seen in it is told as everywhere.
    fixture.work("d/b.md", "b");
    let error = session
        .call("delete_file", json!({ "path": "d" }))
        .unwrap_err();
    assert_eq!(error.code(), "not-empty");
    assert!(fixture.workspace().join("d/a.pem").exists());
}

/// Names that are made in a directory by the same call move along with it.
#[test]
fn what_a_call_makes_does_not_become_excluded_by_a_move_of_its_directory() {
    for (script, lands) in [
        ("mkdir d|create d/config x|rename d .git", ".git/config"),
        (
            "mkdir d|mkdir d/hooks|create d/hooks/a x|rename d .git",
            ".git/hooks/a",
        ),
        (
            "mkdir d|create d/x x|rename d/x d/config|rename d .git",
            ".git/config",
        ),
        ("rename e/open.md e/config|rename e .git", ".git/config"),
        (
            "mkdir d|mkdir d/e|create d/e/config x|rename d/e .git",
            ".git/config",
        ),
    ] {
        let run = |protect: bool| {
            let fixture = Fixture::new();
            fixture.work("e/open.md", "open");
            let builder = Session::builder()
                .work_root(fixture.workspace())
                .overwrite(Consent::Allow)
                .delete(Consent::Allow)
                .protect_secrets(protect);
            let recorded = Recorded::build(builder.component(component::compiled()));
            let _ = recorded.call("follow_a_script", json!({ "script": script }));
            fixture.workspace().join(lands).exists()
        };
        assert!(run(false), "the control must work: {script}");
        assert!(!run(true), "{script}");
    }
}
