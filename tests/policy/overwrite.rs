//! What happens to an existing target: the policy's half, the caller's half, and what stands
//! there.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::Consent;
use serde_json::{Value, json};

use crate::support::cli::{Cli, Run, open_to_everyone};
use crate::support::tree::tree;
use crate::support::{Fixture, Recorded, pipe};

const NEW: &str = "new";
const OLD: &str = "old";

/// How a tool is called, and how that is written in the tables below: `write_file` has no
/// word for consent, `create_file` has.
const CALLERS: [(&str, Option<bool>); 4] = [
    ("write", None),
    ("create", None),
    ("create", Some(false)),
    ("create!", Some(true)),
];

const POLICIES: [Consent; 3] = [Consent::Deny, Consent::Ask, Consent::Allow];

/// A row for each state of the target and caller: the answers under deny, ask (with nobody
/// there to be asked) and allow. `code/reason` is a refusal by the host, which has one
/// `refusal` in the audit log; `code` alone is an answer that has none.
#[rustfmt::skip]
const ROWS: [(&str, &str, [&str; 3]); 27] = [
    ("absent",       "write",   ["created", "created", "created"]),
    ("absent",       "create",  ["created", "created", "created"]),
    ("absent",       "create!", ["created", "created", "created"]),
    ("file",         "write",   ["overwrite-denied/", "approval-required/", "replaced"]),
    ("file",         "create",  ["exists", "exists", "exists"]),
    ("file",         "create!", ["overwrite-denied/", "approval-required/", "replaced"]),
    ("directory",    "write",   ["not-a-file", "not-a-file", "not-a-file"]),
    ("directory",    "create",  ["exists", "exists", "exists"]),
    ("directory",    "create!", ["not-a-file", "not-a-file", "not-a-file"]),
    ("link inside",  "write",   ["not-a-file/symlink", "not-a-file/symlink", "not-a-file/symlink"]),
    ("link inside",  "create",  ["not-a-file/symlink", "not-a-file/symlink", "not-a-file/symlink"]),
    ("link inside",  "create!", ["not-a-file/symlink", "not-a-file/symlink", "not-a-file/symlink"]),
    ("link out",     "write",   ["escape/", "escape/", "escape/"]),
    ("link out",     "create",  ["escape/", "escape/", "escape/"]),
    ("link out",     "create!", ["escape/", "escape/", "escape/"]),
    ("dangling",     "write",   ["not-a-file/symlink", "not-a-file/symlink", "not-a-file/symlink"]),
    ("dangling",     "create",  ["not-a-file/symlink", "not-a-file/symlink", "not-a-file/symlink"]),
    ("dangling",     "create!", ["not-a-file/symlink", "not-a-file/symlink", "not-a-file/symlink"]),
    ("dangling out", "write",   ["escape/", "escape/", "escape/"]),
    ("dangling out", "create",  ["escape/", "escape/", "escape/"]),
    ("dangling out", "create!", ["escape/", "escape/", "escape/"]),
    ("hard link",    "write",   ["overwrite-denied/", "hard-link/", "hard-link/"]),
    ("hard link",    "create",  ["exists", "exists", "exists"]),
    ("hard link",    "create!", ["overwrite-denied/", "hard-link/", "hard-link/"]),
    ("pipe",         "write",   ["not-a-file/special", "not-a-file/special", "not-a-file/special"]),
    ("pipe",         "create",  ["not-a-file/special", "not-a-file/special", "not-a-file/special"]),
    ("pipe",         "create!", ["not-a-file/special", "not-a-file/special", "not-a-file/special"]),
];

/// Puts a target of that kind at `t` in the workspace, and what it leads to beside it.
fn arrange(state: &str, fixture: &Fixture) {
    let target = fixture.workspace().join("t");
    match state {
        "absent" => {}
        "file" => fs::write(target, OLD).unwrap(),
        "directory" => fs::create_dir(target).unwrap(),
        "link inside" => {
            fixture.work("other", OLD);
            symlink("other", target).unwrap();
        }
        "link out" => {
            fs::write(fixture.outside().join("secret"), OLD).unwrap();
            symlink("../outside/secret", target).unwrap();
        }
        "dangling" => symlink("other", target).unwrap(),
        "dangling out" => symlink("../outside/other", target).unwrap(),
        "hard link" => {
            fs::write(fixture.outside().join("other"), OLD).unwrap();
            fs::hard_link(fixture.outside().join("other"), target).unwrap();
        }
        "pipe" => pipe(&target),
        other => panic!("no such state: {other}"),
    }
}

fn call(recorded: &Recorded, caller: &str, overwrite: Option<bool>) -> String {
    let (tool, mut arguments) = match caller {
        "write" => ("write_file", json!({ "path": "t", "content": NEW })),
        _ => ("create_file", json!({ "file_path": "t", "content": NEW })),
    };
    if let Some(overwrite) = overwrite {
        arguments["overwrite"] = overwrite.into();
    }
    match recorded.call(tool, arguments) {
        Ok(output) if output.fields()["created"] == true => "created".to_owned(),
        Ok(_) => "replaced".to_owned(),
        Err(error) if recorded.entries_of("refusal").is_empty() => error.code().to_owned(),
        Err(error) => format!("{}/{}", error.code(), error.reason().unwrap_or_default()),
    }
}

