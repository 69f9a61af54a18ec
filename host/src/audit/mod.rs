//! The audit log: JSON lines, each bound to the one before by its hash.
//!
//! An operation that cannot be recorded does not happen. The log never holds contents and
//! never a host path.

mod entry;
mod file;
mod verify;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::ambient;
use crate::error::CallError;
use file::FileSink;

pub use verify::{AuditFault, VerifiedLog, verify_log};

pub(crate) use entry::{AccessedObject, Entry, EntryKind, Object};

/// The format that the `genesis` entry names.
pub(crate) const FORMAT: &str = "rootbound-audit/1";
/// Bytes of an ordinary entry.
const USUAL_LINE: usize = 512;
/// The `prev` of the first entry of a log.
const NO_PREVIOUS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Where the lines of an audit log go.
///
/// An implementor promises: when `append` returns `Ok`, the lines are where an
/// investigator will find them, in this order; when it returns `Err`, none of them is.
/// `append` is called by many threads, never by two at once.
///
/// Any `Fn(&str) -> io::Result<()>` that is `Send + Sync` is a sink; it is called once for
/// each line, without the line break.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::io;
/// use std::sync::mpsc;
/// use rootbound::{AuditLog, Session};
///
/// let (sender, lines) = mpsc::channel();
/// let log = AuditLog::sink(move |line: &str| {
///     sender.send(line.to_owned()).map_err(io::Error::other)
/// });
/// let session = Session::builder().audit(log).build()?;
/// let _ = session.call("read_file", r#"{"path": "notes.md"}"#);
/// let kinds = ["genesis", "refusal", "call"];
/// for (kind, line) in kinds.iter().zip(lines.try_iter()) {
///     assert!(line.contains(&format!("\"kind\":\"{kind}\"")));
/// }
/// # Ok(())
/// # }
/// ```
pub trait AuditSink: Send + Sync {
    /// Takes one or more lines, each ending in a line feed.
    ///
    /// # Errors
    ///
    /// Any error refuses the operation that was to be recorded.
    fn append(&self, lines: &str) -> io::Result<()>;

    /// Makes what was appended durable.
    ///
    /// # Errors
    ///
    /// When durability cannot be promised.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl<F> AuditSink for F
where
    F: Fn(&str) -> io::Result<()> + Send + Sync,
{
    fn append(&self, lines: &str) -> io::Result<()> {
        lines.lines().try_for_each(self)
    }
}

/// An audit log that sessions write to. Cloning gives another handle to the same log.
#[derive(Clone)]
pub struct AuditLog {
    chain: Option<Arc<Mutex<Chain>>>,
    describes: &'static str,
    location: Option<PathBuf>,
}

struct Chain {
    sink: Box<dyn AuditSink>,
    /// Whether the sink takes several lines wholly or not at all.
    in_batches: bool,
    id: String,
    next_seq: u64,
    prev: String,
}

impl AuditLog {
    /// A log in `file`, created with mode 0600 or continued. A second process that wants
    /// the same file waits up to two seconds for the first to end.
    ///
    /// # Errors
    ///
    /// `audit-unavailable` when the file cannot be opened, is in use, or does not end in a
    /// valid entry.
    pub fn file(file: impl AsRef<Path>) -> Result<Self, CallError> {
        let (sink, tail) = FileSink::open(file.as_ref()).map_err(CallError::audit_unavailable)?;
        let mut log = Self::with_sink(Box::new(sink), "file");
        log.location = Some(file.as_ref().to_owned());
        if let (Some(tail), Some(chain)) = (tail, &log.chain) {
            let mut chain = chain.lock().unwrap_or_else(PoisonError::into_inner);
            chain.next_seq = tail.seq + 1;
            chain.prev = tail.hash;
        }
        Ok(log)
    }

    /// A new file for this log below the user's state directory,
    /// `$XDG_STATE_HOME/rootbound/audit/`.
    ///
    /// # Errors
    ///
    /// `audit-unavailable` when there is no such directory and none can be made.
    pub fn in_state_directory() -> Result<Self, CallError> {
        Self::in_directory(ambient::state_directory().as_deref())
    }

