//! `read_file`: the whole of a file, unchanged, or a precise refusal.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::{Cli, Run, open_to_everyone};

#[test]
fn text_is_handed_on_unchanged() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for text in [
        "",
        "\n",
        "one\r\ntwo\rthree\n",
        "\u{feff}with a mark",
        "a\0b\u{1}\u{7f}\u{85}",
        "\u{202e}ä\u{10ffff}\u{fffd}",
        "\"quotes\" \\ and {\"json\": true}",
    ] {
        fixture.input("t", text);
        let output = recorded.call("read_file", json!({ "path": "t" })).unwrap();
        assert_eq!(output.text(), Some(text), "{text:?}");
        let printed: Value = serde_json::from_str(&output.to_json()).unwrap();
        assert_eq!(printed["content"], text, "{text:?}");
        assert_eq!(printed["size"], text.len(), "{text:?}");
        assert_eq!(printed["encoding"], "utf-8");
        assert_eq!(printed["bom"], text.starts_with('\u{feff}'), "{text:?}");
        assert_eq!(printed["lines"], text.split_inclusive('\n').count());
        assert_eq!(printed["truncated"], false);
        assert_eq!(printed["path"], "t");
        assert_eq!(printed["root"], "inputs");
    }
}

#[test]
fn a_long_text_is_whole() {
    let fixture = Fixture::new();
    let text: String = (0..400_000).map(|number| format!("{number}\n")).collect();
    fixture.input("t", &text);
    let recorded = fixture.session();
    let output = recorded.call("read_file", json!({ "path": "t" })).unwrap();
    assert!(output.text() == Some(&text), "the text differs");
}

/// Bytes that are not UTF-8, where the first of them is, and what the file may be.
#[test]
fn what_is_not_text_is_refused_with_a_guess() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let rows: [(&[u8], usize, &str); 6] = [
        (b"BM\x36\xff\0\0\0\0", 3, "image/bmp"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", 10, "application/pdf"),
        (b"caf\xe9", 3, "text/plain; charset=unknown-8bit"),
        (b"abc\xed\xa0\x80", 3, ""),
        (b"\xff\xfeh\0i\0\0\xd8", 6, "text/plain; charset=utf-16le"),
        (b"\xff\xfe\0\0h\0\0\0", 0, "text/plain; charset=utf-32le"),
    ];
    for (bytes, offset, guess) in rows {
        fixture.input("t", bytes);
        let error = recorded.error("read_file", json!({ "path": "t" }));
        assert_eq!(error.code(), "not-text", "{bytes:?}");
        assert_eq!(error.details()["offset"], offset, "{bytes:?}");
        let guessed = error.details()["mime_type"].as_str().unwrap();
        assert!(guessed.starts_with(guess), "{bytes:?}: {guessed}");
        assert_ne!(error.hint(), "", "{bytes:?}");
    }
}

#[test]
fn a_presentation_is_sent_to_its_own_tool() {
    let fixture = Fixture::new();
    fs::copy(crate::office::DECK, fixture.inputs().join("t")).unwrap();
    let error = fixture.session().error("read_file", json!({ "path": "t" }));
    assert_eq!(error.code(), "not-text");
    assert!(error.hint().contains("`read_pptx`"), "{}", error.hint());
}

/// What stands where a file is meant, and the answer.
#[test]
fn what_is_no_file_is_refused() {
    let fixture = Fixture::new();
    fixture.input("d/t", "x");
    symlink("d", fixture.inputs().join("to-directory")).unwrap();
    symlink("to-itself", fixture.inputs().join("to-itself")).unwrap();
    let recorded = fixture.session();
    for (path, code, reason) in [
        ("d", "not-a-file", None),
        (".", "not-a-file", None),
        ("to-directory", "not-a-file", None),
        ("to-itself", "not-a-file", Some("symlink")),
        ("d/", "invalid-path", Some("trailing-slash")),
        ("d/t/", "invalid-path", Some("trailing-slash")),
        ("d/t/x", "not-a-directory", None),
        ("x", "not-found", None),
        ("x/y", "not-found", None),
        ("", "invalid-path", Some("empty")),
    ] {
        let error = recorded.error("read_file", json!({ "path": path }));
        assert_eq!((error.code(), error.reason()), (code, reason), "{path:?}");
        assert_ne!(error.hint(), "", "{path:?}");
    }
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let fixture = Fixture::new();
    fixture.input("d/t", "hello");
    symlink("d/t", fixture.inputs().join("to-file")).unwrap();
    symlink("../d", fixture.inputs().join("d/around")).unwrap();
    let recorded = fixture.session();
    for path in ["to-file", "d/around/t", "d/around/../d/t"] {
        let output = recorded.call("read_file", json!({ "path": path })).unwrap();
        assert_eq!(output.text(), Some("hello"), "{path}");
    }
}

/// Permissions do not bind the superuser, so this runs as someone else.
#[test]
fn what_may_not_be_read_is_refused_by_the_system() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let file = fixture.input("t", "secret");
    fixture.input("d/t", "secret");
    fixture.input("readable", "hello");
    let closed = |mode| Permissions::from_mode(mode);
    fs::set_permissions(file, closed(0o200)).unwrap();
    fs::set_permissions(fixture.inputs().join("d"), closed(0o700)).unwrap();
    for directory in [fixture.base(), &fixture.inputs()] {
        open_to_everyone(directory);
    }
    let call = |tool: &str, path: &str| {
        let arguments = json!({ "path": path }).to_string();
        let mut command = cli.command_as_nobody(["call", tool, &arguments, "--read"]);
        Run::of(command.arg(fixture.inputs()))
    };
    for (tool, path) in [
        ("read_file", "t"),
        ("read_file", "d/t"),
        ("read_pptx", "t"),
        ("file_exists", "d/t"),
        ("list_files", "d"),
    ] {
        let error = call(tool, path).refusal();
        assert_eq!(error["code"], "permission-denied", "{tool} {path}");
        assert!(error["hint"].to_string().contains("operator"), "{error}");
    }
    // Looking a closed file up takes no right to read it.
    assert_eq!(call("file_exists", "t").success()["size"], 6);
    assert_eq!(call("read_file", "readable").success()["content"], "hello");
}
