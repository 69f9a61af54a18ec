//! The program as a user runs it, away from the user's own state and grants.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The user and group `nobody` on Debian; no test depends on the name.
const NOBODY: &str = "65534";

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_rootbound");

/// Runs the program with a state directory of its own.
pub struct Cli {
    state: TempDir,
    for_everyone: OnceCell<TempDir>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Cli {
    pub fn new() -> Self {
        Self {
            state: tempfile::tempdir().unwrap(),
            for_everyone: OnceCell::new(),
        }
    }

    /// Where the program keeps its state.
    pub fn state(&self) -> &Path {
        self.state.path()
    }

    /// The files of the audit log that runs left behind.
    pub fn audit_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.state().join("rootbound/audit")) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The program with these arguments, not started yet.
    pub fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments);
        self.isolate(&mut command);
        command
    }

    /// The program as a user without any privilege. Fails where there is no `setpriv` or it
    /// may not switch users.
    pub fn command_as_nobody(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Command {
        open_to_everyone(self.state());
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"])
            .arg(self.program_for_everyone())
            .args(arguments);
        self.isolate(&mut command);
        command
    }

    /// A copy of the program that every user may run: a build directory may be closed to
    /// others. Another process makes it, since a file that this one has open for writing
    /// can be inherited by a child of another thread and is then too busy to be run.
    fn program_for_everyone(&self) -> PathBuf {
        let copy = || {
            let directory = tempfile::tempdir().unwrap();
            open_to_everyone(directory.path());
            let mut copy = Command::new("cp");
            let copied = copy.arg(PROGRAM).arg(directory.path()).status();
            assert!(copied.unwrap().success());
            directory
        };
        let directory = self.for_everyone.get_or_init(copy);
        directory.path().join("rootbound")
    }

    fn isolate(&self, command: &mut Command) {
        command
            .env("XDG_STATE_HOME", self.state())
            .env("XDG_CACHE_HOME", self.state().join("cache"))
            .env_remove("ROOTBOUND_WORK_DIR")
            .env_remove("ROOTBOUND_CONFIG")
            .stdin(Stdio::null());
    }

    pub fn run(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
        Run::of(&mut self.command(arguments))
    }

    /// One tool call with further arguments, such as grants.
    pub fn call<I>(&self, tool: &str, arguments: &Value, further: I) -> Run
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let mut command = self.command(["call", tool, &arguments.to_string()]);
        Run::of(command.args(further))
    }
}

impl Run {
    pub fn of(command: &mut Command) -> Self {
        command.output().unwrap().into()
    }

    /// Runs with `input` on the standard input.
    pub fn with_input(command: &mut Command, input: &[u8]) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that ends without reading its input breaks the pipe, which is its right.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap().into()
    }

    /// The single line of JSON that the standard output must hold.
    pub fn json(&self) -> Value {
        let line = self.stdout.strip_suffix('\n');
        let line = line.unwrap_or_else(|| panic!("no line on the standard output: {self:?}"));
        assert!(!line.contains('\n'), "more than one line: {self:?}");
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The result of a call that must succeed.
    pub fn success(&self) -> Value {
        assert_eq!(self.status, Some(0), "{self:?}");
        self.json()
    }

    /// The error object of a call that must be answered otherwise.
    pub fn refusal(&self) -> Value {
        assert_eq!(self.status, Some(1), "{self:?}");
        self.json()["error"].clone()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self {
            status: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// Lets every user enter a directory and create files in it.
pub fn open_to_everyone(directory: &Path) {
    fs::set_permissions(directory, Permissions::from_mode(0o777)).unwrap();
}
