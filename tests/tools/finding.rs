//! `find_files` and recursive `list_files`: names in trees.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use rootbound::Limits;
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded, pipe};

fn texts<'a>(rows: &'a Value, key: &str) -> Vec<&'a str> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[key].as_str().unwrap()).collect()
}

fn found(fields: &Value) -> Vec<&str> {
    texts(&fields["matches"], "path")
}

fn names(fields: &Value) -> Vec<&str> {
    texts(&fields["entries"], "name")
}

/// All pages of a call put together: the rows under `list`.
fn pages(recorded: &Recorded, tool: &str, arguments: &Value, list: &str) -> Vec<Value> {
    let mut arguments = arguments.clone();
    let mut rows = Vec::new();
    loop {
        let page = recorded.fields(tool, arguments.clone());
        let new = page[list].as_array().unwrap().clone();
        assert!(!new.is_empty(), "an empty page: {page}");
        rows.extend(new);
        assert_eq!(page["truncated"], !page["next_cursor"].is_null());
        if page["next_cursor"].is_null() {
            return rows;
        }
        arguments["cursor"] = page["next_cursor"].clone();
    }
}

#[test]
fn globs_are_those_of_gitignore() {
    let fixture = Fixture::new();
    for path in ["a.md", "src/b.md", "src/deep/c.md", "src/c.rs", "x.mdx"] {
        fixture.input(path, "");
    }
    let recorded = fixture.session();
    for (pattern, paths) in [
        ("*.md", &["a.md", "src/b.md", "src/deep/c.md"][..]),
        ("/*.md", &["a.md"]),
        ("src/*.md", &["src/b.md"]),
        ("src/**/*.md", &["src/b.md", "src/deep/c.md"]),
        ("*.{mdx,rs}", &["src/c.rs", "x.mdx"]),
        ("deep/", &["src/deep"]),
        ("nothing", &[]),
    ] {
        let fields = recorded.fields("find_files", json!({ "pattern": pattern }));
        assert_eq!(found(&fields), paths, "{pattern}");
        assert_eq!(fields["count"], paths.len());
    }
    let below = recorded.fields(
        "find_files",
        json!({ "pattern": "/*.md", "path": "./src/" }),
    );
    assert_eq!(found(&below), ["src/b.md"]);
    let files = json!({ "pattern": "*", "type": "directory" });
    assert_eq!(
        found(&recorded.fields("find_files", files)),
        ["src", "src/deep"]
    );
}

#[test]
fn wrong_arguments_are_refused_with_what_to_do() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for arguments in [
        json!({ "pattern": "" }),
        json!({ "pattern": "{a" }),
        json!({ "pattern": "*", "type": "dir" }),
        json!({ "pattern": "*", "limit": 0 }),
        json!({ "pattern": "*", "depth": 0 }),
        json!({ "pattern": "*", "cursor": "somewhere" }),
        json!({ "pattern": "*", "root": "elsewhere" }),
    ] {
        let error = recorded.error("find_files", arguments.clone());
        assert_eq!(error.code(), "invalid-arguments", "{arguments}");
        assert_ne!(error.hint(), "", "{arguments}");
    }
    fixture.input("t", "");
    let error = recorded.error("find_files", json!({ "pattern": "*", "path": "t" }));
    assert_eq!(error.code(), "not-a-directory");
}

