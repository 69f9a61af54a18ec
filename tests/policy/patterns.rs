//! What patterns exclude, for every tool: by name and by object, before and after it exists.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::{AuditLog, Consent, Session, SessionBuilder};
use serde_json::{Value, json};

use crate::support::cli::{Cli, Run};
use crate::support::tree::{names, tree};
use crate::support::{Fixture, Recorded};

/// One directory both ways where everything is allowed but what patterns exclude.
fn session(fixture: &Fixture, change: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Recorded {
    let builder = Session::builder()
        .work_root(fixture.workspace())
        .overwrite(Consent::Allow)
        .delete(Consent::Allow);
    Recorded::build(change(builder))
}

fn denying<'a>(fixture: &Fixture, patterns: impl IntoIterator<Item = &'a str>) -> Recorded {
    session(fixture, |builder| {
        patterns.into_iter().fold(builder, SessionBuilder::deny)
    })
}

/// Every call by which a tool can come to a path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": path })),
        ("file_exists", json!({ "path": path })),
        ("file_info", json!({ "path": path })),
        ("list_files", json!({ "path": path })),
        ("find_files", json!({ "path": path, "pattern": "*" })),
        ("search_files", json!({ "path": path, "query": "x" })),
        ("write_file", json!({ "path": path, "content": "x" })),
        (
            "create_file",
            json!({ "file_path": path, "content": "x", "overwrite": true }),
        ),
        ("append_file", json!({ "path": path, "content": "x" })),
        (
            "edit_file",
            json!({ "path": path, "edits": [{ "old_text": "k", "new_text": "x" }] }),
        ),
        ("create_directory", json!({ "dir_path": path })),
        ("delete_file", json!({ "path": path })),
        ("delete_file", json!({ "path": path, "recursive": true })),
        ("move_file", json!({ "from": path, "to": "moved" })),
        (
            "move_file",
            json!({ "from": "open.md", "to": path, "overwrite": true }),
        ),
        ("copy_file", json!({ "from": path, "to": "copied" })),
        (
            "copy_file",
            json!({ "from": "open.md", "to": path, "overwrite": true }),
        ),
        ("read_document", json!({ "path": path })),
    ]
}

fn assert_excluded(recorded: &Recorded, (tool, arguments): (&str, Value)) {
    let error = recorded.error(tool, arguments.clone());
    assert_eq!(
        error.code(),
        "pattern-denied",
        "{tool} {arguments}: {error}"
    );
    assert!(!error.hint().is_empty());
}

#[test]
fn what_is_denied_is_so_for_every_tool_whether_it_exists_or_not() {
    let fixture = Fixture::new();
    fixture.work("open.md", "open");
    fixture.work("keys/a.pem", "key");
    fixture.work("there/x", "key");
    fixture.work("private/deep/x", "key");
    let recorded = denying(&fixture, ["*.pem", "/private", "**/there/*"]);
    let before = tree(fixture.base());
    let paths = [
        "keys/a.pem",
        "keys/b.pem",
        "a.pem",
        "keys/A.PEM",
        "./keys/a.pem",
        "keys//a.pem",
        "keys/../keys/a.pem",
        "private",
        "private/",
        "private/deep",
        "private/deep/x",
        "private/new",
        "Private/deep/x",
        "there/x",
        "there/new",
        "new/there/x",
    ];
    for path in paths {
        for call in calls(path) {
            // A spelling that is no file's is refused for that.
            let is_spelling = path.ends_with('/') && call.0 != "list_files";
            if !is_spelling {
                assert_excluded(&recorded, call);
            }
        }
    }
    assert_eq!(tree(fixture.base()), before);
}

