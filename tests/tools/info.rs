//! `file_info`: what a path is, and what its content looks like.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::support::{Fixture, pipe};

#[test]
fn files_directories_and_others_are_described() {
    let fixture = Fixture::new();
    let file = fixture.input("d/t", "hello\r\nworld\r\n");
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(981_173_106);
    let open = File::options().write(true).open(&file).unwrap();
    open.set_modified(time).unwrap();
    fs::hard_link(&file, fixture.inputs().join("other-name")).unwrap();
    pipe(&fixture.inputs().join("pipe"));
    symlink("d/t", fixture.inputs().join("to-file")).unwrap();
    symlink("d", fixture.inputs().join("to-directory")).unwrap();
    let recorded = fixture.session();
    for (path, kind, link) in [
        ("d/t", "file", false),
        ("to-file", "file", true),
        ("d", "directory", false),
        ("to-directory", "directory", true),
        (".", "directory", false),
        ("pipe", "other", false),
    ] {
        let info = recorded.fields("file_info", json!({ "path": path }));
        assert_eq!(info["path"], path);
        assert_eq!(info["root"], "inputs", "{path}");
        assert_eq!(
            (&info["type"], &info["link"]),
            (&json!(kind), &json!(link)),
            "{path}"
        );
        let exists = recorded.fields("file_exists", json!({ "path": path }));
        for fact in ["size", "modified", "version"] {
            assert_eq!(info[fact], exists[fact], "{path} {fact}");
        }
        assert_eq!(info.get("mime_type").is_some(), kind == "file", "{path}");
        if kind == "file" {
            assert_eq!(info["modified"], "2001-02-03T04:05:06Z", "{path}");
            assert_eq!(info["names"], 2, "{path}");
            assert_eq!(info["mime_type"], "text/plain", "{path}");
            assert_eq!(info["encoding"], "utf-8", "{path}");
            assert_eq!(info["line_ending"], "crlf", "{path}");
            assert_eq!(info["lines"], 2, "{path}");
        }
    }
}

#[test]
fn the_content_is_told_by_its_start() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for (bytes, mime_type, encoding) in [
        (b"\x89PNG\r\n\x1a\n".to_vec(), "image/png", None),
        (
            b"caf\xe9".to_vec(),
            "text/plain; charset=unknown-8bit",
            None,
        ),
        (b"\x01\xff".to_vec(), "application/octet-stream", None),
        (
            "あ".repeat(30_000).into_bytes(),
            "text/plain",
            Some("utf-8"),
        ),
        (vec![], "text/plain", Some("utf-8")),
    ] {
        fixture.input("t", &bytes);
        let info = recorded.fields("file_info", json!({ "path": "t" }));
        assert_eq!(info["mime_type"], mime_type, "{bytes:.20?}");
        assert_eq!(info["encoding"].as_str(), encoding, "{bytes:.20?}");
        let all = bytes.len() <= 65_536 && encoding.is_some();
        assert_eq!(info.get("lines").is_some(), all, "{bytes:.20?}");
    }
}

#[test]
fn a_huge_file_is_described_by_little_reading_and_not_hashed() {
    let fixture = Fixture::new();
    let file = fixture.input("t", "");
    let file = File::options().write(true).open(file).unwrap();
    file.set_len(10 << 30).unwrap();
    let recorded = fixture.session();
    let info = recorded.fields("file_info", json!({ "path": "t" }));
    assert_eq!(info["size"], 10_u64 << 30);
    let error = recorded.error("file_info", json!({ "path": "t", "hash": true }));
    assert_eq!(error.code(), "limit-exceeded");
}

#[test]
fn a_hash_is_given_when_it_is_asked_for() {
    let fixture = Fixture::new();
    fixture.input("t", "");
    let recorded = fixture.session();
    let info = recorded.fields("file_info", json!({ "path": "t", "hash": true }));
    // Of nothing.
    assert_eq!(
        info["sha256"],
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    let info = recorded.fields("file_info", json!({ "path": "t" }));
    assert!(info.get("sha256").is_none());
}

#[test]
fn what_is_not_there_is_an_error() {
    let fixture = Fixture::new();
    symlink("missing", fixture.inputs().join("dangling")).unwrap();
    symlink("../outside", fixture.inputs().join("out")).unwrap();
    let recorded = fixture.session();
    for (path, code) in [
        ("missing", "not-found"),
        ("dangling", "not-found"),
        ("out", "escape"),
        ("../outside", "invalid-path"),
    ] {
        let error = recorded.error("file_info", json!({ "path": path }));
        assert_eq!(error.code(), code, "{path}");
        assert_ne!(error.hint(), "", "{path}");
    }
}
