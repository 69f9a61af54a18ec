//! `file_exists`: what a path is, or that there is nothing.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::support::{Fixture, pipe};

#[test]
fn what_exists_is_described() {
    let fixture = Fixture::new();
    let file = fixture.input("d/t", "hello");
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(981_173_106);
    File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_modified(time)
        .unwrap();
    pipe(&fixture.inputs().join("pipe"));
    symlink("d/t", fixture.inputs().join("to-file")).unwrap();
    symlink("d", fixture.inputs().join("to-directory")).unwrap();
    let recorded = fixture.session();
    for (path, kind) in [
        ("d/t", "file"),
        ("to-file", "file"),
        ("d", "directory"),
        ("d/", "directory"),
        ("to-directory", "directory"),
        (".", "directory"),
        ("pipe", "other"),
    ] {
        let fields = recorded.fields("file_exists", json!({ "path": path }));
        assert_eq!(fields["path"], path);
        assert_eq!(fields["exists"], true, "{path}");
        assert_eq!(fields["type"], kind, "{path}");
        assert_eq!(fields["root"], "inputs", "{path}");
        assert_eq!(fields["version"].as_str().unwrap().len(), 32, "{path}");
        if kind == "file" {
            assert_eq!(fields["size"], 5, "{path}");
            assert_eq!(fields["modified"], "2001-02-03T04:05:06Z", "{path}");
        }
    }
}

#[test]
fn absence_is_an_answer() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inputs().join("d")).unwrap();
    symlink("missing", fixture.inputs().join("dangling")).unwrap();
    let recorded = fixture.session();
    for path in ["x", "x/y/z", "d/x", "dangling"] {
        let fields = recorded.fields("file_exists", json!({ "path": path }));
        assert_eq!(fields, json!({ "path": path, "exists": false }));
    }
}

/// Whether something exists outside is nobody's business: both answers are the same.
#[test]
fn what_cannot_be_reached_is_refused_whether_it_exists_or_not() {
    let fixture = Fixture::new();
    fs::write(fixture.outside().join("there"), "").unwrap();
    for name in ["there", "missing"] {
        let target = format!("../outside/{name}");
        symlink(target, fixture.inputs().join(name)).unwrap();
    }
    let recorded = fixture.session();
    let answers = ["there", "missing"].map(|path| {
        let error = recorded.error("file_exists", json!({ "path": path }));
        assert_eq!(error.code(), "escape", "{path}");
        error.to_json()
    });
    assert_eq!(answers[0], answers[1]);
}
