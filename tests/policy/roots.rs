//! Which directories may be roots, and what they are called.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rootbound::{AuditLog, Rights, Session, SessionBuilder, StartError};

use crate::support::Fixture;
use crate::support::cli::{Cli, Run};
use crate::support::mounts::Mount;
use crate::support::tree::names;

fn builder() -> SessionBuilder {
    Session::builder().audit(AuditLog::none())
}

/// Why a directory is refused, in both roles.
fn refusal_of(directory: &Path) -> String {
    let errors = [
        builder().read_root(directory).build().unwrap_err(),
        builder().write_root(directory).build().unwrap_err(),
    ];
    let [read, write] = errors.map(|error| match error {
        StartError::Root { path, reason } => {
            assert_eq!(path, directory);
            reason
        }
        other => panic!("{}: {other}", directory.display()),
    });
    assert_eq!(read, write);
    read
}

fn first_directory_in(parent: &str) -> PathBuf {
    fs::read_dir(parent)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir() && !path.is_symlink())
        .unwrap_or_else(|| panic!("`{parent}` has no directory in it"))
}

#[test]
fn the_systems_own_directories_are_no_roots() {
    let rows = [
        ("/", "whole file system"),
        ("/etc", "`/etc`"),
        ("/proc", "`/proc`"),
        ("/proc/self", "`/proc`"),
        ("/proc/self/fd", "`/proc`"),
        ("/sys", "`/sys`"),
        ("/sys/kernel", "`/sys`"),
        ("/dev", "`/dev`"),
        ("/dev/fd", "`/proc`"),
        ("/boot", "`/boot`"),
        ("/etc/", "`/etc`"),
        ("/etc/.", "`/etc`"),
        ("/usr/../etc", "`/etc`"),
        ("/../", "whole file system"),
    ];
    for (directory, reason) in rows {
        let refusal = refusal_of(Path::new(directory));
        assert!(refusal.contains(reason), "{directory}: {refusal}");
    }
    for (parent, reason) in [("/etc", "`/etc`"), ("/dev", "`/dev`")] {
        let below = first_directory_in(parent);
        if below == Path::new("/dev/shm") {
            continue;
        }
        let refusal = refusal_of(&below);
        assert!(refusal.contains(reason), "{}: {refusal}", below.display());
    }
}

#[test]
fn a_system_directory_is_recognised_under_another_name() {
    let fixture = Fixture::new();
    let link = fixture.base().join("link");
    symlink("/etc", &link).unwrap();
    assert!(refusal_of(&link).contains("`/etc`"));
    let mount = Mount::bind(Path::new("/etc"), &fixture.workspace());
    assert!(refusal_of(mount.path()).contains("`/etc`"));
}

/// They may be roots, and the operator hears what that means.
#[test]
fn a_write_root_of_the_system_or_with_this_program_is_warned_of() {
    let warnings = |builder: SessionBuilder| builder.build().unwrap().warnings().join("\n");
    let fixture = Fixture::new();
    let program = std::env::current_exe().unwrap();
    let own = program.parent().unwrap();
    let below_usr = tempfile::tempdir_in("/usr/local").unwrap();
    let link = fixture.base().join("link");
    symlink("/opt", &link).unwrap();
    let (system, replaced) = ("a directory of the system", "this program's own file");
    let rows = [
        (Path::new("/usr"), system),
        (Path::new("/bin"), system),
        (Path::new("/lib"), system),
        (Path::new("/var"), system),
        (Path::new("/srv"), system),
        (Path::new("/opt"), system),
        (&link, system),
        (below_usr.path(), system),
        (own, replaced),
        (own.parent().unwrap(), replaced),
    ];
    for (directory, told) in rows {
        let state = |builder: SessionBuilder| builder.state_directory(fixture.outside());
        let written = warnings(state(builder().write_root(directory)));
        assert!(written.contains(told), "{}: {written}", directory.display());
        let read = warnings(state(builder().read_root(directory)));
        assert!(!read.contains(told), "{}: {read}", directory.display());
    }
    let ordinary = warnings(builder().write_root(fixture.workspace()));
    assert!(
        !ordinary.contains(system) && !ordinary.contains(replaced),
        "{ordinary}"
    );
}

