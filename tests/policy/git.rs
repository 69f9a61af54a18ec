//! What tools may write must not be what git runs.

use std::process::Command;

use rootbound::{Consent, Session};
use serde_json::json;

use crate::support::{Fixture, Recorded};

/// A way by which git comes to a command that a tool wrote.
struct Trap {
    named: &'static str,
    /// What the user does before.
    before: &'static [&'static [&'static str]],
    /// Written by a tool, in this order; `RUN` is the command, `HEAD` the commit.
    files: &'static [(&'static str, &'static str)],
    /// What the user does then.
    then: &'static [&'static str],
}

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"RUN;false\"\n";
const OUTSIDE: &str = "[core]\n\tbare = false\n\tworktree = ..\n\trepositoryformatversion = 0\n\tfsmonitor = \"RUN;false\"\n";
const INIT: &[&str] = &["init", "--quiet", "-b", "main"];
const COMMIT: &[&str] = &[
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.org",
    "commit",
    "--quiet",
    "--allow-empty",
    "-m",
    "one",
];
const STATUS: &[&str] = &["status"];

#[rustfmt::skip]
const TRAPS: [Trap; 5] = [
    Trap {
        named: "another common directory",
        before: &[INIT],
        files: &[
            ("evil/HEAD", "ref: refs/heads/main\n"), ("evil/config", CONFIG),
            ("evil/refs/x", ""), ("evil/objects/x", ""), (".git/commondir", "../evil\n"),
        ],
        then: STATUS,
    },
    Trap {
        named: "a `.git` that is a file",
        before: &[],
        files: &[
            ("evil/HEAD", "ref: refs/heads/main\n"), ("evil/config", CONFIG),
            ("evil/refs/x", ""), ("evil/objects/x", ""), (".git", "gitdir: evil\n"),
        ],
        then: STATUS,
    },
    Trap {
        named: "a rebase in progress",
        before: &[INIT, COMMIT],
        files: &[
            (".git/rebase-merge/head-name", "refs/heads/main\n"),
            (".git/rebase-merge/onto", "HEAD\n"), (".git/rebase-merge/orig-head", "HEAD\n"),
            (".git/rebase-merge/interactive", ""),
            (".git/rebase-merge/git-rebase-todo", "exec RUN\n"),
        ],
        then: &["rebase", "--continue"],
    },
    Trap {
        named: "a rebase in another worktree",
        before: &[INIT, COMMIT, &["worktree", "add", "--quiet", "w"]],
        files: &[
            (".git/worktrees/w/rebase-merge/head-name", "refs/heads/w\n"),
            (".git/worktrees/w/rebase-merge/onto", "HEAD\n"),
            (".git/worktrees/w/rebase-merge/orig-head", "HEAD\n"),
            (".git/worktrees/w/rebase-merge/interactive", ""),
            (".git/worktrees/w/rebase-merge/git-rebase-todo", "exec RUN\n"),
        ],
        then: &["-C", "w", "rebase", "--continue"],
    },
    Trap {
        named: "a repository without a checkout",
        before: &[],
        files: &[
            ("evil.git/refs/x", ""), ("evil.git/objects/x", ""),
            ("evil.git/config", OUTSIDE), ("evil.git/HEAD", "ref: refs/heads/main\n"),
        ],
        then: &["-C", "evil.git", "status"],
    },
];

impl Trap {
    /// Lays the trap by way of a tool. Whether the last write was refused by pattern, and whether
    /// git then ran the command.
    fn spring(&self, protect: bool, taken_back: bool) -> (bool, bool) {
        let fixture = Fixture::new();
        for arguments in self.before {
            git(&fixture, arguments);
        }
        let head = git(&fixture, &["rev-parse", "--verify", "--quiet", "HEAD"]);
        let ran = fixture.workspace().with_file_name("ran");
        let run = format!("touch {}", ran.display());
        let mut builder = Session::builder()
            .work_root(fixture.workspace())
            .overwrite(Consent::Allow)
            .protect_secrets(protect);
        if taken_back {
            builder = builder.deny("!.git");
        }
        let recorded = Recorded::build(builder);
        let mut refused = false;
        for (path, content) in self.files {
            let content = match content.contains("refs/heads") {
                true => (*content).to_owned(),
                false => content.replace("HEAD", head.trim()).replace("RUN", &run),
            };
            let write = json!({ "path": path, "content": content });
            let written = recorded.call("write_file", write);
            refused = written.is_err_and(|error| error.code() == "pattern-denied");
        }
        git(&fixture, self.then);
        (refused, ran.exists())
    }
}

