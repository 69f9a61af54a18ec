//! What every test needs: real directories, a session over them, and the audit log.

pub mod cli;
pub mod mounts;
pub mod snapshot;
pub mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rootbound::{AuditLog, CallError, Output, Session, SessionBuilder};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Three directories side by side: what may be read, what may be written, and what lies
/// outside.
pub struct Fixture {
    base: TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        for directory in ["inputs", "workspace", "outside"] {
            fs::create_dir(base.path().join(directory)).unwrap();
        }
        Self { base }
    }

    pub fn base(&self) -> &Path {
        self.base.path()
    }

    pub fn inputs(&self) -> PathBuf {
        self.base().join("inputs")
    }

    pub fn workspace(&self) -> PathBuf {
        self.base().join("workspace")
    }

    pub fn outside(&self) -> PathBuf {
        self.base().join("outside")
    }

    /// Writes a file below the inputs, with its parents.
    pub fn input(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(self.inputs().join(path), content)
    }

    /// Writes a file below the workspace, with its parents.
    pub fn work(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(self.workspace().join(path), content)
    }

    pub fn workspace_text(&self, path: &str) -> String {
        fs::read_to_string(self.workspace().join(path)).unwrap()
    }

    /// A session with both grants and the default policy.
    pub fn session(&self) -> Recorded {
        self.session_with(|builder| builder)
    }

    /// A session with both grants; `change` says what differs from the defaults.
    pub fn session_with(&self, change: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Recorded {
        let builder = Session::builder()
            .read_root(self.inputs())
            .write_root(self.workspace());
        Recorded::build(change(builder))
    }
}

fn write(path: PathBuf, content: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

/// Makes a named pipe.
pub fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Where the sessions of the tests keep their state: not where the user's are.
pub const STATE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/state");

/// A session whose audit log is kept in memory.
pub struct Recorded {
    pub session: Session,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Recorded {
    pub fn build(builder: SessionBuilder) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let log = AuditLog::sink(move |line: &str| {
            sink.lock().unwrap().push(line.to_owned());
            Ok(())
        });
        let builder = builder.state_directory(STATE);
        let session = builder.audit(log).build().unwrap();
        Self { session, lines }
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Result<Output, CallError> {
        self.session.call(tool, arguments)
    }

    /// The fields of a call that must succeed.
    pub fn fields(&self, tool: &str, arguments: Value) -> Value {
        Value::Object(self.call(tool, arguments).unwrap().fields())
    }

    /// The error of a call that must not succeed.
    pub fn error(&self, tool: &str, arguments: Value) -> CallError {
        self.call(tool, arguments).unwrap_err()
    }

    /// All audit entries so far.
    pub fn entries(&self) -> Vec<Value> {
        let lines = self.lines.lock().unwrap();
        lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// The audit entries of one kind.
    pub fn entries_of(&self, kind: &str) -> Vec<Value> {
        let mut entries = self.entries();
        entries.retain(|entry| entry["kind"] == kind);
        entries
    }

    pub fn forget(&self) {
        self.lines.lock().unwrap().clear();
    }
}

/// SHA-256 as results and the log write it.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
