//! Parts of files: which lines they hold, what they cost, and how to go on.

use std::fs::File;
use std::os::unix::fs::FileExt;

use proptest::prelude::*;
use rootbound::{Limits, Output};
use serde_json::{Map, Value, json};

use crate::support::{Fixture, Recorded};

/// A file's name with further arguments.
fn with(path: &str, more: Value) -> Value {
    let mut arguments = Map::from_iter([("path".to_owned(), path.into())]);
    arguments.extend(more.as_object().unwrap().clone());
    Value::Object(arguments)
}

fn window(recorded: &Recorded, path: &str, more: Value) -> (String, Value) {
    let arguments = with(path, more);
    let output = recorded.call("read_file", arguments.clone());
    let output = output.unwrap_or_else(|error| panic!("{arguments}: {error}"));
    (text(&output), Value::Object(output.fields()))
}

fn text(output: &Output) -> String {
    output.text().unwrap().to_owned()
}

fn bytes_read(recorded: &Recorded) -> u64 {
    let accesses = recorded.entries_of("access");
    accesses[0]["bytes"].as_u64().unwrap()
}

#[test]
fn lines_are_counted_from_one_or_from_the_end() {
    let fixture = Fixture::new();
    fixture.input("ten", "1\n2\n3\n4\n5\n6\n7\n8\n9\nten\n");
    fixture.input("three", "x1\r\nx2\nx3");
    let recorded = fixture.session();
    for (path, more, lines, next) in [
        ("ten", json!({ "offset": 1, "limit": 2 }), "1\n2\n", Some(3)),
        ("ten", json!({ "limit": 2 }), "1\n2\n", Some(3)),
        ("ten", json!({ "offset": 10 }), "ten\n", None),
        ("ten", json!({ "offset": 9, "limit": 7 }), "9\nten\n", None),
        ("ten", json!({ "offset": -1 }), "ten\n", None),
        ("ten", json!({ "offset": -2, "limit": 1 }), "9\n", Some(10)),
        ("ten", json!({ "offset": -99, "limit": 1 }), "1\n", Some(2)),
        (
            "three",
            json!({ "offset": 1, "limit": 2 }),
            "x1\r\nx2\n",
            Some(3),
        ),
        ("three", json!({ "offset": 3 }), "x3", None),
        ("three", json!({ "offset": -1 }), "x3", None),
    ] {
        let (text, fields) = window(&recorded, path, more.clone());
        assert_eq!(text, lines, "{path} {more}");
        assert_eq!(fields["truncated"], next.is_some(), "{path} {more}");
        assert_eq!(fields["next_offset"].as_i64(), next, "{path} {more}");
        let total = if path == "ten" { 10 } else { 3 };
        assert_eq!(fields["lines"], total, "{path} {more}");
    }
}

#[test]
fn a_line_behind_the_end_is_refused_with_how_many_there_are() {
    let fixture = Fixture::new();
    fixture.input("t", "a\nb\n");
    fixture.input("empty", "");
    let recorded = fixture.session();
    for (path, offset, lines) in [("t", 3, 2), ("t", 99, 2), ("empty", 2, 0)] {
        let error = recorded.error("read_file", with(path, json!({ "offset": offset })));
        assert_eq!(error.code(), "invalid-arguments", "{path}");
        assert_eq!(error.details()["lines"], lines, "{path}");
        assert!(error.hint().contains("`offset`"), "{}", error.hint());
    }
    let (text, fields) = window(&recorded, "empty", json!({ "offset": 1, "limit": 5 }));
    assert_eq!((&*text, &fields["lines"]), ("", &json!(0)));
}

#[test]
fn arguments_that_make_no_sense_are_refused_with_what_does() {
    let fixture = Fixture::new();
    fixture.input("t", "a\nb\n");
    let recorded = fixture.session();
    for more in [
        json!({ "offset": 0 }),
        json!({ "limit": 0 }),
        json!({ "limit": -1 }),
        json!({ "max_bytes": 1 }),
        json!({ "clip": 0 }),
        json!({ "cursor": "somewhere" }),
        json!({ "cursor": "1:99" }),
        json!({ "cursor": "2:2", "offset": 1 }),
        json!({ "errors": "ignore" }),
        json!({ "encoding": "base64", "offset": 2 }),
    ] {
        let error = recorded.error("read_file", with("t", more.clone()));
        assert_eq!(error.code(), "invalid-arguments", "{more}");
    }
}