/// What git says to the user of the directory, without that user's configuration.
fn git(fixture: &Fixture, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(fixture.workspace());
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR");
    let output = git
        .output()
        .expect("`git` is there; `scripts/test-prerequisites` installs it");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn git_runs_nothing_that_a_tool_wrote_where_secrets_are_protected() {
    for trap in TRAPS {
        let (named, refused) = (trap.named, (true, false));
        assert_eq!(
            trap.spring(false, false),
            (false, true),
            "the control: {named}"
        );
        assert_eq!(trap.spring(true, false), refused, "{named}");
    }
}

/// Who wants `.git/HEAD` read does not thereby have commands run.
#[test]
fn git_runs_nothing_either_where_its_directory_is_taken_back() {
    for trap in TRAPS {
        assert_eq!(trap.spring(true, true), (true, false), "{}", trap.named);
    }
}

/// Whichever call would make one, of a file, a copy or another name.
#[test]
fn no_call_makes_a_git_file_where_the_directory_is_taken_back() {
    let fixture = Fixture::new();
    fixture.work("link", "gitdir: evil\n");
    fixture.work("theirs/.git", "gitdir: ../elsewhere\n");
    let session = |protect| {
        Recorded::build(
            Session::builder()
                .work_root(fixture.workspace())
                .overwrite(Consent::Allow)
                .delete(Consent::Allow)
                .protect_secrets(protect)
                .deny("x")
                .deny("!.git"),
        )
    };
    let patch = "--- /dev/null\n+++ b/p/.git\n@@ -0,0 +1 @@\n+gitdir: evil\n";
    let calls = [
        ("write_file", json!({ "path": "a/.git", "content": "x" })),
        ("append_file", json!({ "path": "b/.GIT", "content": "x" })),
        ("copy_file", json!({ "from": "link", "to": "c/.git" })),
        ("apply_patch", json!({ "patch": patch })),
        (
            "write_file",
            json!({ "path": "theirs/.git", "content": "x" }),
        ),
        ("read_file", json!({ "path": "theirs/.git" })),
        ("move_file", json!({ "from": "link", "to": "d/.git" })),
    ];
    let protected = session(true);
    for (tool, arguments) in &calls {
        let error = protected.call(tool, arguments.clone()).unwrap_err();
        assert_eq!(error.code(), "pattern-denied", "{tool} {arguments}");
    }
    for (tool, arguments) in calls {
        let done = session(false).call(tool, arguments.clone());
        let is_denied = done.is_err_and(|error| error.code() == "pattern-denied");
        assert!(!is_denied, "the control: {tool} {arguments}");
    }
}

#[test]
fn where_git_fetches_from_stays_denied_where_its_directory_is_taken_back() {
    let fixture = Fixture::new();
    git(&fixture, INIT);
    let builder = Session::builder().work_root(fixture.workspace());
    let recorded = Recorded::build(builder.protect_secrets(true).deny("!.git"));
    let write = |path: &str| recorded.call("write_file", json!({ "path": path, "content": "x" }));
    for path in [
        ".git/remotes/origin",
        ".git/branches/origin",
        ".git/modules/a/remotes/origin",
        ".git/modules/a/modules/b/branches/origin",
    ] {
        assert_eq!(write(path).unwrap_err().code(), "pattern-denied", "{path}");
    }
    for path in [
        ".git/refs/remotes/origin/main",
        ".git/refs/heads/branches/a",
    ] {
        write(path).unwrap();
    }
}

#[test]
fn nothing_becomes_a_directory_of_version_control_by_any_call() {
    let fixture = Fixture::new();
    fixture.work("link", "gitdir: evil\n");
    fixture.work("d/HEAD", "x");
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
        ("move_file", json!({ "from": "d", "to": ".git" })),
        ("apply_patch", json!({ "patch": patch })),
        ("create_directory", json!({ "dir_path": ".git" })),
        (
            "create_directory",
            json!({ "dir_path": "a/.git/rebase-merge" }),
        ),
        ("create_directory", json!({ "dir_path": ".hg" })),
        ("create_directory", json!({ "dir_path": ".jj" })),
        ("create_directory", json!({ "dir_path": "a/.svn" })),
        (
            "write_file",
            json!({ "path": "b.git/config", "content": "x" }),
        ),
        ("write_file", json!({ "path": ".git/HEAD", "content": "x" })),
    ] {
        let error = recorded.call(tool, arguments.clone()).unwrap_err();
        assert_eq!(error.code(), "pattern-denied", "{tool} {arguments}");
    }
}