#[test]
fn shared_memory_may_be_a_root() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let session = builder().write_root(directory.path()).build().unwrap();
    let arguments = r#"{"path": "t", "content": "x"}"#;
    session.call("write_file", arguments).unwrap();
    assert_eq!(fs::read(directory.path().join("t")).unwrap(), b"x");
}

#[test]
fn a_root_must_exist_and_be_a_directory() {
    let fixture = Fixture::new();
    let file = fixture.input("file", "");
    refusal_of(&fixture.base().join("missing"));
    refusal_of(&file);
    refusal_of(&file.join("below"));
    assert!(!fixture.base().join("missing").exists());
}

#[test]
fn a_work_root_is_made_where_it_is_missing() {
    let fixture = Fixture::new();
    let work = fixture.base().join("a/b/work");
    builder().work_root(&work).build().unwrap();
    assert!(work.is_dir());
    let file = fixture.input("file", "");
    assert!(builder().work_root(file).build().is_err());
}

#[test]
fn there_is_one_write_root() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.workspace(), fixture.outside());
    for second in [
        builder().write_root(&one).write_root(&two),
        builder().write_root(&one).work_root(&two),
        builder().work_root(&one).work_root(&two),
        builder().base_dir(&one).write_root(&two),
    ] {
        let error = second.build().unwrap_err();
        assert!(matches!(error, StartError::SecondWriteRoot), "{error}");
    }
}

#[test]
fn a_root_that_holds_the_audit_log_is_refused() {
    let fixture = Fixture::new();
    let (inputs, workspace) = (fixture.inputs(), fixture.workspace());
    fs::create_dir(workspace.join("deep")).unwrap();
    symlink(workspace.join("deep"), fixture.outside().join("way-in")).unwrap();
    for log in [
        workspace.join("audit.jsonl"),
        workspace.join("deep/audit.jsonl"),
        inputs.join("audit.jsonl"),
        fixture.outside().join("way-in/audit.jsonl"),
        fixture.outside().join("../workspace/audit.jsonl"),
    ] {
        let granted = Session::builder().read_root(&inputs).write_root(&workspace);
        let error = granted.audit_file(&log).build().unwrap_err();
        assert!(matches!(error, StartError::Root { .. }), "{error}");
        assert!(error.to_string().contains("it contains the audit log"));
        assert!(!log.exists(), "{}", log.display());
    }
    let beside = fixture.outside().join("audit.jsonl");
    let granted = Session::builder().read_root(&inputs).write_root(&workspace);
    granted.audit_file(&beside).build().unwrap();
    assert!(beside.exists());
}

#[test]
fn a_log_that_was_opened_before_is_found_in_a_root_too() {
    let fixture = Fixture::new();
    let log = AuditLog::file(fixture.workspace().join("audit.jsonl")).unwrap();
    let granted = Session::builder().write_root(fixture.workspace());
    let error = granted.audit(log).build().unwrap_err();
    assert!(error.to_string().contains("it contains the audit log"));
}

#[test]
fn a_root_that_holds_the_programs_state_is_refused() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let state = cli.state().join("rootbound");
    for directory in ["audit", "queue"] {
        fs::create_dir_all(state.join(directory)).unwrap();
    }
    let audit = fixture.outside().join("audit.jsonl");
    for root in [
        cli.state(),
        &state,
        &state.join("audit"),
        &state.join("queue"),
    ] {
        for grant in ["--read", "--write", "--work"] {
            // Naming another log, or none, does not open the way to the state.
            for log in [None, Some("none"), audit.to_str()] {
                let mut command = cli.command(["check", grant]);
                command.arg(root);
                command.args(log.map(|log| format!("--audit={log}")));
                let run = Run::of(&mut command);
                let row = format!("{grant} {} {log:?}: {run:?}", root.display());
                assert_eq!(run.status, Some(2), "{row}");
                assert!(run.stderr.contains("cannot be a root"), "{row}");
                assert_eq!(run.stdout, "", "{row}");
            }
        }
    }
}

