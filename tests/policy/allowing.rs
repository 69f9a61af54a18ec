//! What `allow` means for directories: one may be gone through as long as something below it could
//! be allowed, and that is the same for every tool. What is no directory has to be named.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::{Consent, Session, SessionBuilder};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded};

/// Markdown and text, in directories with both, with one of them, and with nothing.
fn desk() -> Fixture {
    let fixture = Fixture::new();
    for path in [
        "a.md",
        "a.txt",
        "sub/x.md",
        "sub/x.txt",
        "sub/deep/y.md",
        "clean/c.md",
        "only/z.txt",
        "docs/d.md",
        "docs/d.txt",
        "docs/in/e.md",
    ] {
        fixture.work(path, "needle\n");
    }
    let work = fixture.workspace();
    fs::create_dir(work.join("empty")).unwrap();
    symlink("sub", work.join("way")).unwrap();
    symlink("a.md", work.join("plain")).unwrap();
    symlink("a.txt", work.join("trap.md")).unwrap();
    fixture
}

fn session(fixture: &Fixture, allow: &[&str]) -> Recorded {
    let builder = Session::builder()
        .work_root(fixture.workspace())
        .overwrite(Consent::Allow)
        .delete(Consent::Allow);
    let allow = allow.iter().copied();
    Recorded::build(allow.fold(builder, SessionBuilder::allow))
}

fn answer(recorded: &Recorded, tool: &str, arguments: Value) -> String {
    match recorded.call(tool, arguments) {
        Ok(_) => "ok".to_owned(),
        Err(error) => match error.reason() {
            Some(reason) => format!("{} {reason}", error.code()),
            None => error.code().to_owned(),
        },
    }
}

const OK: &str = "ok";
const DENIED: &str = "pattern-denied";
const HOLDS: &str = "pattern-denied holds-excluded";

