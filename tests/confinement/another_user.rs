//! Rows about permissions, as a user whom permissions bind.
//!
//! The calls go through the command line, which a switch of users can start; root must be
//! able to switch (`setpriv` of util-linux), and whoever is not root stays who they are.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rootbound::Toolset;
use serde_json::Value;

use super::answer::{of_error_object, of_result};
use super::layout::Layout;
use super::table::{Row, Unconfined, rows};
use super::uses::{AWAITED, USES, Use};
use super::verdict::{Complaints, Policy, check_log, check_silence, is_right};
use super::{PERMISSIONS, snapshot::Snapshot};
use crate::support::cli::{Cli, Run};

/// `nobody` on Linux (the kernel's overflow user).
const NOBODY: u32 = 65534;

#[test]
fn permissions_of_the_operating_system_are_answered_as_such() {
    let user = AnotherUser::new();
    let mut complaints = Vec::new();
    for row in rows(PERMISSIONS.1) {
        complaints.extend(user.complaints_of(&row));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn in_a_sticky_directory_the_files_of_others_stay() {
    let user = AnotherUser::new();
    assert!(
        user.switches,
        "this takes root, to make a file of another user"
    );
    let layout = Layout::on_disk("d/f=old; mode d/f 0666; mode d 1777");
    give(layout.base(), NOBODY);
    for path in ["d", "d/f"] {
        lchown(layout.root().join(path), Some(0), Some(0)).unwrap();
    }
    let answer = |tool, arguments: &str| user.call(&layout, tool, arguments).answer_of("");
    let write = r#"{"path":"d/f","content":"new"}"#;
    assert_eq!(answer("write_file", write), "permission-denied");
    assert_eq!(
        answer("delete_file", r#"{"path":"d/f"}"#),
        "permission-denied"
    );
    assert_eq!(
        fs::read_to_string(layout.root().join("d/f")).unwrap(),
        "old"
    );
    let create = r#"{"file_path":"d/n","content":"new"}"#;
    assert_eq!(answer("create_file", create), "ok");
    assert_eq!(answer("delete_file", r#"{"path":"d/n"}"#), "ok");
}

/// Somebody who is not root.
struct AnotherUser {
    cli: Cli,
    switches: bool,
}

/// What a call by the command line left.
struct Called {
    run: Run,
    log: PathBuf,
}

impl AnotherUser {
    fn new() -> Self {
        let switches = rustix::process::geteuid().is_root();
        let cli = Cli::new();
        Self { cli, switches }
    }

    /// Calls a tool with everything allowed but what permissions are about.
    fn call(&self, layout: &Layout, tool: &str, arguments: &str) -> Called {
        let log = self.cli.state().join("audit.jsonl");
        let _ = fs::remove_file(&log);
        let call = ["call", tool, arguments, "--durability", "fast"];
        let mut command = match self.switches {
            true => self.cli.command_as_nobody(call),
            false => self.cli.command(call),
        };
        command
            .args(["--overwrite", "allow", "--delete", "allow", "--audit"])
            .arg(&log)
            .arg("--read")
            .arg(layout.root())
            .arg("--write")
            .arg(layout.root())
            .current_dir("/");
        let run = Run::of(&mut command);
        Called { run, log }
    }

    /// A shell that runs as the user.
    fn shell(&self, script: &str, argument: &Path) -> Output {
        let mut command = Command::new(if self.switches { "setpriv" } else { "env" });
        if self.switches {
            let id = NOBODY.to_string();
            command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
        }
        command
            .args(["sh", "-c", script, "sh"])
            .arg(argument)
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    fn complaints_of(&self, row: &Row) -> Vec<String> {
        let mut complaints = Complaints::of(row);
        if AWAITED.contains(&row.operation) {
            return complaints.lines;
        }
        self.show_control(row, &mut complaints);
        // The single tool needs a command line of its own, and meets the same guard.
        let files = USES.iter().filter(|one| one.toolset() == Toolset::Files);
        for one in files {
            self.try_one(row, one, &mut complaints);
        }
        complaints.lines
    }

    fn layout(&self, row: &Row, one: Option<&Use>) -> Layout {
        let layout = Layout::on_disk(row.setup);
        if let Some(one) = one {
            one.add_companion(&layout.root());
        }
        if self.switches {
            give(layout.base(), NOBODY);
        }
        layout
    }

    fn try_one(&self, row: &Row, one: &Use, complaints: &mut Complaints) {
        let layout = self.layout(row, Some(one));
        let before = Snapshot::of(layout.base());
        let arguments = one.arguments(&row.path).to_string();
        let called = self.call(&layout, one.tool, &arguments);
        let (answer, name) = (called.answer_of(one.operation), one.name());
        complaints.unless(is_right(row, one, Policy::Everything, &answer), || {
            format!("{name} answered {answer}, not {}", row.answers.join(" or "))
        });
        check_log(&called.entries(), &answer, one, complaints);
        check_silence(row, &layout, &called.run.stdout, &name, complaints);
        let after = Snapshot::of(layout.base());
        let difference = if answer.starts_with("ok") {
            before.outside().difference(&after.outside())
        } else {
            before.without_times().difference(&after.without_times())
        };
        complaints.unless(difference.is_empty(), || {
            format!("{name} changed{difference}")
        });
    }

    /// The same with the system's own programs.
    fn show_control(&self, row: &Row, complaints: &mut Complaints) {
        let layout = self.layout(row, None);
        let script = match row.operation {
            "read" => "cat \"$1\"",
            "list" => "ls -A \"$1\"",
            // Both go on where they are refused, and the program says so in its status.
            "list-recursive" => "ls -AR \"$1\" || true",
            "search" => "grep -r hit \"$1\" || true",
            "stat" => "stat -L \"$1\"",
            "write" => "echo new > \"$1\"",
            "create" => "set -C; echo new > \"$1\"",
            "mkdir" => "mkdir \"$1\"",
            "delete" => "rm -f \"$1\"",
            "delete-tree" => "rm -rf \"$1\"",
            other => panic!("no program is known for the operation `{other}`"),
        };
        let output = self.shell(script, &layout.root().join(&row.path));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let answer = match output.status.success() {
            true => "ok",
            false if errors.contains("Permission denied") => "permission-denied",
            false => &errors,
        };
        let expected = match row.unconfined {
            Unconfined::Natively(expected) => expected,
            _ => row.answers[0].split(':').next().unwrap_or_default(),
        };
        complaints.unless(answer == expected, || {
            format!("natively the answer is {answer}")
        });
    }
}

impl Called {
    fn answer_of(&self, operation: &str) -> String {
        let json = self.run.json();
        match &json["error"] {
            Value::Null => of_result(operation, &json),
            error => of_error_object(error),
        }
    }

    fn entries(&self) -> Vec<Value> {
        let lines = BufReader::new(File::open(&self.log).unwrap()).lines();
        lines
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect()
    }
}

/// Gives a tree to a user, links themselves included.
fn give(path: &Path, user: u32) {
    lchown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}
