//! Texts that are not UTF-8: found out by their mark, or named.

use rootbound::Consent;
use serde_json::{Value, json};

use crate::support::Fixture;

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
