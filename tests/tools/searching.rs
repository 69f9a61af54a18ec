//! `search_files`: text in trees and in single files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use rootbound::Limits;
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded, pipe};

/// Path, line and column of each hit.
fn hits(fields: &Value) -> Vec<(String, u64, u64)> {
    let files = fields["files"].as_array().unwrap().iter();
    files
        .flat_map(|file| {
            let hits = file["hits"].as_array().unwrap().iter();
            hits.map(|hit| {
                let number = |key: &str| hit[key].as_u64().unwrap();
                let path = file["path"].as_str().unwrap().to_owned();
                (path, number("line"), number("column"))
            })
        })
        .collect()
}

fn hit(path: &str, line: u64, column: u64) -> (String, u64, u64) {
    (path.to_owned(), line, column)
}

fn search(recorded: &Recorded, arguments: Value) -> Value {
    recorded.fields("search_files", arguments)
}

#[test]
fn hits_are_lines_with_line_and_column_in_characters() {
    let fixture = Fixture::new();
    fixture.input("a.txt", "one TODO, two TODO\r\n\u{e4}\u{1f642}TODO\nnone\n");
    fixture.input("b/c.txt", "TODO");
    let recorded = fixture.session();
    let fields = search(&recorded, json!({ "query": "TODO" }));
    assert_eq!(
        hits(&fields),
        [hit("a.txt", 1, 5), hit("a.txt", 2, 3), hit("b/c.txt", 1, 1)]
    );
    assert_eq!(fields["files"][0]["hits"][0]["text"], "one TODO, two TODO");
    assert_eq!(
        (&fields["count"], &fields["searched"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(
        (&fields["ignored"], &fields["skipped"]),
        (&json!(0), &json!({}))
    );
    assert_eq!(fields["files"][0]["root"], "inputs");
    let one = search(&recorded, json!({ "query": "TODO", "path": "a.txt" }));
    assert_eq!(hits(&one), [hit("a.txt", 1, 5), hit("a.txt", 2, 3)]);
    let none = search(&recorded, json!({ "query": "todo" }));
    assert_eq!((&none["count"], &none["searched"]), (&json!(0), &json!(2)));
}

#[test]
fn queries_are_literal_unless_they_are_to_be_a_regex() {
    let fixture = Fixture::new();
    fixture.input("t", "a.c\nabc\nABC\nabcd\n");
    let recorded = fixture.session();
    for (arguments, lines) in [
        (json!({ "query": "a.c" }), &[1][..]),
        (json!({ "query": "a.c", "regex": true }), &[1, 2, 4]),
        (json!({ "query": "^a.c$", "regex": true }), &[1, 2]),
        (json!({ "query": "abc", "ignore_case": true }), &[2, 3, 4]),
        (json!({ "query": "abc", "whole_word": true }), &[2]),
        (json!({ "query": "abc\nABC" }), &[2]),
    ] {
        let found = hits(&search(&recorded, arguments.clone()));
        let found: Vec<u64> = found.iter().map(|hit| hit.1).collect();
        assert_eq!(found, lines, "{arguments}");
    }
}

#[test]
fn wrong_arguments_are_refused_with_what_to_do() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for arguments in [
        json!({ "query": "" }),
        json!({ "query": "a(", "regex": true }),
        json!({ "query": "(\\w{500}){500}", "regex": true }),
        json!({ "query": "a", "glob": "{a" }),
        json!({ "query": "a", "limit": 5000 }),
        json!({ "query": "a", "context": 1000 }),
        json!({ "query": "a", "cursor": "9" }),
    ] {
        let error = recorded.error("search_files", arguments.clone());
        assert_eq!(error.code(), "invalid-arguments", "{arguments}");
        assert_ne!(error.hint(), "", "{arguments}");
    }
    let error = recorded.error("search_files", json!({ "query": "a(b", "regex": true }));
    assert_eq!(
        error.message(),
        "the regex is wrong at character 2: unclosed group"
    );
}

#[test]
fn what_is_not_searched_is_counted_with_the_reason() {
    let fixture = Fixture::new();
    fixture.input(".gitignore", "ignored\n");
    fixture.input(".hidden", "hit");
    fixture.input("ignored", "hit");
    fixture.input("binary", b"hit\0");
    fixture.input("text", "hit");
    fixture.input("latin", b"hit \xe4");
    fixture.input("utf16", b"\xff\xfeh\0i\0t\0");
    fixture.input("large", format!("hit{}", " ".repeat(11 << 20)));
    symlink("text", fixture.inputs().join("link")).unwrap();
    symlink(fixture.outside(), fixture.inputs().join("out")).unwrap();
    pipe(&fixture.inputs().join("pipe"));
    fs::write(fixture.inputs().join(OsStr::from_bytes(b"bad-\xff")), "hit").unwrap();
    let recorded = fixture.session();
    let fields = search(&recorded, json!({ "query": "hit" }));
    assert_eq!(
        hits(&fields),
        [hit("latin", 1, 1), hit("text", 1, 1), hit("utf16", 1, 1)]
    );
    assert_eq!(fields["ignored"], 1);
    let skipped = json!({
        "hidden": 2, "binary": 1, "too_large": 1, "unusable": 1, "links": 2, "special": 1,
        "binary_with_hits": ["binary"], "examples": ["binary", "large"],
    });
    assert_eq!(fields["skipped"], skipped);
    assert_eq!(fields["files"][0]["hits"][0]["text"], "hit \\xe4");
    // A file that is named is answered for.
    let error = recorded.error("search_files", json!({ "query": "hit", "path": "large" }));
    assert_eq!(error.code(), "limit-exceeded");
    let one = search(&recorded, json!({ "query": "hit", "path": "binary" }));
    assert_eq!(one["skipped"]["binary"], 1);
}

/// What the guard refuses in passing is on record; the search goes on.
#[test]
fn a_limit_on_files_is_recorded_once_and_does_not_end_the_search() {
    let fixture = Fixture::new();
    for number in 0..20 {
        fixture.input(&format!("large{number}"), "hit".repeat(1000));
    }
    fixture.input("small", "hit");
    let limits = Limits {
        max_read_bytes: 1000,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|builder| builder.limits(limits));
    let fields = search(&recorded, json!({ "query": "hit" }));
    assert_eq!(hits(&fields), [hit("small", 1, 1)]);
    assert_eq!(fields["skipped"]["too_large"], 20);
    assert_eq!(recorded.entries_of("refusal").len(), 1);
    assert_eq!(recorded.entries_of("call")[0]["outcome"], "ok");
}

#[test]
fn a_search_that_may_read_no_more_says_where_to_go_on() {
    let fixture = Fixture::new();
    for number in 0..10 {
        fixture.input(&format!("f{number}"), format!("hit{}", " ".repeat(997)));
    }
    let limits = Limits {
        max_call_read_bytes: 3500,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|builder| builder.limits(limits));
    let mut arguments = json!({ "query": "hit" });
    let mut found = Vec::new();
    loop {
        let page = search(&recorded, arguments.clone());
        found.extend(hits(&page));
        if page["next_cursor"].is_null() {
            break;
        }
        arguments["cursor"] = page["next_cursor"].clone();
    }
    let expected: Vec<_> = (0..10)
        .map(|number| hit(&format!("f{number}"), 1, 1))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn pages_put_together_are_the_whole() {
    let fixture = Fixture::new();
    for (path, lines) in [("a", 3), ("b/a", 7), ("b/b", 1), ("c", 0), ("d", 30)] {
        let text: String = (0..lines)
            .map(|line| format!("hit {line}\nother\n"))
            .collect();
        fixture.input(path, text);
    }
    let recorded = fixture.session();
    let whole = search(&recorded, json!({ "query": "hit", "context": 1 }));
    assert_eq!(whole["count"], 3 + 7 + 1 + 20);
    assert_eq!(whole["files"][3]["more"], 10);
    let rows = |fields: &Value| -> Vec<Value> {
        let files = fields["files"].as_array().unwrap().iter();
        files
            .flat_map(|file| {
                let hits = file["hits"].as_array().unwrap().iter();
                hits.map(|hit| json!([file["path"], hit]))
            })
            .collect()
    };
    for limit in 1..33 {
        let mut arguments = json!({ "query": "hit", "context": 1, "limit": limit });
        let (mut seen, mut searched, mut more) = (Vec::new(), 0, 0);
        loop {
            let page = search(&recorded, arguments.clone());
            seen.extend(rows(&page));
            searched += page["searched"].as_u64().unwrap();
            more += page["files"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|file| file["more"].as_u64())
                .sum::<u64>();
            assert!(page["count"].as_u64().unwrap() <= limit);
            if page["next_cursor"].is_null() {
                break;
            }
            arguments["cursor"] = page["next_cursor"].clone();
        }
        assert_eq!(seen, rows(&whole), "{limit}");
        assert_eq!((searched, more), (5, 10), "{limit}");
    }
    let all = search(&recorded, json!({ "query": "hit", "path": "d" }));
    assert_eq!(all["count"], 30);
}

#[test]
fn a_page_that_ends_in_a_file_goes_on_without_it() {
    let fixture = Fixture::new();
    fixture.input("a", "hit\nhit\nhit\n");
    fixture.input("b", "hit\nhit\n");
    let recorded = fixture.session();
    let first = search(&recorded, json!({ "query": "hit", "limit": 2 }));
    fs::remove_file(fixture.inputs().join("a")).unwrap();
    let rest = json!({ "query": "hit", "limit": 2, "cursor": first["next_cursor"] });
    assert_eq!(
        hits(&search(&recorded, rest)),
        [hit("b", 1, 1), hit("b", 2, 1)]
    );
}

#[test]
fn context_shows_each_line_once() {
    let fixture = Fixture::new();
    fixture.input("t", "1\n2 hit\n3\n4 hit\n5\n");
    let fields = search(&fixture.session(), json!({ "query": "hit", "context": 2 }));
    let rows = &fields["files"][0]["hits"];
    assert_eq!(
        (&rows[0]["before"], &rows[0]["after"]),
        (&json!(["1"]), &json!(["3"]))
    );
    assert_eq!(
        (&rows[1]["before"], &rows[1]["after"]),
        (&Value::Null, &json!(["5"]))
    );
}

#[test]
fn long_lines_and_control_characters_are_shown_without_harm() {
    let fixture = Fixture::new();
    let half = "x".repeat(2_000_000);
    fixture.input("long.js", format!("{half}NEEDLE{half}"));
    fixture.input(
        "late.bin",
        [vec![b'a'; 15_000], b"\n\x00\x1b[2JNEEDLE\x01\xff".to_vec()].concat(),
    );
    let recorded = fixture.session();
    let output = recorded
        .call("search_files", json!({ "query": "NEEDLE" }))
        .unwrap();
    let text = output.fields_json();
    assert!(text.len() < 2000, "{text}");
    assert!(!text.contains("\\u00"), "{text}");
    let fields = Value::Object(output.fields());
    assert_eq!(
        fields["files"][0]["hits"][0]["text"],
        "\\x00\\x1b[2JNEEDLE\\x01\\xff"
    );
    let long = &fields["files"][1]["hits"][0];
    assert_eq!(
        (&long["clipped"], &long["column"]),
        (&json!(true), &json!(2_000_001))
    );
    assert!(long["text"].as_str().unwrap().contains("xNEEDLEx"));
}

#[test]
fn a_result_stays_within_what_mcp_carries() {
    let fixture = Fixture::new();
    let line = format!("hit {}\n", "\u{1f642}".repeat(300));
    for number in 0..40 {
        fixture.input(&format!("f{number:02}"), line.repeat(50));
    }
    let recorded = fixture.session();
    let mut arguments = json!({ "query": "hit", "limit": 1000, "max_per_file": 50, "context": 20 });
    let mut count = 0;
    loop {
        let output = recorded.call("search_files", arguments.clone()).unwrap();
        assert!(output.fields_json().len() < 256 * 1024);
        let page = output.fields();
        count += page["count"].as_u64().unwrap();
        if page["next_cursor"].is_null() {
            break;
        }
        arguments["cursor"] = page["next_cursor"].clone();
    }
    assert_eq!(count, 40 * 50);
}

#[test]
fn a_glob_says_which_files() {
    let fixture = Fixture::new();
    for path in ["a.rs", "a.md", "src/b.rs", "src/b.min.js"] {
        fixture.input(path, "hit");
    }
    let recorded = fixture.session();
    for (glob, paths) in [
        ("*.rs", &["a.rs", "src/b.rs"][..]),
        ("src/*", &["src/b.min.js", "src/b.rs"]),
        ("!*.rs", &["a.md", "src/b.min.js"]),
    ] {
        let found = hits(&search(&recorded, json!({ "query": "hit", "glob": glob })));
        let found: Vec<_> = found.iter().map(|hit| &*hit.0).collect();
        assert_eq!(found, paths, "{glob}");
    }
}

#[test]
fn every_read_root_is_searched() {
    let fixture = Fixture::new();
    fixture.input("t", "hit");
    fixture.work("t", "hit");
    let recorded = fixture.session_with(|builder| builder.read_root(fixture.workspace()));
    let fields = search(&recorded, json!({ "query": "hit" }));
    let roots: Vec<_> = fields["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| &file["root"])
        .collect();
    assert_eq!(roots, ["inputs", "workspace"]);
    let one = search(&recorded, json!({ "query": "hit", "root": "workspace" }));
    assert_eq!(one["count"], 1);
    let first = search(&recorded, json!({ "query": "hit", "limit": 1 }));
    let next = json!({ "query": "hit", "limit": 1, "cursor": first["next_cursor"] });
    assert_eq!(search(&recorded, next)["files"][0]["root"], "workspace");
}

/// The first line of a file with a byte order mark is the text behind the mark.
#[test]
fn a_byte_order_mark_is_no_text() {
    let fixture = Fixture::new();
    fixture.input("bom", "\u{feff}param($x)\n");
    let fields = search(
        &fixture.session(),
        json!({ "query": "^param", "regex": true }),
    );
    assert_eq!(hits(&fields), [hit("bom", 1, 1)]);
}

#[test]
fn a_large_tree_is_searched_whole() {
    let fixture = Fixture::new();
    for directory in 0..100 {
        fs::create_dir(fixture.inputs().join(format!("d{directory:03}"))).unwrap();
        for file in 0..200 {
            let path = fixture.inputs().join(format!("d{directory:03}/f{file:03}"));
            fs::write(path, if file == 17 { "NEEDLE" } else { "hay" }).unwrap();
        }
    }
    let fields = search(&fixture.session(), json!({ "query": "NEEDLE" }));
    assert_eq!(
        (&fields["count"], &fields["searched"]),
        (&json!(100), &json!(20_000))
    );
}

fn utf_16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn texts_are_searched_in_the_encoding_that_they_seem_to_have_or_are_said_to_have() {
    let fixture = Fixture::new();
    fixture.input("latin.txt", b"one\nun caf\xe9\n");
    fixture.input("marked.txt", "\u{feff}un caf\u{e9}\n");
    fixture.input("utf16.txt", utf_16("one\r\nun caf\u{e9}\r\n"));
    let query = |more: Value| {
        let mut arguments = json!({ "query": "caf\u{e9}" });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        arguments
    };
    let by_operator = fixture.session_with(|builder| builder.default_encoding("windows-1252"));
    let by_caller = fixture.session();
    for fields in [
        search(&by_operator, query(json!({}))),
        search(
            &by_caller,
            query(json!({ "encoding": "windows-1252", "glob": "latin.txt" })),
        ),
    ] {
        let found = hits(&fields);
        assert!(found.contains(&hit("latin.txt", 2, 4)), "{fields}");
        assert_eq!(fields["files"][0]["hits"][0]["text"], "un caf\u{e9}");
    }
    let found = hits(&search(&by_operator, query(json!({}))));
    assert_eq!(found.len(), 3, "{found:?}");
    // The file that the caller names is decoded alike.
    let named = search(&by_operator, query(json!({ "path": "latin.txt" })));
    assert_eq!(hits(&named), [hit("latin.txt", 2, 4)]);
    let wrong = by_caller.error("search_files", query(json!({ "encoding": "klingon" })));
    assert_eq!(wrong.code(), "unsupported-encoding");
}

/// Bytes that may well be the word in another encoding are no silent zero.
#[test]
fn texts_that_are_not_utf_8_are_counted_where_the_query_is_not_ascii() {
    let fixture = Fixture::new();
    fixture.input("latin.txt", b"un caf\xe9\n");
    fixture.input("plain.txt", "nothing\n");
    let recorded = fixture.session();
    let fields = search(&recorded, json!({ "query": "caf\u{e9}" }));
    assert_eq!(
        (&fields["count"], &fields["searched"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(
        fields["skipped"],
        json!({ "not_utf8": 1, "examples": ["latin.txt"] })
    );
    assert!(
        fields["hint"].as_str().unwrap().contains("`encoding`"),
        "{fields}"
    );
    // ASCII is found whatever the rest is.
    let fields = search(&recorded, json!({ "query": "un caf" }));
    assert_eq!(hits(&fields), [hit("latin.txt", 1, 1)]);
    assert_eq!(fields["skipped"], json!({}));
}

#[test]
fn a_search_that_finds_nothing_says_what_to_try() {
    let fixture = Fixture::new();
    fixture.input("main.py", "def main():\n");
    fixture.input("crlf.py", "main\r\n");
    let recorded = fixture.session();
    for (arguments, words) in [
        (json!({ "query": r"def \w+" }), "`regex: true`"),
        (json!({ "query": "def main$" }), "`regex: true`"),
        (json!({ "query": r"def\nmain" }), "the line break"),
        (
            json!({ "query": r"main.*\s+x", "regex": true }),
            "ends where its line does",
        ),
        (
            json!({ "query": r"main\n", "regex": true, "glob": "crlf*" }),
            r"`\r?\n`",
        ),
        (json!({ "query": "def", "glob": r".*\.py$" }), "`*.py`"),
        (json!({ "query": "def", "glob": "/src/*.py" }), "`*.py`"),
    ] {
        let fields = search(&recorded, arguments.clone());
        let hint = fields["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(words), "{arguments}: {fields}");
    }
    for arguments in [
        json!({ "query": "absent" }),
        json!({ "query": "def", "regex": true }),
        json!({ "query": "main\nabsent" }),
    ] {
        assert!(search(&recorded, arguments).get("hint").is_none());
    }
}