/// The sizes of the test corpus: characters over the borders of blocks.
#[test]
fn characters_over_the_borders_of_blocks_stay_whole() {
    let fixture = Fixture::new();
    for border in [1024, 4096, 8192, 65_536, 65_536 + 262_144] {
        for character in ["é", "あ", "\u{10ffff}", "\r\n"] {
            for before in 1..=character.len() {
                let text = format!("{}{character}b\n", "a".repeat(border - before));
                fixture.input("t", &text);
                let recorded = fixture.session();
                let (whole, _) = window(&recorded, "t", json!({ "limit": 9 }));
                assert!(whole == text, "{border} {character:?}");
                let (start, fields) = window(&recorded, "t", json!({ "max_bytes": border }));
                let cursor = json!({ "cursor": fields["next_cursor"] });
                let (rest, _) = window(&recorded, "t", cursor);
                assert!(start + &rest == text, "{border} {character:?}");
            }
        }
    }
}

#[test]
fn a_line_that_is_longer_than_an_answer_is_continued() {
    let fixture = Fixture::new();
    let text = format!("first\n{}\nlast\n", "é".repeat(1000));
    fixture.input("t", &text);
    let recorded = fixture.session();
    let (first, fields) = window(&recorded, "t", json!({ "offset": 2, "max_bytes": 101 }));
    assert_eq!(first, "é".repeat(50));
    assert!(fields.get("next_offset").is_none(), "{fields}");
    assert_eq!(fields["next_cursor"], "2+:106");
    let more = json!({ "cursor": "2+:106", "limit": 1, "line_numbers": true });
    let (rest, fields) = window(&recorded, "t", more);
    assert_eq!(rest, format!("{}\n", "é".repeat(950)));
    assert_eq!(
        (&fields["next_offset"], &fields["first_line"]),
        (&json!(3), &json!(2))
    );
}

#[test]
fn lines_are_numbered_and_clipped_on_request() {
    let fixture = Fixture::new();
    fixture.input("t", format!("\u{feff}a\r\n{}\nc", "x".repeat(100)));
    let recorded = fixture.session();
    let (text, _) = window(&recorded, "t", json!({ "line_numbers": true, "clip": 5 }));
    assert_eq!(text, "1\ta\r\n2\txxxxx…[+95]\n3\tc");
    let (text, _) = window(
        &recorded,
        "t",
        json!({ "offset": -2, "line_numbers": true, "clip": 3 }),
    );
    assert_eq!(text, "2\txxx…[+97]\n3\tc");
}

/// Ten gibibytes of which the last are some lines.
fn huge(fixture: &Fixture) -> u64 {
    const SIZE: u64 = 10 << 30;
    let place = fixture.input("huge", "");
    let file = File::options().write(true).open(place).unwrap();
    file.set_len(SIZE).unwrap();
    let start = "one\ntwo\nthree\n";
    file.write_all_at(start.as_bytes(), 0).unwrap();
    let end = "\nbefore\nlast but one\nlast\n";
    file.write_all_at(end.as_bytes(), SIZE - end.len() as u64)
        .unwrap();
    SIZE
}

#[test]
fn a_range_of_a_huge_file_reads_the_range() {
    let fixture = Fixture::new();
    let size = huge(&fixture);
    let recorded = fixture.session();
    for (more, lines) in [
        (json!({ "limit": 3 }), "one\ntwo\nthree\n"),
        (json!({ "offset": 2, "limit": 1 }), "two\n"),
        (json!({ "max_bytes": 32, "limit": 1 }), "one\n"),
        (json!({ "offset": -2 }), "last but one\nlast\n"),
    ] {
        recorded.forget();
        let (text, fields) = window(&recorded, "huge", more.clone());
        assert_eq!(text, lines, "{more}");
        assert_eq!(fields["size"], size);
        assert!(fields.get("lines").is_none(), "{fields}");
        assert!(bytes_read(&recorded) <= 100_000, "{more}");
    }
}

