//! What tools may write must not be what git runs.

use std::process::Command;

use rootbound::{Consent, Session};
use serde_json::json;

use crate::support::{Fixture, Recorded};

/// Files in the order in which they are written; by the last one git comes to the others.
struct Trap {
    /// Whether a checkout is there before.
    checkout: bool,
    /// Where the configuration lies.
    directory: &'static str,
    last: (&'static str, &'static str),
}

const TRAPS: [Trap; 2] = [
    Trap {
        checkout: true,
        directory: "evil",
        last: (".git/commondir", "../evil\n"),
    },
    Trap {
        checkout: false,
        directory: "evil",
        last: (".git", "gitdir: evil\n"),
    },
];

impl Trap {
    /// Lays the trap by way of a tool. Whether the last write was refused by pattern, and whether
    /// git then ran the command.
    fn spring(&self, protect: bool) -> (bool, bool) {
        let fixture = Fixture::new();
        if self.checkout {
            git(&fixture, &["init", "--quiet"]);
        }
        let ran = fixture.workspace().with_file_name("ran");
        let command = format!("touch {};false", ran.display());
        let config =
            format!("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"{command}\"\n");
        let builder = Session::builder()
            .work_root(fixture.workspace())
            .overwrite(Consent::Allow)
            .protect_secrets(protect);
        let recorded = Recorded::build(builder);
        let write = |path: &str, content: &str| {
            recorded.call("write_file", json!({ "path": path, "content": content }))
        };
        for (name, content) in [
            ("HEAD", "ref: refs/heads/main\n"),
            ("config", &*config),
            ("refs/x", ""),
            ("objects/x", ""),
        ] {
            write(&format!("{}/{name}", self.directory), content).unwrap();
        }
        let last = write(self.last.0, self.last.1);
        git(&fixture, &["status"]);
        let refused = last.is_err_and(|error| error.code() == "pattern-denied");
        (refused, ran.exists())
    }
}

/// Git as the user of the directory runs it, without that user's configuration.
fn git(fixture: &Fixture, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(fixture.workspace());
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR");
    git.output()
        .expect("`git` is there; `scripts/test-prerequisites` installs it");
}

#[test]
fn git_runs_nothing_that_a_tool_wrote_where_secrets_are_protected() {
    for trap in TRAPS {
        let path = trap.last.0;
        assert_eq!(trap.spring(false), (false, true), "the control: {path}");
        assert_eq!(trap.spring(true), (true, false), "{path}");
    }
}

#[test]
fn a_file_does_not_become_git_by_any_call_but_a_directory_may() {
    let fixture = Fixture::new();
    fixture.work("link", "gitdir: evil\n");
    let builder = Session::builder()
        .work_root(fixture.workspace())
        .overwrite(Consent::Allow)
        .delete(Consent::Allow)
        .protect_secrets(true);
    let recorded = Recorded::build(builder);
    let patch = "--- /dev/null\n+++ b/.git\n@@ -0,0 +1 @@\n+gitdir: evil\n";
    for (tool, arguments) in [
        ("write_file", json!({ "path": ".git", "content": "x" })),
        (
            "create_file",
            json!({ "file_path": "a/.git", "content": "x" }),
        ),
        ("append_file", json!({ "path": ".git", "content": "x" })),
        ("copy_file", json!({ "from": "link", "to": ".git" })),
        ("move_file", json!({ "from": "link", "to": ".git" })),
        ("apply_patch", json!({ "patch": patch })),
    ] {
        let error = recorded.call(tool, arguments).unwrap_err();
        assert_eq!(error.code(), "pattern-denied", "{tool}");
    }
    recorded.fields("create_directory", json!({ "dir_path": ".git" }));
    let write = json!({ "path": ".git/HEAD", "content": "x" });
    recorded.fields("write_file", write);
}
