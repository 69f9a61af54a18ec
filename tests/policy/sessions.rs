//! Sessions with a directory of their own: apart from each other, and gone without a trace.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use rootbound::{AuditLog, Consent, Session, SessionBuilder, StartError};
use serde_json::json;

use crate::support::cli::{Cli, Run, open_to_everyone};
use crate::support::tree::{names, tree};
use crate::support::{Fixture, Recorded, STATE};

/// Tells the test below that it runs in a process of its own.
const ALONE: &str = "ROOTBOUND_TEST_SESSIONS";

fn builder(base: &Path) -> SessionBuilder {
    let builder = Session::builder().session_dir(base).state_directory(STATE);
    builder.audit(AuditLog::none())
}

fn write(session: &Session, path: &str) {
    let arguments = json!({ "path": path, "content": "x" });
    session.call("write_file", arguments).unwrap();
}

fn refusal(builder: SessionBuilder) -> String {
    match builder.build() {
        Err(error @ StartError::Root { .. }) => error.to_string(),
        other => panic!("it must be refused: {other:?}"),
    }
}

#[test]
fn each_session_has_a_fresh_private_directory() {
    let fixture = Fixture::new();
    let base = fixture.base().join("new/base");
    let (one, other) = (
        builder(&base).build().unwrap(),
        builder(&base).build().unwrap(),
    );
    let directories = [&one, &other].map(|session| session.directory().unwrap().to_owned());
    assert_ne!(directories[0], directories[1]);
    for directory in &directories {
        let mode = fs::metadata(directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        assert_eq!(directory.parent(), Some(&*base));
    }
    write(&one, "t");
    assert_eq!(names(&directories[0]), ["t"]);
    assert_eq!(names(&directories[1]), [] as [&str; 0]);
    let labels: Vec<String> = one.grants().into_iter().map(|grant| grant.label).collect();
    assert_eq!(labels, ["session"]);
}

#[test]
fn a_directory_that_there_is_not_cannot_be_removed() {
    let fixture = Fixture::new();
    let session = Session::builder().work_root(fixture.workspace());
    let error = session
        .remove_session_dir(true)
        .audit(AuditLog::none())
        .build()
        .unwrap_err();
    assert!(matches!(error, StartError::NoSessionDirectory), "{error}");
}

/// By names, by links that somebody else left there, and by every kind of call.
#[test]
fn sessions_do_not_reach_each_other() {
    let fixture = Fixture::new();
    let base = fixture.base().join("base");
    let build = || {
        Recorded::build(
            Session::builder()
                .read_root(fixture.inputs())
                .session_dir(&base)
                .overwrite(Consent::Allow)
                .delete(Consent::Allow),
        )
    };
    let (victim, attacker) = (build(), build());
    write(&victim.session, "secret");
    let directory = |recorded: &Recorded| recorded.session.directory().unwrap().to_owned();
    let name = directory(&victim)
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let beside = format!("../{name}");
    symlink(&beside, directory(&attacker).join("link")).unwrap();
    symlink(directory(&victim), directory(&attacker).join("absolute")).unwrap();
    let before = names(&directory(&victim));
    for start in [
        beside.as_str(),
        "link",
        "absolute",
        "./link",
        directory(&victim).to_str().unwrap(),
    ] {
        for (tool, arguments) in [
            ("read_file", json!({ "path": format!("{start}/secret") })),
            (
                "write_file",
                json!({ "path": format!("{start}/secret"), "content": "y" }),
            ),
            (
                "write_file",
                json!({ "path": format!("{start}/new"), "content": "y" }),
            ),
            ("delete_file", json!({ "path": format!("{start}/secret") })),
            (
                "move_file",
                json!({ "from": format!("{start}/secret"), "to": "mine" }),
            ),
            ("list_files", json!({ "path": start })),
        ] {
            attacker.error(tool, arguments);
        }
    }
    assert_eq!(names(&directory(&victim)), before);
    assert_eq!(
        fs::read_to_string(directory(&victim).join("secret")).unwrap(),
        "x"
    );
}

#[test]
fn a_base_that_is_shared_is_refused() {
    let fixture = Fixture::new();
    let base = fixture.base().join("base");
    fs::create_dir(&base).unwrap();
    for mode in [0o777, 0o1777, 0o770, 0o702] {
        fs::set_permissions(&base, Permissions::from_mode(mode)).unwrap();
        assert!(refusal(builder(&base)).contains("it is shared"), "{mode:o}");
    }
    fs::set_permissions(&base, Permissions::from_mode(0o755)).unwrap();
    builder(&base).build().unwrap();
    assert!(refusal(builder(Path::new("/tmp"))).contains("/tmp"));
    fs::write(fixture.base().join("file"), "").unwrap();
    refusal(builder(&fixture.base().join("file")));
}

/// Needs root, as CI is; another user has a base of somebody else's in `/`.
#[test]
fn a_base_of_another_user_is_refused() {
    let cli = Cli::new();
    let base = tempfile::tempdir().unwrap();
    fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
    let session = ["check", "--session-dir"];
    let run = match rustix::process::geteuid().is_root() {
        true => {
            open_to_everyone(cli.state());
            Run::of(cli.command_as_nobody(session).arg(base.path()))
        }
        false => Run::of(cli.command(session).arg("/usr")),
    };
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("it is shared"), "{run:?}");
}

