//! Texts that are not UTF-8: found out by their mark, or named.

use rootbound::{Consent, Session};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded};

fn utf_16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(order).collect()
}

#[test]
fn a_mark_is_found_and_the_text_decoded() {
    const TEXT: &str = "hello\r\nwörld \u{1f600}\r\n";
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for (encoding, bytes) in [
        ("utf-16le", utf_16(TEXT, u16::to_le_bytes)),
        ("utf-16be", utf_16(TEXT, u16::to_be_bytes)),
    ] {
        fixture.input("t", &bytes);
        let output = recorded.call("read_file", json!({ "path": "t" })).unwrap();
        assert_eq!(output.text(), Some(TEXT), "{encoding}");
        let fields = output.fields();
        assert_eq!(fields["encoding"], encoding);
        assert_eq!(fields["bom"], true, "{encoding}");
        assert_eq!(fields["line_ending"], "crlf", "{encoding}");
        assert_eq!(fields["lines"], 2, "{encoding}");
        assert_eq!(fields["size"], bytes.len(), "{encoding}");
        let second = json!({ "path": "t", "offset": 2 });
        let output = recorded.call("read_file", second).unwrap();
        assert_eq!(output.text(), Some("wörld \u{1f600}\r\n"), "{encoding}");
    }
}

#[test]
fn an_encoding_can_be_named() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for (label, name, bytes, text) in [
        (
            "windows-1252",
            "windows-1252",
            &b"caf\xe9 \x80"[..],
            "café €",
        ),
        ("latin1", "windows-1252", b"caf\xe9", "café"),
        ("Shift_JIS", "shift_jis", b"\x93\xfa\x96{\n", "日本\n"),
        ("gbk", "gbk", b"\xd6\xd0\xce\xc4", "中文"),
        ("utf-16le", "utf-16le", b"h\0i\0", "hi"),
        ("utf-8", "utf-8", b"caf\xc3\xa9", "café"),
    ] {
        fixture.input("t", bytes);
        let arguments = json!({ "path": "t", "encoding": label });
        let output = recorded.call("read_file", arguments).unwrap();
        assert_eq!(output.text(), Some(text), "{label}");
        assert_eq!(output.fields()["encoding"], name, "{label}");
    }
}

#[test]
fn what_is_not_in_the_named_encoding_is_refused_at_its_byte() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for (label, bytes, offset) in [
        ("utf-16le", &b"h\0\0\xd8h\0"[..], 2),
        ("utf-16le", b"h\0i", 2),
        ("shift_jis", b"ab\xff", 2),
        ("utf-8", b"ab\xff", 2),
    ] {
        fixture.input("t", bytes);
        let error = recorded.error("read_file", json!({ "path": "t", "encoding": label }));
        assert_eq!(error.code(), "not-text", "{label}");
        assert_eq!(error.details()["offset"], offset, "{label} {bytes:?}");
    }
}

#[test]
fn nothing_is_replaced_unless_the_caller_says_so() {
    let fixture = Fixture::new();
    fixture.input("t", b"caf\xe9 and \xe3\x81");
    let recorded = fixture.session();
    for errors in [json!(null), json!("strict")] {
        let error = recorded.error("read_file", json!({ "path": "t", "errors": errors }));
        assert_eq!(error.code(), "not-text", "{errors}");
        assert!(error.hint().contains("windows-1252"), "{}", error.hint());
    }
    let replaced = json!({ "path": "t", "errors": "replace" });
    let output = recorded.call("read_file", replaced).unwrap();
    assert_eq!(output.text(), Some("caf\u{fffd} and \u{fffd}"));
}

#[test]
fn an_encoded_surrogate_is_said_to_be_one() {
    let fixture = Fixture::new();
    fixture.input("t", b"a\xed\xa0\xbd\xed\xb8\x80b");
    let error = fixture.session().error("read_file", json!({ "path": "t" }));
    assert!(error.message().contains("surrogate"), "{error}");
}

#[test]
fn an_unknown_encoding_is_refused_with_known_ones() {
    let fixture = Fixture::new();
    fixture.input("t", "text");
    let recorded = fixture.session();
    for label in ["klingon", "utf-7", ""] {
        let error = recorded.error("read_file", json!({ "path": "t", "encoding": label }));
        assert_eq!(error.code(), "unsupported-encoding", "{label}");
        assert!(error.hint().contains("`windows-1252`"), "{}", error.hint());
    }
}

/// What was read can be written back as it was.
#[test]
fn a_mark_of_utf_8_survives_reading_and_writing() {
    let fixture = Fixture::new();
    let text = "\u{feff}param($x)\r\n";
    fixture.work("t", text);
    let recorded = fixture.session_with(|builder| {
        builder
            .read_root(fixture.workspace())
            .overwrite(Consent::Allow)
    });
    let output = recorded.call("read_file", json!({ "path": "t" })).unwrap();
    assert_eq!(output.fields()["bom"], Value::Bool(true));
    let content = output.text().unwrap();
    recorded.fields("write_file", json!({ "path": "t", "content": content }));
    assert_eq!(fixture.workspace_text("t"), text);
}

