//! Looking a path up in several read roots: only what is not found moves on to the next.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rootbound::{Consent, Limits, Session};
use serde_json::{Value, json};

use crate::support::cli::{Cli, Run, open_to_everyone};
use crate::support::{Fixture, Recorded, pipe};

/// Two read roots, `inputs` and then `second`, where `second` has both a file `d/t` and the
/// directory of that name's parent.
fn two_roots() -> (Fixture, Recorded) {
    let fixture = Fixture::new();
    let second = fixture.base().join("second");
    fs::create_dir_all(second.join("d")).unwrap();
    fs::write(second.join("d/t"), "second").unwrap();
    let limits = Limits {
        max_read_bytes: 10,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|b| b.read_root(&second).limits(limits));
    (fixture, recorded)
}

#[test]
fn a_path_is_found_in_the_first_root_that_has_it() {
    let (fixture, recorded) = two_roots();
    for (tool, path) in [
        ("read_file", "d/t"),
        ("file_exists", "d/t"),
        ("list_files", "d"),
    ] {
        let fields = recorded.fields(tool, json!({ "path": path }));
        assert_eq!(fields["root"], "second", "{tool}");
    }
    fixture.input("d/t", "first");
    for (tool, path) in [
        ("read_file", "d/t"),
        ("file_exists", "d/t"),
        ("list_files", "d"),
    ] {
        let fields = recorded.fields(tool, json!({ "path": path }));
        assert_eq!(fields["root"], "inputs", "{tool}");
    }
    let output = recorded
        .call("read_file", json!({ "path": "d/t" }))
        .unwrap();
    assert_eq!(output.text(), Some("first"));
}

#[test]
fn a_path_in_no_root_is_not_found() {
    let (_fixture, recorded) = two_roots();
    for (tool, path) in [("read_file", "x"), ("list_files", "x"), ("read_pptx", "x")] {
        let error = recorded.error(tool, json!({ "path": path }));
        assert_eq!(error.code(), "not-found", "{tool}");
    }
    let fields = recorded.fields("file_exists", json!({ "path": "x" }));
    assert_eq!(fields, json!({ "path": "x", "exists": false }));
}

/// What the first root has at `d/t` or at `d`, and how reading `d/t` is answered although
/// the second root has a plain file there.
#[test]
fn a_refusal_ends_the_lookup() {
    type Arrange = fn(&Path);
    let rows: [(&str, Arrange, &str, Option<&str>); 7] = [
        (
            "link out",
            |d| symlink("../../outside/t", d.join("t")).unwrap(),
            "escape",
            None,
        ),
        (
            "absolute link",
            |d| symlink("/etc/hosts", d.join("t")).unwrap(),
            "escape",
            None,
        ),
        (
            "circle",
            |d| symlink("t", d.join("t")).unwrap(),
            "not-a-file",
            Some("symlink"),
        ),
        (
            "pipe",
            |d| pipe(&d.join("t")),
            "not-a-file",
            Some("special"),
        ),
        (
            "directory",
            |d| fs::create_dir(d.join("t")).unwrap(),
            "not-a-file",
            None,
        ),
        (
            "large file",
            |d| fs::write(d.join("t"), [b'x'; 11]).unwrap(),
            "limit-exceeded",
            None,
        ),
        (
            "not text",
            |d| fs::write(d.join("t"), [0xff]).unwrap(),
            "not-text",
            None,
        ),
    ];
    for (state, arrange, code, reason) in rows {
        let (fixture, recorded) = two_roots();
        let directory = fixture.inputs().join("d");
        fs::create_dir(&directory).unwrap();
        arrange(&directory);
        let error = recorded.error("read_file", json!({ "path": "d/t" }));
        assert_eq!(error.code(), code, "{state}");
        assert_eq!(error.reason(), reason, "{state}");
    }
}

#[test]
fn a_file_on_the_way_is_a_refusal_and_ends_the_lookup() {
    let (fixture, recorded) = two_roots();
    fixture.input("d", "a file where the second root has a directory");
    let error = recorded.error("read_file", json!({ "path": "d/t" }));
    assert_eq!(error.code(), "not-a-directory");
    for (tool, path) in [("file_exists", "d/t"), ("list_files", "d")] {
        let error = recorded.error(tool, json!({ "path": path }));
        assert_eq!(error.code(), "not-a-directory", "{tool}");
    }
}

/// A link that leads nowhere is a name under which nothing is found.
#[test]
fn a_dangling_link_moves_on_to_the_next_root() {
    let (fixture, recorded) = two_roots();
    fs::create_dir(fixture.inputs().join("d")).unwrap();
    symlink("missing", fixture.inputs().join("d/t")).unwrap();
    let fields = recorded.fields("read_file", json!({ "path": "d/t" }));
    assert_eq!(fields["root"], "second");
}

#[test]
fn a_file_that_may_not_be_read_ends_the_lookup() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let second = fixture.base().join("second");
    fs::create_dir(&second).unwrap();
    fs::write(second.join("t"), "second").unwrap();
    let unreadable = fixture.input("t", "first");
    close(&unreadable);
    for directory in [fixture.base(), &fixture.inputs(), &second] {
        open_to_everyone(directory);
    }
    let read = |arguments: Value| {
        let mut command = cli.command_as_nobody(["call", "read_file", &arguments.to_string()]);
        command.arg("--read").arg(fixture.inputs());
        command.arg("--read").arg(&second);
        Run::of(&mut command)
    };
    let refused = read(json!({ "path": "t" })).refusal();
    assert_eq!(refused["code"], "permission-denied");
    fs::remove_file(unreadable).unwrap();
    assert_eq!(read(json!({ "path": "t" })).success()["content"], "second");
}