#[test]
fn a_root_by_which_sessions_could_be_reached_is_refused() {
    let fixture = Fixture::new();
    let base = fixture.base().join("base");
    let other = builder(&base).build().unwrap();
    let other = other.directory().unwrap();
    for read in [fixture.base(), &base, other] {
        let before = names(&base);
        let told = refusal(builder(&base).read_root(read));
        assert!(told.contains("other sessions"), "{told}");
        assert_eq!(
            names(&base),
            before,
            "a session that does not start leaves nothing"
        );
    }
    builder(&base).read_root(fixture.inputs()).build().unwrap();
    let second = builder(&base).write_root(fixture.workspace()).build();
    assert!(matches!(second, Err(StartError::SecondWriteRoot)));
}

/// For the reasons for which a root is, and before anything is made there.
#[test]
fn a_base_that_could_be_no_root_is_refused() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let own = cli.state().join("rootbound");
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    fs::create_dir_all(own.join("audit")).unwrap();
    // A queue is opened before the session that it is for.
    fs::create_dir(own.join("approvals")).unwrap();
    for private in [&own, &own.join("approvals")] {
        fs::set_permissions(private, Permissions::from_mode(0o700)).unwrap();
    }
    let (log, config) = (
        fixture.outside().join("log"),
        fixture.inputs().join("c.toml"),
    );
    fs::write(&config, "").unwrap();
    let key = fixture.workspace().join("key");
    cli.run(["audit", "keygen", &path(&key)]);
    let holds = |option: &str, file: &Path| vec![format!("{option}={}", path(file))];
    let cache = cli.state().join("cache/rootbound");
    #[rustfmt::skip]
    let rows = [
        (PathBuf::from("/"),             vec![],                      "the whole file system"),
        (PathBuf::from("/etc"),          vec![],                      "`/etc`"),
        (PathBuf::from("/etc/new"),      vec![],                      "`/etc`"),
        (PathBuf::from("/proc"),         vec![],                      "`/proc`"),
        (PathBuf::from("/proc/self"),    vec![],                      "`/proc`"),
        (PathBuf::from("/sys"),          vec![],                      "`/sys`"),
        (PathBuf::from("/dev"),          vec![],                      "`/dev`"),
        (PathBuf::from("/boot"),         vec![],                      "`/boot`"),
        (own.clone(),                    vec![],                      "Rootbound's own state"),
        (own.join("audit"),              vec![],                      "Rootbound's own state"),
        (own.join("approvals"),          vec!["--approve=queue".into()], "Rootbound's own state"),
        (own.join("new/deep"),           vec![],                      "Rootbound's own state"),
        (cache.clone(),                  vec![],                      "Rootbound's own state"),
        (cache.join("components"),       vec![],                      "Rootbound's own state"),
        (fixture.outside(),              holds("--audit", &log),      "it contains the audit log"),
        (fixture.inputs(),               holds("--config", &config),  "it contains the configuration"),
        (fixture.workspace(),            [holds("--audit", &log), holds("--audit-key", &key)].concat(), "the key of the audit log"),
    ];
    let before = (tree(fixture.base()), tree(cli.state()));
    for (base, further, reason) in rows {
        for command in [&["check"][..], &["call", "list_files", "{}"]] {
            let mut command = cli.command(command);
            let run = Run::of(command.args(&further).arg("--session-dir").arg(&base));
            let row = format!("{}: {run:?}", base.display());
            assert_eq!(run.status, Some(2), "{row}");
            assert!(run.stderr.contains(reason), "{row}");
            assert!(
                run.stderr
                    .contains(&format!("`{}` cannot be a root", base.display())),
                "{row}"
            );
            assert_eq!((tree(fixture.base()), tree(cli.state())), before, "{row}");
        }
    }
}