#[test]
fn every_target_is_answered_as_policy_and_caller_say() {
    for (state, written, answers) in ROWS {
        let callers = CALLERS.iter().filter(|(caller, _)| *caller == written);
        for (caller, overwrite) in callers {
            for (policy, expected) in POLICIES.into_iter().zip(answers) {
                check(state, caller, *overwrite, policy, expected);
            }
        }
    }
}

fn check(state: &str, caller: &str, overwrite: Option<bool>, policy: Consent, expected: &str) {
    let fixture = Fixture::new();
    arrange(state, &fixture);
    let before = tree(fixture.base());
    let recorded = fixture.session_with(|builder| builder.overwrite(policy));
    let row = format!("{state}, {caller} {overwrite:?}, {policy:?}");
    assert_eq!(call(&recorded, caller, overwrite), expected, "{row}");
    if matches!(expected, "created" | "replaced") {
        assert_eq!(fixture.workspace_text("t"), NEW, "{row}");
        assert!(recorded.entries_of("refusal").is_empty(), "{row}");
    } else {
        assert_eq!(tree(fixture.base()), before, "{row}");
        assert!(recorded.entries_of("intent").is_empty(), "{row}");
        let refusals = usize::from(expected.contains('/'));
        assert_eq!(recorded.entries_of("refusal").len(), refusals, "{row}");
    }
}

/// The control: a program that just writes to these names changes what it should not.
#[test]
fn a_plain_write_goes_through_links_of_both_kinds() {
    for (state, changed) in [
        ("link inside", "workspace/other"),
        ("link out", "outside/secret"),
        ("dangling", "workspace/other"),
        ("dangling out", "outside/other"),
        ("hard link", "outside/other"),
    ] {
        let fixture = Fixture::new();
        arrange(state, &fixture);
        fs::write(fixture.workspace().join("t"), NEW).unwrap();
        let changed = fixture.base().join(changed);
        assert_eq!(fs::read_to_string(changed).unwrap(), NEW, "{state}");
    }
}

#[test]
fn replacing_takes_the_policy_and_the_callers_word() {
    for (policy, overwrite, expected) in [
        (Consent::Deny, false, "exists"),
        (Consent::Deny, true, "overwrite-denied/"),
        (Consent::Allow, false, "exists"),
        (Consent::Allow, true, "replaced"),
    ] {
        check("file", "create", Some(overwrite), policy, expected);
    }
}

#[test]
fn write_file_knows_no_word_for_consent() {
    let fixture = Fixture::new();
    let recorded = fixture.session_with(|builder| builder.overwrite(Consent::Allow));
    for overwrite in [false, true] {
        let arguments = json!({ "path": "t", "content": NEW, "overwrite": overwrite });
        let error = recorded.error("write_file", arguments);
        assert_eq!(error.code(), "invalid-arguments");
        let known = error.details()["known"].as_array().unwrap();
        assert!(!known.contains(&"overwrite".into()), "{known:?}");
    }
}

/// Permissions bind everyone but the superuser, so these rows run as someone else.
#[test]
fn a_read_only_file_stays_as_it_is_for_those_whom_its_permissions_bind() {
    let denied = ["overwrite-denied", "permission-denied", "permission-denied"];
    for (tool, overwrite, answers) in [
        ("write_file", None, denied),
        ("create_file", None, ["exists"; 3]),
        ("create_file", Some(false), ["exists"; 3]),
        ("create_file", Some(true), denied),
    ] {
        for (policy, expected) in ["deny", "ask", "allow"].into_iter().zip(answers) {
            let run = write_read_only_file(tool, overwrite, policy);
            let row = format!("{tool} {overwrite:?}, {policy}");
            assert_eq!(run.refusal()["code"], expected, "{row}: {run:?}");
        }
    }
}

fn write_read_only_file(tool: &str, overwrite: Option<bool>, policy: &str) -> Run {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let target = fixture.work("t", OLD);
    let mut read_only = fs::metadata(&target).unwrap().permissions();
    read_only.set_readonly(true);
    fs::set_permissions(&target, read_only).unwrap();
    for directory in [fixture.base(), &fixture.workspace()] {
        open_to_everyone(directory);
    }
    let name = if tool == "write_file" {
        "path"
    } else {
        "file_path"
    };
    let mut arguments: Value = json!({ name: "t", "content": NEW });
    if let Some(overwrite) = overwrite {
        arguments["overwrite"] = overwrite.into();
    }
    let before = tree(fixture.base());
    let mut command = cli.command_as_nobody(["call", tool, &arguments.to_string()]);
    command.args(["--overwrite", policy, "--write"]);
    let run = Run::of(command.arg(fixture.workspace()));
    assert_eq!(tree(fixture.base()), before);
    run
}

#[test]
fn the_superuser_replaces_a_read_only_file_and_keeps_it_read_only() {
    let fixture = Fixture::new();
    let target = fixture.work("t", OLD);
    let mut permissions = fs::metadata(&target).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&target, permissions.clone()).unwrap();
    let recorded = fixture.session_with(|builder| builder.overwrite(Consent::Allow));
    recorded.fields("write_file", json!({ "path": "t", "content": NEW }));
    assert_eq!(fixture.workspace_text("t"), NEW);
    assert_eq!(fs::metadata(&target).unwrap().permissions(), permissions);
}
