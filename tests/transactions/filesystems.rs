//! A full disk, a disk that may not be written, and one without unnamed files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use rootbound::{Consent, Limits, SessionBuilder};
use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::{Cli, PROGRAM, Run};
use crate::support::mounts::Mount;
use crate::support::tree::{names, tree};

const KIB: usize = 1024;

fn allowing(builder: SessionBuilder) -> SessionBuilder {
    builder.overwrite(Consent::Allow).delete(Consent::Allow)
}

fn write(path: &str, length: usize) -> (&'static str, Value) {
    let content = "x".repeat(length);
    ("write_file", json!({ "path": path, "content": content }))
}

#[test]
fn on_a_full_disk_nothing_partial_remains() {
    let fixture = Fixture::new();
    let disk = Mount::memory("64k", &fixture.workspace());
    fixture.work("old", "old content");
    let recorded = fixture.session_with(allowing);
    let before = tree(disk.path());
    for (tool, arguments) in [
        write("new", 100 * KIB),
        write("a/b/new", 100 * KIB),
        write("old", 100 * KIB),
    ] {
        let error = recorded.error(tool, arguments);
        assert_eq!(error.code(), "no-space");
        assert_eq!(tree(disk.path()), before);
    }
    // What was staged is given back: almost all of the disk can still be used.
    let (tool, arguments) = write("new", 40 * KIB);
    recorded.fields(tool, arguments);
    assert_eq!(
        fs::metadata(disk.path().join("new")).unwrap().len(),
        40 * KIB as u64
    );
}

#[test]
fn on_a_full_disk_files_can_be_deleted() {
    let fixture = Fixture::new();
    let disk = Mount::memory("64k", &fixture.workspace());
    let mut length = 1024 * KIB;
    while length > 0 && fs::write(disk.path().join("filler"), vec![0; length]).is_err() {
        length -= 4 * KIB;
    }
    let recorded = fixture.session_with(allowing);
    let (tool, arguments) = write("new", 8 * KIB);
    assert_eq!(recorded.error(tool, arguments.clone()).code(), "no-space");
    recorded.fields("delete_file", json!({ "path": "filler" }));
    recorded.fields(tool, arguments);
    assert_eq!(names(disk.path()), ["new"]);
}

#[test]
fn on_a_read_only_disk_every_change_is_refused_and_reading_works() {
    let fixture = Fixture::new();
    let disk = Mount::memory("64k", &fixture.workspace());
    fixture.work("old", "old content");
    fixture.work("d/t", "");
    fs::remove_file(disk.path().join("d/t")).unwrap();
    let recorded = fixture.session_with(|b| allowing(b).read_root(fixture.workspace()));
    disk.make_read_only();
    let before = tree(disk.path());
    for (tool, arguments) in [
        write("new", 1),
        write("a/b/new", 1),
        write("old", 1),
        ("create_file", json!({ "file_path": "new", "content": "" })),
        ("create_directory", json!({ "dir_path": "new" })),
        ("create_directory", json!({ "dir_path": "d/new" })),
        ("delete_file", json!({ "path": "old" })),
        ("delete_file", json!({ "path": "d" })),
    ] {
        let error = recorded.error(tool, arguments.clone());
        assert_eq!(error.code(), "read-only", "{tool} {arguments}");
        assert!(error.hint().contains("operator"), "{}", error.hint());
    }
    assert_eq!(tree(disk.path()), before);
    let read = recorded
        .call("read_file", json!({ "path": "old" }))
        .unwrap();
    assert_eq!(read.text(), Some("old content"));
}

/// A file system of which every file can have a name only: without `/proc`, the program
/// cannot name an unnamed file, and stages under temporary names instead.
struct WithoutUnnamedFiles {
    cli: Cli,
    fixture: Fixture,
}