    /// A new file below a state directory.
    pub(crate) fn in_directory(state: Option<&Path>) -> Result<Self, CallError> {
        Self::file(file::new_path(state).map_err(CallError::audit_unavailable)?)
    }

    /// A log whose lines go to a sink of the embedding program.
    #[must_use]
    pub fn sink(sink: impl AuditSink + 'static) -> Self {
        Self::with_sink(Box::new(sink), "sink")
    }

    /// A log on the standard error stream.
    #[must_use]
    pub fn stderr() -> Self {
        Self::with_sink(Box::new(file::StderrSink), "stderr")
    }

    /// No log. Every other default of this crate assumes that there is one.
    #[must_use]
    pub fn none() -> Self {
        Self {
            chain: None,
            describes: "none",
            location: None,
        }
    }

    fn with_sink(sink: Box<dyn AuditSink>, describes: &'static str) -> Self {
        Self {
            chain: Some(Arc::new(Mutex::new(Chain {
                sink,
                in_batches: describes == "file",
                id: crate::random::hex::<16>(),
                next_seq: 0,
                prev: NO_PREVIOUS.to_owned(),
            }))),
            describes,
            location: None,
        }
    }

    /// Where the log goes: `file`, `stderr`, `sink` or `none`.
    #[must_use]
    pub fn describe(&self) -> &str {
        self.describes
    }

    /// The file of a log in a file.
    #[must_use]
    pub fn location(&self) -> Option<&Path> {
        self.location.as_deref()
    }

    pub(crate) fn id(&self) -> Option<String> {
        self.locked(|chain| chain.id.clone())
    }

    fn locked<T>(&self, with: impl FnOnce(&mut Chain) -> T) -> Option<T> {
        let chain = self.chain.as_ref()?;
        Some(with(
            &mut chain.lock().unwrap_or_else(PoisonError::into_inner),
        ))
    }

    /// Appends entries in one write.
    pub(crate) fn append(&self, entries: Vec<Entry>) -> Result<(), CallError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.locked(|chain| chain.append(entries))
            .unwrap_or(Ok(()))
            .map_err(CallError::audit_unavailable)
    }

    /// Makes everything recorded so far durable.
    pub(crate) fn sync(&self) -> Result<(), CallError> {
        self.locked(|chain| chain.sink.sync())
            .unwrap_or(Ok(()))
            .map_err(CallError::audit_unavailable)
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuditLog({})", self.describes)
    }
}

impl Chain {
    /// The chain moves on only when the sink took the lines, so that a failed write can be
    /// tried again without a gap.
    fn append(&mut self, entries: Vec<Entry>) -> io::Result<()> {
        if self.in_batches {
            return self.append_batch(entries);
        }
        entries
            .into_iter()
            .try_for_each(|entry| self.append_batch(vec![entry]))
    }

    fn append_batch(&mut self, entries: Vec<Entry>) -> io::Result<()> {
        let mut lines = Vec::with_capacity(entries.len() * USUAL_LINE);
        let mut prev = self.prev.clone();
        let mut seq = self.next_seq;
        for mut entry in entries {
            entry.seq = seq;
            entry.prev = prev;
            prev = push_line(&mut lines, &entry)?;
            seq += 1;
        }
        let lines = String::from_utf8(lines).map_err(io::Error::other)?;
        self.sink.append(&lines)?;
        self.prev = prev;
        self.next_seq = seq;
        Ok(())
    }
}

/// Writes one entry with its hash and returns the hash: SHA-256 of the canonical form of
/// the entry without `hash` (RFC 8785).
fn push_line(lines: &mut Vec<u8>, entry: &Entry) -> io::Result<String> {
    let start = lines.len();
    serde_json::to_writer(&mut *lines, entry)?;
    let hash = crate::random::hex_of(&Sha256::digest(&lines[start..]));
    lines.pop();
    lines.extend_from_slice(b",\"hash\":\"");
    lines.extend_from_slice(hash.as_bytes());
    lines.extend_from_slice(b"\"}\n");
    Ok(hash)
}