#[test]
fn ignored_and_hidden_names_are_left_out_and_counted() {
    let fixture = Fixture::new();
    fixture.input(".gitignore", "target/\n*.log\n!keep.log\n");
    fixture.input(".env", "");
    fixture.input(".git/config", "");
    for path in ["a.log", "keep.log", "src/b.log", "src/c.rs", "target/d/e"] {
        fixture.input(path, "");
    }
    let recorded = fixture.session();
    let all = |more: Value| {
        let mut arguments = json!({ "pattern": "*" });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        recorded.fields("find_files", arguments)
    };
    let fields = all(json!({}));
    assert_eq!(found(&fields), ["keep.log", "src", "src/c.rs"]);
    assert_eq!(
        (&fields["ignored"], &fields["skipped"]["hidden"]),
        (&json!(3), &json!(3))
    );
    let fields = all(json!({ "hidden": true }));
    assert_eq!(
        found(&fields),
        [".env", ".gitignore", "keep.log", "src", "src/c.rs"]
    );
    let fields = all(json!({ "hidden": true, "gitignore": false }));
    assert_eq!(fields["count"], 12);
    assert_eq!(fields["ignored"], 0);
    // A glob that names a hidden file asks for it.
    assert_eq!(found(&all(json!({ "pattern": ".env*" }))), [".env"]);
    // What lies above the start has its say.
    assert_eq!(found(&all(json!({ "path": "src" }))), ["src/c.rs"]);
    let tree = recorded.fields("list_files", json!({ "recursive": true, "details": false }));
    assert_eq!(names(&tree), ["keep.log", "src", "src/c.rs"]);
    assert_eq!(tree["ignored"], 3);
}