/// `é` in one character, as most keyboards make it, and in two, as some systems store it: names
/// are bytes and both can stand side by side, and what is denied is denied in both forms.
#[test]
fn what_is_denied_in_one_normal_form_is_denied_in_the_other() {
    let (one, two) = ("caf\u{e9}.md", "cafe\u{301}.md");
    for (pattern, other) in [(one, two), (two, one)] {
        let fixture = Fixture::new();
        fixture.work("open.md", "open");
        fixture.work(other, "key");
        let unrestricted = session(&fixture, |builder| builder);
        let read = unrestricted.call("read_file", json!({ "path": other }));
        assert_eq!(read.unwrap().text(), Some("key"));
        assert_eq!(
            unrestricted
                .error("read_file", json!({ "path": pattern }))
                .code(),
            "not-found",
            "two spellings are two names"
        );
        let recorded = denying(&fixture, [pattern]);
        for path in [pattern, other] {
            for call in calls(path) {
                assert_excluded(&recorded, call);
            }
        }
        let listed = recorded.call("list_files", json!({})).unwrap().to_json();
        assert!(
            listed.contains("open.md") && !listed.contains("caf"),
            "{listed}"
        );
        // What is allowed is so as it is written.
        let recorded = session(&fixture, |builder| builder.allow(pattern));
        let refused = recorded.error("read_file", json!({ "path": other }));
        assert_eq!(refused.code(), "pattern-denied");
    }
}

/// The control: without the pattern each is read.
#[test]
fn what_is_denied_by_one_of_its_characters_is_refused() {
    for (pattern, denied, other) in [
        ("[é]*", "Été.md", "èté.md"),
        ("[!a-z]?.md", "語é.md", "aé.md"),
        ("*[語]*", "a語b", "a誝b"),
        ("?.md", "ß.md", "ss.md"),
        ("α\u{345}\u{301}", "\u{1fb4}", "α\u{301}"),
        ("a\\ ", "a ", "a"),
    ] {
        let fixture = Fixture::new();
        fixture.work(denied, "key");
        fixture.work(other, "open");
        let unrestricted = session(&fixture, |builder| builder);
        unrestricted.fields("read_file", json!({ "path": denied }));
        let recorded = denying(&fixture, [pattern]);
        for call in calls(denied) {
            assert_excluded(&recorded, call);
        }
        recorded.fields("read_file", json!({ "path": other }));
    }
}

#[test]
fn one_refused_call_is_one_refusal_in_the_log() {
    let fixture = Fixture::new();
    fixture.work(".env", "key");
    let recorded = denying(&fixture, [".env"]);
    for call in calls(".env") {
        recorded.forget();
        assert_excluded(&recorded, call.clone());
        let refusals = recorded.entries_of("refusal");
        assert_eq!(refusals.len(), 1, "{call:?}: {refusals:?}");
        assert_eq!(refusals[0]["code"], "pattern-denied");
        assert_eq!(recorded.entries_of("access"), [] as [Value; 0], "{call:?}");
    }
}

/// The control: the links work where nothing is denied.
#[test]
fn a_link_is_judged_by_where_it_leads() {
    let fixture = Fixture::new();
    fixture.work("open.md", "open");
    fixture.work(".env", "key");
    fixture.work("d/private/x", "key");
    let work = fixture.workspace();
    symlink(".env", work.join("link")).unwrap();
    symlink("link", work.join("link-to-link")).unwrap();
    symlink("d/private", work.join("way")).unwrap();
    symlink("d", work.join("outer")).unwrap();
    let control = session(&fixture, |builder| builder);
    let recorded = denying(&fixture, [".env", "/d/private"]);
    for path in ["link", "link-to-link", "way/x", "outer/private/x"] {
        for tool in ["read_file", "file_exists"] {
            control.fields(tool, json!({ "path": path }));
            assert_excluded(&recorded, (tool, json!({ "path": path })));
        }
        let pair = json!({ "from": path, "to": "copied", "overwrite": true });
        control.fields("copy_file", pair.clone());
        assert_excluded(&recorded, ("copy_file", pair));
    }
    assert_excluded(&recorded, ("list_files", json!({ "path": "way" })));
    let write = json!({ "path": "way/x", "content": "" });
    assert_excluded(&recorded, ("write_file", write));
    let write = json!({ "path": "outer/private/new", "content": "" });
    assert_excluded(&recorded, ("write_file", write));
    // The link itself is no secret, and goes without what it leads to.
    recorded.fields("delete_file", json!({ "path": "link-to-link" }));
    assert_eq!(fs::read_to_string(work.join(".env")).unwrap(), "key");
}