/// The place need not be there yet: the program itself would make it, inside the root.
#[test]
fn a_root_in_which_the_programs_state_would_be_made_is_refused() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let workspace = fixture.workspace();
    for (variable, log) in [
        ("XDG_STATE_HOME", "none"),
        ("HOME", "none"),
        ("HOME", "stderr"),
    ] {
        let arguments = r#"{"path": "t", "content": "x"}"#;
        let mut command = cli.command(["call", "write_file", arguments, "--audit", log]);
        command
            .env_remove("XDG_STATE_HOME")
            .env(variable, &workspace);
        let run = Run::of(command.arg("--write").arg(&workspace));
        assert_eq!(run.status, Some(2), "{variable} {log}: {run:?}");
        assert_eq!(names(&workspace), [""; 0], "{variable} {log}");
    }
}

#[test]
fn labels_are_last_names_made_unique() {
    let fixture = Fixture::new();
    let (inputs, other, third) = (
        fixture.inputs(),
        fixture.base().join("other/inputs"),
        fixture.base().join("third/inputs"),
    );
    for directory in [&other, &third] {
        fs::create_dir_all(directory).unwrap();
    }
    let link = fixture.base().join("link");
    symlink(fixture.outside(), &link).unwrap();
    let rows: [(SessionBuilder, &[&str]); 6] = [
        (builder().read_root(&inputs), &["inputs"]),
        (builder().read_root(inputs.join(".")), &["inputs"]),
        (builder().read_root(&link), &["outside"]),
        (
            builder()
                .read_root(&inputs)
                .read_root(&other)
                .write_root(&third),
            &["inputs", "inputs-2", "inputs-3"],
        ),
        (
            builder()
                .labelled_read_root("docs", &inputs)
                .read_root(&other),
            &["docs", "inputs"],
        ),
        (builder().work_root(&inputs), &["inputs", "inputs"]),
    ];
    for (builder, expected) in rows {
        let grants = builder.build().unwrap().grants();
        let labels: Vec<&str> = grants.iter().map(|grant| &*grant.label).collect();
        assert_eq!(labels, expected);
    }
}

/// The operator's own word stands; what is made up gives way to it.
#[test]
fn an_explicit_label_is_never_altered() {
    let fixture = Fixture::new();
    let session = builder()
        .read_root(fixture.inputs())
        .labelled_read_root("inputs", fixture.outside())
        .write_root(fixture.workspace())
        .build()
        .unwrap();
    let grants = session.grants();
    let labels: Vec<&str> = grants.iter().map(|grant| &*grant.label).collect();
    assert_eq!(labels, ["inputs-2", "inputs", "workspace"]);
}

#[test]
fn a_label_is_plain_and_used_once() {
    let fixture = Fixture::new();
    for label in ["", "a b", "a/b", "ä", "a\n", "a:b", "\"", "a=b"] {
        let labelled = builder().labelled_read_root(label, fixture.inputs());
        let error = labelled.build().unwrap_err();
        assert!(matches!(error, StartError::Label(_)), "{label:?}: {error}");
    }
    for label in ["docs", "Docs.v2", "a_b-c", "2"] {
        let labelled = builder().labelled_read_root(label, fixture.inputs());
        assert_eq!(labelled.build().unwrap().grants()[0].label, label);
    }
    let twice = builder()
        .labelled_read_root("docs", fixture.inputs())
        .labelled_read_root("docs", fixture.outside());
    assert!(matches!(twice.build(), Err(StartError::Label(label)) if label == "docs"));
}

#[test]
fn grants_are_listed_in_order_the_write_root_last() {
    let fixture = Fixture::new();
    let session = builder()
        .write_root(fixture.workspace())
        .read_root(fixture.outside())
        .read_root(fixture.inputs())
        .build()
        .unwrap();
    let grants = session.grants();
    let grants: Vec<_> = grants.iter().map(|g| (&*g.label, g.rights)).collect();
    let expected = [
        ("outside", Rights::Read),
        ("inputs", Rights::Read),
        ("workspace", Rights::Write),
    ];
    assert_eq!(grants, expected);
}