impl WithoutUnnamedFiles {
    fn call(&self, tool: &str, arguments: &Value, further: &[&str]) -> Run {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c"])
            .arg("mount -t tmpfs tmpfs /proc && exec \"$@\"")
            .args(["sh", PROGRAM, "call", tool, &arguments.to_string()])
            .args(["--overwrite", "allow", "--delete", "allow", "--write"])
            .arg(self.fixture.workspace())
            .args(further)
            .env("XDG_STATE_HOME", self.cli.state());
        Run::of(&mut command)
    }
}

#[test]
fn without_unnamed_files_changes_are_as_whole_and_leave_as_little() {
    let place = WithoutUnnamedFiles {
        cli: Cli::new(),
        fixture: Fixture::new(),
    };
    let workspace = place.fixture.workspace();
    let (tool, arguments) = write("d/t", 10_000);
    let created = place.call(tool, &arguments, &[]).success();
    assert_eq!(created["created"], true);
    let (tool, arguments) = write("d/t", 20_000);
    let replaced = place.call(tool, &arguments, &[]).success();
    assert_eq!(replaced["created"], false);
    assert_eq!(place.fixture.workspace_text("d/t"), "x".repeat(20_000));

    let before = tree(&workspace);
    let (tool, arguments) = write("d/new", 20_000);
    for limited in [&arguments, &write("d/t", 20_000).1] {
        let refused = place
            .call(tool, limited, &["--max-write-bytes", "10000"])
            .refusal();
        assert_eq!(refused["code"], "limit-exceeded");
    }
    place.call(tool, &arguments, &["--dry-run"]).success();
    assert_eq!(tree(&workspace), before);
    assert_eq!(names(&workspace), ["d", "d/t"]);
}

/// The control of the test above: a temporary name leaves its mark on the directory, even
/// though it is gone; an unnamed file leaves none.
#[test]
fn the_temporary_name_is_used_only_where_it_must_be() {
    let place = WithoutUnnamedFiles {
        cli: Cli::new(),
        fixture: Fixture::new(),
    };
    let workspace = place.fixture.workspace();
    let changed = |directory: &Path| {
        let metadata = fs::metadata(directory).unwrap();
        (metadata.ctime(), metadata.ctime_nsec())
    };
    let (tool, arguments) = write("t", 1);
    let before = changed(&workspace);
    let with = [
        "--dry-run".as_ref(),
        "--write".as_ref(),
        workspace.as_os_str(),
    ];
    place
        .cli
        .call(tool, &arguments, with.map(OsStr::new))
        .success();
    assert_eq!(changed(&workspace), before);
    place.call(tool, &arguments, &["--dry-run"]).success();
    assert_ne!(changed(&workspace), before);
}

#[test]
fn a_limit_below_a_full_disk_is_a_limit() {
    let fixture = Fixture::new();
    let disk = Mount::memory("64k", &fixture.workspace());
    let limits = Limits {
        max_write_bytes: 10,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|b| b.limits(limits));
    let (tool, arguments) = write("new", 100 * KIB);
    assert_eq!(recorded.error(tool, arguments).code(), "limit-exceeded");
    assert_eq!(names(disk.path()), [""; 0]);
}

/// A bind mount has the device of what lies around it, so only the mount itself tells.
#[test]
fn a_recursive_deletion_takes_nothing_of_what_is_mounted_there_or_inside() {
    for on in ["t", "t/a/b"] {
        let fixture = Fixture::new();
        fixture.work("t/a/b/own", "x");
        fs::write(fixture.outside().join("precious"), "x").unwrap();
        let binds = Mount::bind(&fixture.outside(), &fixture.workspace().join(on));
        let recorded = fixture.session_with(allowing);
        let arguments = json!({ "path": "t", "recursive": true });
        let error = recorded.error("delete_file", arguments.clone());
        assert_eq!(error.code(), "not-granted", "{on}: {error}");
        assert!(binds.path().join("precious").exists(), "{on}");
        drop(binds);
        // Without the mount the same call deletes.
        recorded.call("delete_file", arguments).unwrap();
        assert!(fixture.outside().join("precious").exists(), "{on}");
        assert_eq!(names(&fixture.workspace()), Vec::<String>::new(), "{on}");
    }
}