/// A session's own directory is new, and what stands beside it further down is not in it.
#[test]
fn a_base_may_hold_rootbounds_state_further_down() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let base = fixture.base().join("base");
    let logs = base.join("logs");
    fs::create_dir_all(&logs).unwrap();
    let arguments = json!({ "path": "t", "content": "x" });
    let mut command = cli.command(["call", "write_file", &arguments.to_string()]);
    command
        .env("XDG_STATE_HOME", &base)
        .arg("--session-dir")
        .arg(&base);
    Run::of(command.arg("--audit").arg(logs.join("log"))).success();
    let names = names(&base);
    let written = names.iter().filter(|name| name.ends_with("/t"));
    assert_eq!(written.count(), 1, "{names:?}");
    for path in ["../logs/log", "../rootbound/audit"] {
        let arguments = json!({ "path": path, "content": "x" });
        let mut command = cli.command(["call", "write_file", &arguments.to_string()]);
        command
            .env("XDG_STATE_HOME", &base)
            .arg("--session-dir")
            .arg(&base);
        let refused = Run::of(command.arg("--audit").arg(logs.join("log"))).refusal();
        assert_eq!(refused["reason"], "traversal", "{path}");
    }
}

#[test]
fn a_directory_is_removed_only_on_request_and_only_it() {
    let fixture = Fixture::new();
    let base = fixture.base().join("base");
    let outside = fixture.outside().join("kept");
    fs::write(&outside, "kept").unwrap();
    let kept = builder(&base).build().unwrap();
    write(&kept, "d/t");
    let directory = kept.directory().unwrap().to_owned();
    symlink(fixture.outside(), directory.join("d/link")).unwrap();
    kept.close().unwrap();
    assert_eq!(names(&directory).len(), 3);
    kept.remove_directory().unwrap();
    assert!(!directory.exists());
    assert!(outside.exists());

    let build = || builder(&base).remove_session_dir(true).build().unwrap();
    let (closed, dropped) = (build(), build());
    write(&closed, "t");
    write(&dropped, "t");
    closed.close().unwrap();
    drop(dropped);
    assert_eq!(names(&base), [] as [&str; 0]);
}

/// What stands under the name by then, if it is not the directory that was made, stays.
#[test]
fn what_was_put_in_the_place_of_the_directory_is_not_removed() {
    let fixture = Fixture::new();
    let base = fixture.base().join("base");
    let session = builder(&base).remove_session_dir(true).build().unwrap();
    let directory = session.directory().unwrap().to_owned();
    fs::rename(&directory, base.join("moved")).unwrap();
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("t"), "").unwrap();
    session.close().unwrap();
    assert!(directory.join("t").exists());
}

#[test]
fn the_command_line_makes_and_removes_one() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let base = fixture.base().join("base");
    let arguments = json!({ "path": "t", "content": "x" });
    let call = |further: &[&str]| {
        let base = base.to_str().unwrap();
        cli.call(
            "write_file",
            &arguments,
            [&["--session-dir", base], further].concat(),
        )
    };
    let receipt = call(&[]).success();
    assert_eq!(receipt["receipt"]["effects"][0]["root"], "session");
    let left = names(&base);
    assert_eq!(left.len(), 2, "{left:?}");
    call(&["--remove-session-dir"]).success();
    assert_eq!(names(&base), left);
    let work = fixture.workspace();
    let both = call(&["--work", work.to_str().unwrap()]);
    assert_eq!(both.status, Some(2), "{both:?}");
}

/// In a process of its own with 64 descriptors, so that one that stays is missed soon.
#[test]
fn ten_thousand_sessions_leave_nothing_behind() {
    if let Some(base) = std::env::var_os(ALONE) {
        return ten_thousand_sessions(&PathBuf::from(base));
    }
    let fixture = Fixture::new();
    let mut alone = Command::new("prlimit");
    alone
        .arg("--nofile=64")
        .arg(std::env::current_exe().unwrap());
    alone.args([
        "--exact",
        "policy::sessions::ten_thousand_sessions_leave_nothing_behind",
    ]);
    let run = Run::of(alone.env(ALONE, fixture.base()));
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stdout.contains("1 passed"), "{run:?}");
    assert_eq!(names(&fixture.base().join("base")), [] as [&str; 0]);
}

fn ten_thousand_sessions(base: &Path) {
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let session = || {
        let builder = builder(&base.join("base")).read_root(base.join("inputs"));
        builder.remove_session_dir(true).build().unwrap()
    };
    let one = |number: usize| {
        let session = session();
        if number.is_multiple_of(100) {
            write(&session, "d/t");
        }
        match number % 2 {
            0 => session.close().unwrap(),
            _ => drop(session),
        }
    };
    one(0);
    let before = open();
    (1..10_000).for_each(one);
    assert_eq!(open(), before);
}