/// git's own word on what is ignored, for rules of every kind.
#[test]
fn what_is_ignored_is_what_git_ignores() {
    let fixture = Fixture::new();
    let git = |arguments: &[&str]| {
        Command::new("git")
            .args(arguments)
            .current_dir(fixture.inputs())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap()
    };
    assert!(git(&["init", "--quiet"]).status.success());
    fixture.input(
        ".gitignore",
        "# comment\n*.o\n!keep.o\n/only-here\nbuild/\ndoc/*.txt\n**/cache\nlogs/**/debug\n\
         foo/**\n!foo/kept\nspace\\ \ntrailing   \n\\#hash\n\\!bang\na?c\n[xy]z\nd[!0-9]\n\
         deep/**/end\n*.tmp/\n/a/b/c\n\u{e4}*\n\r\nwin\r\n",
    );
    fixture.input("sub/.gitignore", "!*.o\nonly-sub\n/anchored\nbuild/\n");
    fixture.input("sub/deeper/.gitignore", "*\n!.gitignore\n!*/\n!*.rs\n");
    for path in [
        "a.o",
        "keep.o",
        "only-here",
        "x/only-here",
        "build/x",
        "x/build/y",
        "file/build",
        "doc/a.txt",
        "doc/sub/a.txt",
        "cache/x",
        "x/cache",
        "logs/debug",
        "logs/a/b/debug",
        "foo/a",
        "foo/kept",
        "space ",
        "trailing",
        "#hash",
        "!bang",
        "abc",
        "abbc",
        "xz",
        "zz",
        "da",
        "d1",
        "deep/end",
        "deep/a/b/end",
        "a.tmp/x",
        "b.tmp",
        "a/b/c",
        "x/a/b/c",
        "\u{e4}b",
        "win",
        "sub/a.o",
        "sub/only-sub",
        "sub/x/only-sub",
        "sub/anchored",
        "sub/x/anchored",
        "sub/deeper/x.rs",
        "sub/deeper/x.c",
        "sub/deeper/d/x.rs",
        "sub/deeper/d/x.c",
        "plain",
    ] {
        fixture.input(path, "");
    }
    let listed = git(&["ls-files", "--others", "--exclude-standard", "-z"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut expected: Vec<&str> = listed.split_terminator('\0').collect();
    expected.sort_by_key(|path| path.split('/').collect::<Vec<_>>());
    let all = json!({ "pattern": "*", "type": "file", "hidden": true });
    let recorded = fixture.session();
    assert_eq!(found(&recorded.fields("find_files", all)), expected);
}

#[test]
fn other_spellings_match_on_request_and_come_last() {
    let fixture = Fixture::new();
    let (composed, decomposed) = ("\u{c4}rger.txt", "A\u{308}rger.txt");
    for name in [
        decomposed,
        composed,
        "readme.md",
        "README.md",
        "a/ReadMe.md",
    ] {
        fixture.input(name, "");
    }
    let recorded = fixture.session();
    for (arguments, paths) in [
        (json!({ "pattern": composed }), &[composed][..]),
        (
            json!({ "pattern": composed, "normalize": true }),
            &[composed, decomposed],
        ),
        (
            json!({ "pattern": decomposed, "normalize": true }),
            &[decomposed, composed],
        ),
        (json!({ "pattern": "readme.md" }), &["readme.md"]),
        (
            json!({ "pattern": "readme.md", "ignore_case": true }),
            &["readme.md", "README.md", "a/ReadMe.md"],
        ),
    ] {
        let fields = recorded.fields("find_files", arguments.clone());
        assert_eq!(found(&fields), paths, "{arguments}");
        let mut arguments = arguments;
        arguments["limit"] = 1.into();
        let rows = Value::from(pages(&recorded, "find_files", &arguments, "matches"));
        assert_eq!(texts(&rows, "path"), paths, "{arguments}");
    }
}

#[test]
fn a_tree_is_listed_in_order_with_its_links_and_depth() {
    let fixture = Fixture::new();
    for path in ["a.b", "a/x", "a/y/z", "a-b"] {
        fixture.input(path, "text");
    }
    symlink(fixture.outside(), fixture.inputs().join("a/out")).unwrap();
    symlink("..", fixture.inputs().join("a/up")).unwrap();
    pipe(&fixture.inputs().join("pipe"));
    let recorded = fixture.session();
    let tree = recorded.fields("list_files", json!({ "recursive": true }));
    let expected = [
        "a", "a/out", "a/up", "a/x", "a/y", "a/y/z", "a-b", "a.b", "pipe",
    ];
    assert_eq!(names(&tree), expected);
    let kinds = texts(&tree["entries"], "type");
    assert_eq!(kinds[1..4], ["symlink", "symlink", "file"]);
    assert_eq!(tree["entries"][3]["size"], 4);
    let shallow = json!({ "recursive": true, "depth": 2 });
    let tree = recorded.fields("list_files", shallow);
    assert_eq!(names(&tree).len(), 8);
    assert_eq!(tree["skipped"]["too_deep"], 1);
    assert!(recorded.entries_of("refusal").is_empty());
}

#[test]
fn the_hosts_depth_ends_a_walk_and_is_told() {
    let fixture = Fixture::new();
    fixture.input("1/2/3/4/5/6/7/8/9/10/11/12", "");
    for (max_depth, depth, levels) in [
        (10, None, 10),
        (3, None, 3),
        (3, Some(7), 3),
        (20, Some(20), 12),
    ] {
        let limits = Limits {
            max_depth,
            ..Limits::default()
        };
        let recorded = fixture.session_with(|builder| builder.limits(limits));
        let mut arguments = json!({ "recursive": true, "details": false });
        if let Some(depth) = depth {
            arguments["depth"] = depth.into();
        }
        let tree = recorded.fields("list_files", arguments);
        assert_eq!(tree["count"], levels);
        let too_deep = if levels < 12 { json!(1) } else { Value::Null };
        assert_eq!(tree["skipped"]["too_deep"], too_deep);
        assert!(recorded.entries_of("refusal").is_empty());
    }
}

#[test]
fn unusable_names_are_shown_and_counted_in_pages() {
    let fixture = Fixture::new();
    for name in [
        &b"\x01x"[..],
        b"a",
        b"bad-\xff",
        b"bad-\xfe",
        b"c",
        b"z\xff",
    ] {
        fs::write(fixture.inputs().join(OsStr::from_bytes(name)), "").unwrap();
        fs::create_dir_all(fixture.inputs().join("d")).unwrap();
        fs::write(fixture.inputs().join("d").join(OsStr::from_bytes(name)), "").unwrap();
    }
    let recorded = fixture.session();
    for (tool, arguments, list) in [
        ("list_files", json!({ "details": false }), "entries"),
        (
            "list_files",
            json!({ "recursive": true, "details": false }),
            "entries",
        ),
        ("find_files", json!({ "pattern": "*" }), "matches"),
    ] {
        let whole = recorded.fields(tool, arguments.clone());
        let whole = whole[list].as_array().unwrap();
        let unusable = whole.iter().filter(|row| row["usable"] == false).count();
        assert!(unusable >= 4);
        for limit in 1..=whole.len() {
            let mut arguments = arguments.clone();
            arguments["limit"] = limit.into();
            assert_eq!(&pages(&recorded, tool, &arguments, list), whole, "{limit}");
        }
    }
}

#[test]
fn a_page_goes_on_when_entries_come_and_go() {
    let fixture = Fixture::new();
    for name in ["a/1", "a/2", "b/1", "c"] {
        fixture.input(name, "");
    }
    let recorded = fixture.session();
    let page = |cursor: &Value| {
        let arguments = json!({ "pattern": "*", "type": "file", "limit": 2, "cursor": cursor });
        recorded.fields("find_files", arguments)
    };
    let first = page(&Value::Null);
    assert_eq!(found(&first), ["a/1", "a/2"]);
    fs::remove_dir_all(fixture.inputs().join("a")).unwrap();
    fixture.input("0", "");
    fixture.input("bb", "");
    let second = page(&first["next_cursor"]);
    assert_eq!(found(&second), ["b/1", "bb"]);
    assert_eq!(found(&page(&second["next_cursor"])), ["c"]);
}

#[test]
fn a_listing_goes_on_beyond_the_hosts_limit() {
    let fixture = Fixture::new();
    for number in 0..25 {
        fixture.input(&format!("{number:02}"), "");
    }
    let limits = Limits {
        max_entries: 10,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|builder| builder.limits(limits));
    for limit in [Value::Null, json!(4), json!(10), json!(100)] {
        let arguments = json!({ "details": false, "limit": limit });
        let rows = pages(&recorded, "list_files", &arguments, "entries");
        assert_eq!(rows.len(), 25, "{limit}");
        assert_eq!(rows[24]["name"], "24");
    }
    // What is found is not what was looked through.
    assert_eq!(
        recorded.fields("find_files", json!({ "pattern": "*4" }))["count"],
        3
    );
    assert!(recorded.entries_of("refusal").is_empty());
}

#[test]
fn every_read_root_is_searched_in_order_and_named() {
    let fixture = Fixture::new();
    fixture.input("both", "");
    fixture.input("d/one", "");
    fixture.work("both", "");
    fixture.work("two", "");
    let recorded = fixture.session_with(|builder| builder.read_root(fixture.workspace()));
    let fields = recorded.fields("find_files", json!({ "pattern": "*", "type": "file" }));
    assert_eq!(found(&fields), ["both", "d/one", "both", "two"]);
    let roots = ["inputs", "inputs", "workspace", "workspace"];
    assert_eq!(texts(&fields["matches"], "root"), roots);
    let arguments = json!({ "pattern": "*", "type": "file", "limit": 1 });
    let rows = pages(&recorded, "find_files", &arguments, "matches");
    assert_eq!(&Value::from(rows), &fields["matches"]);
    // A path needs to be in one of them only.
    let fields = recorded.fields("find_files", json!({ "pattern": "*", "path": "d" }));
    assert_eq!(found(&fields), ["d/one"]);
    let error = recorded.error("find_files", json!({ "pattern": "*", "path": "e" }));
    assert_eq!(error.code(), "not-found");
}

#[test]
fn a_root_is_named_by_its_label() {
    let fixture = Fixture::new();
    fixture.input("one", "");
    fixture.work("two", "");
    let recorded = fixture.session_with(|builder| builder.read_root(fixture.workspace()));
    for (root, name) in [("inputs", "one"), ("workspace", "two")] {
        let arguments = json!({ "pattern": "*", "root": root });
        assert_eq!(found(&recorded.fields("find_files", arguments)), [name]);
        let listing = recorded.fields("list_files", json!({ "root": root }));
        assert_eq!(
            (names(&listing), &listing["root"]),
            (vec![name], &json!(root))
        );
    }
    for root in ["elsewhere", "/read/0", "/write", ""] {
        let error = recorded.error("list_files", json!({ "root": root }));
        assert_eq!(error.code(), "invalid-arguments", "{root}");
        assert_eq!(
            error.hint(),
            "leave out `root`, or give one of `inputs`, `workspace`"
        );
    }
}

#[test]
fn another_name_of_a_tool_is_taken_and_not_listed() {
    let fixture = Fixture::new();
    fixture.input("t", "");
    let recorded = fixture.session();
    assert_eq!(
        names(&recorded.fields("list_dir", json!({ "path": "." }))),
        ["t"]
    );
    assert_eq!(recorded.entries_of("call")[0]["tool"], "list_files");
    let tools = recorded.session.tools().unwrap();
    assert!(tools.iter().all(|tool| tool.name != "list_dir"));
}

#[test]
fn a_large_tree_is_found_whole() {
    let fixture = Fixture::new();
    let mut expected = Vec::new();
    for directory in 0..50 {
        let name = format!("d{directory:02}");
        fs::create_dir(fixture.inputs().join(&name)).unwrap();
        for file in 0..400 {
            let path = format!("{name}/f{file:03}.txt");
            fs::write(fixture.inputs().join(&path), "").unwrap();
            expected.push(path);
        }
    }
    // One directory over the host's limit on listings.
    fs::create_dir(fixture.inputs().join("flat")).unwrap();
    for file in 0..10_500 {
        let path = format!("flat/g{file:05}.txt");
        fs::write(fixture.inputs().join(&path), "").unwrap();
        expected.push(path);
    }
    let recorded = fixture.session();
    let one = recorded.fields("find_files", json!({ "pattern": "g10499.txt" }));
    assert_eq!(found(&one), ["flat/g10499.txt"]);
    let all = json!({ "pattern": "*.txt", "limit": 10_000 });
    let rows = Value::from(pages(&recorded, "find_files", &all, "matches"));
    assert_eq!(texts(&rows, "path"), expected);
}

/// A glob that finds nothing is told what it may have been meant to be, and that works.
#[test]
fn a_glob_that_finds_nothing_says_what_to_try() {
    let fixture = Fixture::new();
    for path in [
        "notes.txt",
        "src/main.py",
        "src/app.ts",
        "src/App.tsx",
        "docs/todo-list.md",
    ] {
        fixture.input(path, "x");
    }
    let recorded = fixture.session();
    let host_path = format!("{}/*.txt", fixture.inputs().display());
    for (pattern, try_instead) in [
        (&*host_path, "*.txt"),
        ("/abs/*.txt", "*.txt"),
        ("~/notes.txt", "notes.txt"),
        (r"C:\Users\me\*.txt", "*.txt"),
        (r"src\main.py", "src/main.py"),
        (r".*\.py$", "*.py"),
        ("^note", "note*"),
        ("*.ts,*.tsx", "{*.ts,*.tsx}"),
        ("\"*.py\"", "*.py"),
        ("todo", "*todo*"),
    ] {
        let fields = recorded.fields("find_files", json!({ "pattern": pattern }));
        assert_eq!(fields["count"], 0, "{pattern}");
        let hint = fields["hint"].as_str().unwrap_or_default();
        assert!(
            hint.contains(&format!("`{try_instead}`")),
            "{pattern}: {hint}"
        );
        let tried = recorded.fields("find_files", json!({ "pattern": try_instead }));
        assert_ne!(tried["count"], 0, "{try_instead}");
        assert!(tried.get("hint").is_none(), "{tried}");
    }
    // What is right and finds nothing is not doubted, nor what goes on.
    for arguments in [
        json!({ "pattern": "*.rs" }),
        json!({ "pattern": "*", "limit": 1 }),
    ] {
        let fields = recorded.fields("find_files", arguments);
        assert!(fields.get("hint").is_none(), "{fields}");
    }
}