fn unmarked(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

fn working(fixture: &Fixture, default: Option<&str>) -> Recorded {
    let builder = Session::builder().work_root(fixture.workspace());
    let builder = builder.overwrite(Consent::Allow);
    Recorded::build(match default {
        Some(label) => builder.default_encoding(label),
        None => builder,
    })
}

fn edits(old: &str, new: &str) -> Value {
    json!([{ "old_text": old, "new_text": new }])
}

/// It would pass for UTF-8 with a NUL beside every letter. The hint is a call.
#[test]
fn utf_16_without_a_mark_is_refused_with_its_name_and_taken_by_it() {
    const TEXT: &str = "Name;Wert\r\nM\u{fc}ller;3\r\n";
    for (label, order) in [
        ("utf-16le", u16::to_le_bytes as fn(u16) -> [u8; 2]),
        ("utf-16be", u16::to_be_bytes),
    ] {
        let fixture = Fixture::new();
        fixture.work("t", unmarked(TEXT, order));
        let recorded = working(&fixture, None);
        let patch = "--- a/t\n+++ b/t\n@@ -1 +1 @@\n-Name;Wert\n+Name;Value\n";
        for (tool, arguments) in [
            ("read_file", json!({ "path": "t" })),
            ("read_file", json!({ "path": "t", "offset": 2 })),
            ("read_file", json!({ "path": "t", "offset": -1 })),
            (
                "edit_file",
                json!({ "path": "t", "edits": edits("3", "4") }),
            ),
            ("append_file", json!({ "path": "t", "content": "x;5\n" })),
            ("apply_patch", json!({ "patch": patch })),
        ] {
            let error = recorded.error(tool, arguments.clone());
            assert_eq!(error.code(), "not-text", "{tool}: {error}");
            let hint = format!("`encoding: \"{label}\"`");
            assert!(error.hint().ends_with(&hint), "{tool}: {}", error.hint());
            let mut arguments = arguments;
            arguments["encoding"] = label.into();
            recorded
                .call(tool, arguments.clone())
                .unwrap_or_else(|e| panic!("{arguments}: {e}"));
        }
        let expected = "Name;Value\r\nM\u{fc}ller;4\r\nx;5\n";
        let bytes = std::fs::read(fixture.workspace().join("t")).unwrap();
        assert_eq!(bytes, unmarked(expected, order), "{label}");
        let several = recorded.fields("read_files", json!({ "paths": ["t"] }));
        assert_eq!(several["files"][0]["error"]["code"], "not-text");
        let info = recorded.fields("file_info", json!({ "path": "t" }));
        assert_eq!(
            (&info["encoding"], &info["bom"]),
            (&json!(label), &json!(false))
        );
    }
}

#[test]
fn a_nul_in_a_text_is_a_character() {
    let fixture = Fixture::new();
    fixture.input("t", "const sep = '\0';\nlet token = 1;\n");
    let output = fixture
        .session()
        .call("read_file", json!({ "path": "t" }))
        .unwrap();
    assert_eq!(output.text(), Some("const sep = '\0';\nlet token = 1;\n"));
}

/// What the operator says of texts holds for every tool that reads them.
#[test]
fn the_default_encoding_is_that_of_every_reader() {
    let fixture = Fixture::new();
    fixture.work("t", b"caf\xe9\r\nth\xe9\r\n");
    let recorded = working(&fixture, Some("windows-1252"));
    let edit = json!({ "path": "t", "edits": edits("caf\u{e9}", "caf\u{e9} \u{20ac}") });
    recorded.fields("edit_file", edit);
    recorded.fields(
        "append_file",
        json!({ "path": "t", "content": "\u{e0} la\r\n" }),
    );
    let patch = "--- a/t\n+++ b/t\n@@ -2 +2 @@\n-th\u{e9}\n+th\u{e8}\n";
    recorded.fields("apply_patch", json!({ "patch": patch }));
    let bytes = std::fs::read(fixture.workspace().join("t")).unwrap();
    assert_eq!(bytes, b"caf\xe9 \x80\r\nth\xe8\r\n\xe0 la\r\n");
    let text = "caf\u{e9} \u{20ac}\r\nth\u{e8}\r\n\u{e0} la\r\n";
    let output = recorded.call("read_file", json!({ "path": "t" })).unwrap();
    assert_eq!(output.text(), Some(text));
    let several = recorded.fields("read_files", json!({ "paths": ["t"] }));
    assert_eq!(several["files"][0]["content"], text);
    let info = recorded.fields("file_info", json!({ "path": "t" }));
    assert_eq!(info["encoding"], "windows-1252");
    let missing = json!({ "path": "t", "edits": edits("caf\u{e9}", "\u{1f642}") });
    let error = recorded.error("edit_file", missing);
    assert_eq!(error.code(), "unsupported-encoding", "{error}");
    // What is made is UTF-8.
    recorded.fields("append_file", json!({ "path": "new", "content": "\u{e9}" }));
    assert_eq!(fixture.workspace_text("new"), "\u{e9}");
}

/// Without a word on the encoding nothing is changed, and the hint says which word.
#[test]
fn a_text_in_another_encoding_is_changed_where_it_is_named() {
    let fixture = Fixture::new();
    fixture.work("t", b"caf\xe9\n");
    let recorded = working(&fixture, None);
    for (tool, arguments) in [
        (
            "edit_file",
            json!({ "path": "t", "edits": edits("caf", "Caf") }),
        ),
        ("append_file", json!({ "path": "t", "content": "\u{e9}\n" })),
    ] {
        let error = recorded.error(tool, arguments.clone());
        assert_eq!(error.code(), "not-text", "{tool}: {error}");
        assert!(
            error.hint().contains("`encoding`, such as `windows-1252`"),
            "{}",
            error.hint()
        );
        let mut arguments = arguments;
        arguments["encoding"] = "windows-1252".into();
        recorded.fields(tool, arguments);
    }
    let bytes = std::fs::read(fixture.workspace().join("t")).unwrap();
    assert_eq!(bytes, b"Caf\xe9\n\xe9\n");
    for label in ["base64", "klingon"] {
        let arguments = json!({ "path": "t", "edits": edits("a", "b"), "encoding": label });
        assert_eq!(
            recorded.error("edit_file", arguments).code(),
            "unsupported-encoding"
        );
    }
}