fn close(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o000)).unwrap();
}

#[test]
fn what_lies_in_the_write_root_cannot_be_read_listed_or_looked_up() {
    let fixture = Fixture::new();
    fixture.work("d/t", "secret");
    let recorded = fixture.session();
    assert_sees_nothing(&recorded, "not-found");
    let fields = recorded.fields("file_exists", json!({ "path": "d/t" }));
    assert_eq!(fields["exists"], false);
    let root = recorded.fields("list_files", json!({}));
    assert_eq!(root["root"], "inputs");
    assert_eq!(root["count"], 0);
}

#[test]
fn a_write_root_alone_grants_no_reading_at_all() {
    let fixture = Fixture::new();
    fixture.work("d/t", "secret");
    let recorded = Recorded::build(Session::builder().write_root(fixture.workspace()));
    assert_sees_nothing(&recorded, "not-granted");
    let error = recorded.error("file_exists", json!({ "path": "d/t" }));
    assert_eq!(error.code(), "not-granted");
    let refusals = recorded.entries_of("refusal").len();
    assert_eq!(refusals, recorded.entries_of("call").len());
}

/// How much is there is told neither by what would be done, nor by what was, nor by a refusal.
#[test]
fn a_write_root_tells_no_size_and_no_count() {
    let fixture = Fixture::new();
    fixture.work("d/e/a", vec![b'x'; 7654]);
    fixture.work("d/b", vec![b'x'; 1]);
    fixture.work("long", vec![b'x'; 7655]);
    let limits = |most: u64| rootbound::Limits {
        max_read_bytes: most,
        ..rootbound::Limits::default()
    };
    let session = |reads: bool, most: u64| {
        let builder = Session::builder()
            .write_root(fixture.workspace())
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .limits(limits(most));
        Recorded::build(match reads {
            true => builder.read_root(fixture.workspace()),
            false => builder,
        })
    };
    let dry = |recorded: &Recorded, tool: &str, arguments: serde_json::Value| {
        let options = rootbound::CallOptions {
            dry_run: true,
            ..Default::default()
        };
        match recorded.session.call_with(tool, arguments, options) {
            Ok(output) => output.to_json(),
            Err(error) => error.to_json().to_string(),
        }
    };
    let tree = json!({ "path": "d", "recursive": true });
    let append = json!({ "path": "long", "content": "y" });
    let wrong = json!({ "path": "long", "expected_sha256": "0".repeat(64) });
    let rows = [
        ("delete_file", &tree, 10_000),
        ("append_file", &append, 100),
        ("delete_file", &wrong, 100),
    ];
    let tells = |told: &str| {
        ["7655", "7654", "files\"", "directories\"", "bytes_deleted"]
            .iter()
            .any(|it| told.contains(it))
    };
    for (tool, arguments, most) in rows {
        let control = dry(&session(true, most), tool, arguments.clone());
        assert!(
            tells(&control) || tool == "delete_file",
            "the control: {control}"
        );
        let told = dry(&session(false, most), tool, arguments.clone());
        assert!(!tells(&told), "{tool} {arguments}: {told}");
    }
    assert!(tells(&dry(
        &session(true, 10_000),
        "delete_file",
        tree.clone()
    )));
    let recorded = session(false, 10_000);
    let deleted = recorded.call("delete_file", tree).unwrap();
    assert!(!tells(&deleted.to_json()), "{}", deleted.to_json());
    assert!(!fixture.workspace().join("d").exists());
    // The record has what the caller has not.
    assert!(recorded.lines().iter().any(|line| line.contains("7655")));
}

fn assert_sees_nothing(recorded: &Recorded, code: &str) {
    for (tool, path) in [
        ("read_file", "d/t"),
        ("read_pptx", "d/t"),
        ("list_files", "d"),
    ] {
        let error = recorded.error(tool, json!({ "path": path }));
        assert_eq!(error.code(), code, "{tool}");
        assert!(!error.to_json().to_string().contains("secret"), "{tool}");
    }
}

#[test]
fn a_read_root_alone_grants_no_writing_at_all() {
    let fixture = Fixture::new();
    fixture.input("t", "kept");
    let builder = Session::builder()
        .read_root(fixture.inputs())
        .overwrite(rootbound::Consent::Allow)
        .delete(rootbound::Consent::Allow);
    let recorded = Recorded::build(builder);
    for (tool, arguments) in [
        ("write_file", json!({ "path": "t", "content": "x" })),
        (
            "create_file",
            json!({ "file_path": "t", "content": "x", "overwrite": true }),
        ),
        ("create_directory", json!({ "dir_path": "d" })),
        ("delete_file", json!({ "path": "t" })),
    ] {
        assert_eq!(
            recorded.error(tool, arguments).code(),
            "not-granted",
            "{tool}"
        );
    }
    assert_eq!(
        fs::read_to_string(fixture.inputs().join("t")).unwrap(),
        "kept"
    );
    assert_eq!(recorded.entries_of("refusal").len(), 4);
}

#[test]
fn nobody_is_sent_to_list_what_may_not_be_listed() {
    let fixture = Fixture::new();
    fixture.work("file", "");
    let recorded = fixture.session();
    for (tool, arguments, code) in [
        ("delete_file", json!({ "path": "missing" }), "not-found"),
        (
            "write_file",
            json!({ "path": "file/new", "content": "" }),
            "not-a-directory",
        ),
    ] {
        let error = recorded.error(tool, arguments);
        assert_eq!(error.code(), code);
        let hint = error.hint();
        assert!(hint.starts_with("check the spelling"), "{hint}");
        assert!(hint.ends_with("where the directory may be read"), "{hint}");
    }
}