/// What lies behind the limit of one call is reached in several.
#[test]
fn the_read_limit_ends_a_window_where_it_can_be_resumed() {
    let fixture = Fixture::new();
    let line = |number: u32| format!("{number:0>99}\n");
    let text: String = (1..=2000).map(line).collect();
    fixture.input("t", &text);
    for limit in [100_000, 100_050, 65_536, 50] {
        let limits = Limits {
            max_read_bytes: limit,
            ..Limits::default()
        };
        let recorded = fixture.session_with(|builder| builder.limits(limits));
        let refused = recorded.error("read_file", json!({ "path": "t" }));
        assert_eq!(refused.code(), "limit-exceeded", "{limit}");
        for word in ["`offset`", "`limit`", "`read_file`"] {
            assert!(refused.hint().contains(word), "{}", refused.hint());
        }
        let mut whole = String::new();
        let mut more = json!({ "offset": 1 });
        recorded.forget();
        while whole.len() < text.len().min(40 * limit as usize) {
            let (text, fields) = window(&recorded, "t", more.clone());
            assert!(!text.is_empty(), "{limit} {more}");
            whole += &text;
            if fields["truncated"] == false {
                break;
            }
            more = json!({ "cursor": fields["next_cursor"] });
        }
        assert!(text.starts_with(&whole), "{limit}");
        assert!(
            whole.len() >= text.len().min(40 * limit as usize),
            "{limit}"
        );
        // Where a block ends exactly at the limit, that there is more is only learnt by asking.
        let refusals = recorded.entries_of("refusal").len();
        assert_eq!(refusals > 0, limit == 65_536, "{limit}");
    }
}

#[test]
fn a_line_behind_the_read_limit_is_refused_with_the_way_to_it() {
    let fixture = Fixture::new();
    let line = |number: u32| format!("{number:0>99}\n");
    fixture.input("t", (1..=2000).map(line).collect::<String>());
    let limits = Limits {
        max_read_bytes: 70_000,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|builder| builder.limits(limits));
    let mut more = json!({ "offset": 1999, "limit": 1 });
    let mut steps = 0;
    let text = loop {
        recorded.forget();
        match recorded.call("read_file", with("t", more.clone())) {
            Ok(output) => break text(&output),
            Err(error) => {
                assert_eq!(error.code(), "limit-exceeded");
                assert_eq!(recorded.entries_of("refusal").len(), 1);
                let cursor = &error.details()["next_cursor"];
                assert!(error.hint().contains(cursor.as_str().unwrap()));
                more["cursor"] = cursor.clone();
            }
        }
        steps += 1;
        assert!(steps < 5);
    };
    assert_eq!(text, line(1999));
    assert_eq!(steps, 2);
}

#[test]
fn a_hash_is_that_of_the_whole_file_whatever_part_is_read() {
    const OF_HELLO: &str = "4a1e67f2fe1d1cc7b31d0ca2ec441da4778203a036a77da10344c85e24ff0f92";
    let fixture = Fixture::new();
    fixture.input("t", "hello\nworld\n");
    let recorded = fixture.session();
    for more in [
        json!({ "hash": true }),
        json!({ "hash": true, "limit": 1 }),
        json!({ "hash": true, "offset": -1 }),
        json!({ "hash": true, "encoding": "base64" }),
    ] {
        let fields = recorded.fields("read_file", with("t", more.clone()));
        assert_eq!(fields["sha256"], OF_HELLO, "{more}");
    }
    let (_, fields) = window(&recorded, "t", json!({}));
    assert!(fields.get("sha256").is_none());
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        3 => Just("\n"),
        2 => Just("\r\n"),
        1 => Just("\r"),
        2 => Just("word "),
        1 => Just("é"),
        1 => Just("あ"),
        1 => Just("\u{10ffff}"),
        1 => Just("\u{feff}"),
        1 => Just("a line of some length, longer than the smallest answer"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// From window to window nothing is lost and nothing comes twice.
    #[test]
    fn windows_add_up_to_the_whole(
        pieces in prop::collection::vec(piece(), 0..120),
        limit in prop::option::of(1_u64..6),
        max_bytes in 32_u64..90,
    ) {
        let fixture = Fixture::new();
        let text = pieces.concat();
        fixture.input("t", &text);
        let recorded = fixture.session();
        let mut whole = String::new();
        let mut more = json!({ "max_bytes": max_bytes });
        if let Some(limit) = limit {
            more["limit"] = limit.into();
        }
        loop {
            let (part, fields) = window(&recorded, "t", more.clone());
            prop_assert!(part.len() as u64 <= max_bytes);
            whole += &part;
            if fields["truncated"] == false {
                break;
            }
            prop_assert!(!part.is_empty());
            more["cursor"] = fields["next_cursor"].clone();
        }
        prop_assert_eq!(whole, text);
    }
}