#[test]
fn a_name_at_any_depth_leaves_every_directory_passable_for_every_tool() {
    let patch = |path: &str| json!({ "patch": format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n") });
    let content = |path: &str| json!({ "path": path, "content": "x" });
    let pair = |from: &str, to: &str| json!({ "from": from, "to": to });
    let at = |path: &str| json!({ "path": path });
    let edit =
        |path: &str| json!({ "path": path, "edits": [{ "old_text": "needle", "new_text": "x" }] });
    let whole = |path: &str| json!({ "path": path, "recursive": true });
    #[rustfmt::skip]
    let rows = [
        // Reading, through directories and links; a link is judged by where it leads.
        ("read_file",           at("a.md"),                         OK),
        ("read_file",           at("a.txt"),                        DENIED),
        ("read_file",           at("sub/x.md"),                     OK),
        ("read_file",           at("sub/x.txt"),                    DENIED),
        ("read_file",           at("sub/deep/y.md"),                OK),
        ("read_file",           at("way/x.md"),                     OK),
        ("read_file",           at("way/x.txt"),                    DENIED),
        ("read_file",           at("plain"),                        OK),
        ("read_file",           at("trap.md"),                      DENIED),
        // Looking up and listing.
        ("file_exists",         at("sub"),                          OK),
        ("file_info",           at("sub"),                          OK),
        ("file_exists",         at("absent.md"),                    OK),
        ("file_exists",         at("absent"),                       DENIED),
        ("file_exists",         at("a.txt"),                        DENIED),
        ("list_files",          at("sub"),                          OK),
        ("list_files",          at("only"),                         OK),
        ("list_files",          at("empty"),                        OK),
        ("find_files",          json!({ "path": "sub", "pattern": "*" }), OK),
        ("search_files",        json!({ "path": "sub", "query": "x" }), OK),
        // Making, with the directories on the way.
        ("write_file",          content("new.md"),                  OK),
        ("write_file",          content("new.txt"),                 DENIED),
        ("write_file",          content("new/a/n.md"),              OK),
        ("write_file",          content("new/a/n.txt"),             DENIED),
        ("write_file",          content("sub"),                     DENIED),
        ("create_file",         json!({ "file_path": "new/n.md", "content": "" }), OK),
        ("create_file",         json!({ "file_path": "new/n", "content": "" }), DENIED),
        ("create_directory",    json!({ "dir_path": "new/a" }),     OK),
        ("create_directory",    json!({ "dir_path": "sub/new" }),   OK),
        ("apply_patch",         patch("new/p.md"),                  OK),
        ("apply_patch",         patch("new/p.txt"),                 DENIED),
        // Changing.
        ("write_file",          content("sub/x.md"),                OK),
        ("write_file",          content("sub/x.txt"),               DENIED),
        ("append_file",         content("sub/x.md"),                OK),
        ("append_file",         content("sub/x.txt"),               DENIED),
        ("edit_file",           edit("sub/x.md"),                   OK),
        ("edit_file",           edit("sub/x.txt"),                  DENIED),
        // Copying and moving: both ends count, and all that a directory holds.
        ("copy_file",           pair("sub/x.md", "new/c.md"),       OK),
        ("copy_file",           pair("sub/x.md", "new/c.txt"),      DENIED),
        ("copy_file",           pair("sub/x.txt", "new/c.md"),      DENIED),
        ("move_file",           pair("sub/x.md", "new/c.md"),       OK),
        ("move_file",           pair("sub/x.md", "c"),              DENIED),
        ("move_file",           pair("sub/x.txt", "c.md"),          DENIED),
        ("move_file",           pair("clean", "moved"),             OK),
        ("move_file",           pair("clean/", "moved"),             OK),
        ("move_file",           pair("empty", "sub/moved"),         OK),
        // What has no directory yet is taken for a file's name.
        ("move_file",           pair("empty", "new/moved"),         DENIED),
        ("move_file",           pair("sub", "moved"),               HOLDS),
        ("move_file",           pair("a.md", "moved"),              DENIED),
        ("write_file",          json!({ "path": "moved", "content": "" }), DENIED),
        ("write_file",          json!({ "path": "only", "content": "" }), DENIED),
        ("move_file",           pair("sub/", "moved"),               HOLDS),
        ("move_file",           pair("only/", "moved"),              HOLDS),
        // Deleting: what only seems empty is not.
        ("delete_file",         at("sub/x.md"),                     OK),
        ("delete_file",         at("sub/x.txt"),                    DENIED),
        ("delete_file",         at("empty"),                        OK),
        ("delete_file",         at("only"),                         HOLDS),
        ("delete_file",         whole("clean"),                     OK),
        ("delete_file",         whole("sub"),                       HOLDS),
        ("delete_file",         at("way"),                          DENIED),
        ("delete_file",         at("trap.md"),                      OK),
    ];
    for (tool, arguments, expected) in rows {
        let fixture = desk();
        let recorded = session(&fixture, &["*.md"]);
        let found = answer(&recorded, tool, arguments.clone());
        assert_eq!(found, expected, "{tool} {arguments}");
        // Whatever happened, what is not allowed is as it was.
        for path in ["a.txt", "sub/x.txt", "only/z.txt", "docs/d.txt"] {
            assert_eq!(
                fixture.workspace_text(path),
                "needle\n",
                "{tool} {arguments}"
            );
        }
    }
}

/// What is passable from the root, and what can be made there, for patterns with a place.
#[test]
fn a_pattern_with_a_place_leaves_the_directories_on_its_way_passable_and_no_others() {
    let make = |path: &str| ("create_directory", json!({ "dir_path": path }));
    let list = |path: &str| ("list_files", json!({ "path": path }));
    let write = |path: &str| ("write_file", json!({ "path": path, "content": "x" }));
    #[rustfmt::skip]
    let rows = [
        (&["/docs/*.md"][..],       list("docs"),           OK),
        (&["/docs/*.md"],           list("docs/in"),        DENIED),
        (&["/docs/*.md"],           list("sub"),            DENIED),
        (&["/docs/*.md"],           write("docs/n.md"),     OK),
        (&["/docs/*.md"],           write("docs/in/n.md"),  DENIED),
        (&["/docs/*.md"],           make("docs/new"),       DENIED),
        (&["/docs/*.md"],           make("new"),            DENIED),
        (&["/new/*.md"],            make("new"),            OK),
        (&["/new/*.md"],            write("new/n.md"),      OK),
        (&["/new/a/*.md"],          make("new/a"),          OK),
        (&["/new/a/*.md"],          make("new/b"),          DENIED),
        (&["/docs/**/*.md"],        make("docs/new/x"),     OK),
        (&["/docs/**/*.md"],        write("docs/n.txt"),    DENIED),
        (&["/docs/**"],             write("docs/n.txt"),    OK),
        (&["/docs"],                write("docs/a/n.txt"),  OK),
        (&["/docs/"],               make("docs/a/b"),       OK),
        (&["/docs", "!/docs/in"],   list("docs/in"),        DENIED),
        (&["/docs", "!/docs/in"],   make("docs/in/a"),      DENIED),
        (&["/docs", "!*.tmp"],      write("docs/n.tmp"),    DENIED),
        // At any depth: there could be one below.
        (&["docs"],                 list("sub"),            OK),
        (&["docs"],                 write("sub/docs/n"),    OK),
        (&["docs"],                 write("sub/n"),         DENIED),
        (&["*/x.md"],               list("sub"),            OK),
        (&["*/x.md"],               list("sub/deep"),       DENIED),
        (&["s*/x.md"],              list("docs"),           DENIED),
        (&["Docs/*.md"],            list("docs"),           DENIED),
    ];
    for (allow, (tool, arguments), expected) in rows {
        let fixture = desk();
        let recorded = session(&fixture, allow);
        let found = answer(&recorded, tool, arguments.clone());
        assert_eq!(found, expected, "{allow:?} {tool} {arguments}");
    }
}

/// A listing shows what can be gone through and what is named; a search finds what can be read.
#[test]
fn listings_and_searches_show_what_can_be_touched() {
    let fixture = desk();
    let recorded = session(&fixture, &["*.md"]);
    let listed = recorded.fields("list_files", json!({}));
    let names: Vec<&str> = listed["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["a.md", "clean", "docs", "empty", "only", "sub", "trap.md"]
    );
    for (tool, arguments) in [
        ("find_files", json!({ "pattern": "*" })),
        ("search_files", json!({ "query": "needle" })),
        ("list_files", json!({ "recursive": true })),
    ] {
        let found = recorded.call(tool, arguments).unwrap().to_json();
        for shown in ["a.md", "sub/x.md", "sub/deep/y.md", "docs/in/e.md"] {
            assert!(found.contains(shown), "{tool} {shown}: {found}");
        }
        assert!(
            !found.contains(".txt") && !found.contains("plain"),
            "{tool}: {found}"
        );
    }
}

/// Whoever asks for what is there learns no more than whoever asks for what is not.
#[test]
fn whether_something_is_there_that_is_not_allowed_is_not_told() {
    let fixture = desk();
    fixture.work("file", "needle\n");
    let recorded = session(&fixture, &["*.md"]);
    for tool in ["read_file", "file_exists", "file_info", "list_files"] {
        let there = recorded.error(tool, json!({ "path": "file" }));
        let absent = recorded.error(tool, json!({ "path": "fill" }));
        assert_eq!(there, absent, "{tool}");
    }
}