#[test]
fn whether_a_denied_name_exists_is_not_told_through_links() {
    let fixture = Fixture::new();
    let work = fixture.workspace();
    fs::create_dir(work.join("d")).unwrap();
    symlink("d", work.join("outer")).unwrap();
    symlink(".env", work.join("link")).unwrap();
    symlink("d/private/x", work.join("deep")).unwrap();
    let recorded = denying(&fixture, [".env", "/d/private"]);
    let answers = || {
        ["link", "deep", "outer/private/x", "outer/private"].map(|path| {
            let calls = ["read_file", "file_exists", "file_info"];
            calls.map(|tool| recorded.error(tool, json!({ "path": path })))
        })
    };
    let absent = answers();
    fixture.work(".env", "key");
    fixture.work("d/private/x", "key");
    assert_eq!(answers(), absent);
    assert!(
        absent
            .iter()
            .flatten()
            .all(|error| error.code() == "pattern-denied")
    );
    let elsewhere = recorded.error("read_file", json!({ "path": "outer/other" }));
    assert_eq!(elsewhere.code(), "not-found");
}

#[test]
fn denied_names_are_absent_from_listings_and_searches() {
    let fixture = Fixture::new();
    fixture.work("a.md", "needle");
    fixture.work("a.pem", "needle");
    fixture.work("d/b.md", "needle");
    fixture.work("d/b.PEM", "needle");
    fixture.work("private/c.md", "needle");
    let recorded = denying(&fixture, ["*.pem", "private"]);
    let listed = recorded.fields("list_files", json!({ "recursive": true, "hidden": true }));
    assert!(!listed.to_string().contains("pem"), "{listed}");
    assert!(!listed.to_string().contains("PEM"), "{listed}");
    assert!(!listed.to_string().contains("private"), "{listed}");
    assert_eq!(listed["count"], 3, "{listed}");
    for (tool, arguments) in [
        ("find_files", json!({ "pattern": "*" })),
        ("search_files", json!({ "query": "needle" })),
    ] {
        let output = recorded.call(tool, arguments).unwrap();
        let text = output.to_json();
        assert!(text.contains("b.md"), "{text}");
        for hidden in ["pem", "PEM", "private"] {
            assert!(!text.contains(hidden), "{text}");
        }
    }
}

#[test]
fn a_directory_that_holds_denied_names_is_neither_renamed_nor_deleted_as_a_whole() {
    let fixture = Fixture::new();
    fixture.work("d/inner/a.pem", "key");
    fixture.work("d/b.md", "b");
    fixture.work("plain/b.md", "b");
    fixture.work("conf/secret", "key");
    fixture.work("late/hooks/x", "x");
    let recorded = denying(&fixture, ["*.pem", "/conf/secret", "**/.git/hooks"]);
    let before = tree(fixture.base());
    for (from, to) in [
        ("d", "e"),
        ("conf", "c"),
        ("d/inner", "i"),
        ("late", ".git"),
    ] {
        let error = recorded.error("move_file", json!({ "from": from, "to": to }));
        assert_eq!(error.code(), "pattern-denied", "{from}");
        assert_eq!(error.reason(), Some("holds-excluded"), "{from}");
    }
    for path in ["d", "conf", "d/inner"] {
        let tree = json!({ "path": path, "recursive": true });
        let error = recorded.error("delete_file", tree);
        assert_eq!(error.reason(), Some("holds-excluded"), "{path}");
    }
    assert_eq!(tree(fixture.base()), before);
    recorded.fields("move_file", json!({ "from": "plain", "to": "moved" }));
    recorded.fields("delete_file", json!({ "path": "moved", "recursive": true }));
}

#[test]
fn only_what_is_allowed_can_be_touched() {
    let fixture = Fixture::new();
    fixture.work("docs/a.md", "needle");
    fixture.work("docs/a.txt", "needle");
    fixture.work("src/a.md", "needle");
    fixture.work("open.md", "open");
    let recorded = session(&fixture, |builder| {
        builder
            .allow("docs/**/*.md")
            .allow("/drafts/")
            .deny("secret*")
    });
    for path in [
        "docs/a.txt",
        "src/a.md",
        "src",
        "docs/b.txt",
        "docs/secret.md",
        "drafts/secret",
    ] {
        assert_excluded(&recorded, ("read_file", json!({ "path": path })));
        let write = json!({ "path": path, "content": "x" });
        assert_excluded(&recorded, ("write_file", write));
    }
    recorded.fields("read_file", json!({ "path": "docs/a.md" }));
    recorded.fields(
        "write_file",
        json!({ "path": "docs/new/b.md", "content": "" }),
    );
    recorded.fields(
        "write_file",
        json!({ "path": "drafts/any/thing", "content": "" }),
    );
    assert_eq!(
        recorded
            .error("read_file", json!({ "path": "docs/c.md" }))
            .code(),
        "not-found"
    );
    let listed = recorded.fields("list_files", json!({ "recursive": true }));
    for hidden in ["src", "a.txt", "open.md"] {
        assert!(!listed.to_string().contains(hidden), "{hidden}: {listed}");
    }
    let search = recorded.call("search_files", json!({ "query": "needle" }));
    let found = search.unwrap().to_json();
    assert!(found.contains("docs/a.md"), "{found}");
    assert!(
        !found.contains("a.txt") && !found.contains("src"),
        "{found}"
    );
}

/// Another name of the same file is another name; the documentation says so.
#[test]
fn a_hard_link_is_not_seen() {
    let fixture = Fixture::new();
    let secret = fixture.work(".env", "key");
    fs::hard_link(secret, fixture.workspace().join("other")).unwrap();
    let recorded = denying(&fixture, [".env"]);
    let output = recorded
        .call("read_file", json!({ "path": "other" }))
        .unwrap();
    assert_eq!(output.text(), Some("key"));
}

/// The write root's copy of a file must not tell what the read root's patterns exclude.
#[test]
fn a_staged_copy_is_not_read_back_where_a_read_root_excludes_it() {
    let fixture = Fixture::new();
    fixture.work("inner/conf/secret", "key=1\n");
    fixture.work("inner/conf/open", "key=1\n");
    let builder = Session::builder()
        .read_root(fixture.workspace().join("inner"))
        .write_root(fixture.workspace())
        .overwrite(Consent::Allow)
        .deny("/conf/secret");
    let recorded = Recorded::build(builder);
    let edit = |path: &str| {
        let edits = json!([{ "old_text": "key=1", "new_text": "key=2" }]);
        recorded.call("edit_file", json!({ "path": path, "edits": edits }))
    };
    assert_eq!(edit("conf/secret").unwrap_err().code(), "pattern-denied");
    assert_ne!(
        edit("inner/conf/secret")
            .map(drop)
            .map_err(|error| error.code().to_owned()),
        Ok(())
    );
    assert_eq!(fixture.workspace_text("inner/conf/secret"), "key=1\n");
}

#[test]
fn secrets_are_protected_on_request_and_can_be_taken_back() {
    let fixture = Fixture::new();
    for path in [
        ".env",
        ".env.example",
        ".git/hooks/pre-commit",
        ".git/config",
        "id_rsa",
        "a.md",
    ] {
        fixture.work(path, "x");
    }
    let recorded = session(&fixture, |builder| {
        builder.protect_secrets(true).deny("!.env.example")
    });
    for path in [
        ".env",
        ".git/hooks/pre-commit",
        ".git/hooks/new",
        ".git/config",
        "id_rsa",
        ".ssh/x",
    ] {
        assert_excluded(&recorded, ("read_file", json!({ "path": path })));
        let write = json!({ "path": path, "content": "x" });
        assert_excluded(&recorded, ("write_file", write));
    }
    for path in [".env.example", "a.md"] {
        recorded.fields("read_file", json!({ "path": path }));
    }
    let unprotected = session(&fixture, |builder| builder);
    unprotected.fields("read_file", json!({ "path": ".env" }));
}

#[test]
fn a_pattern_that_means_nothing_stops_the_start() {
    for pattern in [
        "",
        "[a",
        "*.{a,b}",
        "#x",
        "a//b",
        "../x",
        "!x",
        "*.pem\n*.key",
        "~/x",
    ] {
        let denied = Session::builder().deny(pattern).audit(AuditLog::none());
        assert!(denied.build().is_err(), "{pattern:?}");
        let allowed = Session::builder().allow(pattern).audit(AuditLog::none());
        assert!(allowed.build().is_err(), "{pattern:?}");
    }
}

/// From each source, and from all together; nobody waits for what is refused.
#[test]
fn more_patterns_than_anybody_needs_stop_the_start() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let file = fixture.outside().join("rootbound.toml");
    let named = |count: usize| (0..count).map(|number| format!("name-{number}"));
    let check = |in_file: usize, by_hand: usize| {
        let list: Vec<String> = named(in_file).collect();
        fs::write(&file, format!("deny = {}\n", json!(list))).unwrap();
        let mut command = cli.command(["check", "--config"]);
        command.arg(&file);
        command.args(named(by_hand).map(|name| format!("--deny={name}")));
        Run::of(&mut command)
    };
    for (in_file, by_hand, told) in [
        (
            50_000,
            0,
            "rootbound.toml:1:8: `deny` takes 4096 at most, and these are 50000",
        ),
        (4097, 0, "`deny` takes 4096 at most"),
        (
            0,
            4097,
            "`name-4096` is not a pattern: there may be 4096 patterns at most",
        ),
        (4000, 97, "there may be 4096 patterns at most"),
    ] {
        let run = check(in_file, by_hand);
        assert_eq!(run.status, Some(2), "{in_file} {by_hand}: {}", run.stderr);
        assert!(
            run.stderr.contains(told),
            "{in_file} {by_hand}: {}",
            run.stderr
        );
    }
    let most = check(4000, 96);
    assert_eq!(most.status, Some(0), "{}", most.stderr);
}

#[test]
fn the_policy_on_record_has_the_patterns() {
    let fixture = Fixture::new();
    let recorded = session(&fixture, |builder| {
        builder.allow("*.md").deny("draft*").protect_secrets(true)
    });
    let policy = &recorded.entries_of("genesis")[0]["policy"];
    assert_eq!(policy["allow"], json!(["*.md"]));
    assert_eq!(policy["deny"], json!(["draft*"]));
    assert_eq!(policy["protect_secrets"], true);
}

#[test]
fn the_command_line_takes_patterns() {
    let fixture = Fixture::new();
    fixture.work("a.md", "x");
    fixture.work("a.pem", "x");
    fixture.work("draft.md", "x");
    let cli = Cli::new();
    let work = fixture.workspace();
    let work = work.to_str().unwrap();
    let options = [
        "--work",
        work,
        "--allow",
        "*.md",
        "--deny",
        "draft*",
        "--protect-secrets",
    ];
    let read = |path: &str| cli.call("read_file", &json!({ "path": path }), options);
    assert_eq!(read("a.md").success()["content"], "x");
    for path in ["a.pem", "draft.md"] {
        assert_eq!(read(path).refusal()["code"], "pattern-denied");
    }
    let check = cli.run(["check"].into_iter().chain(options));
    for shown in ["`*.md`", "`draft*`", "`.env*`"] {
        assert!(check.stdout.contains(shown), "{check:?}");
    }
    let wrong = cli.call("read_file", &json!({}), ["--work", work, "--deny", "[a"]);
    assert_eq!(wrong.status, Some(2));
    assert!(wrong.stderr.contains("`[a` is not a pattern"), "{wrong:?}");
    assert_eq!(names(&fixture.workspace()).len(), 3);
}
