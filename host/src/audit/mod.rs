//! The audit log: JSON lines, each bound to the one before by its hash.
//!
//! An operation that cannot be recorded does not happen. The log never holds contents and
//! never a host path.

mod arguments;
mod entry;
mod file;
mod flush;
mod intents;
mod key;
mod left;
mod link;
mod observer;
#[cfg(feature = "otel")]
mod otel;
mod preview;
mod settle;
mod tail;
mod traced;
mod verify;

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::ambient;
use crate::error::CallError;
use crate::policy::Durability;
use entry::Repaired;
use file::{FileSink, LOCK_PATIENCE};
use intents::OpenIntent;
use left::Mark;
use tail::{Tail, VERIFIED};

pub use file::Rotation;
pub use key::{AuditKey, AuditPublicKey, NoPublicKey};
pub use observer::AuditObserver;
#[cfg(feature = "otel")]
pub use otel::{OtlpError, OtlpObserver};
pub use traced::TracingSink;
pub use verify::{AuditFault, LogVerifier, Unsettled, VerifiedLog, log_head, verify_log};

pub(crate) use arguments::{looks_like_secret, recorded as recorded_arguments};
pub(crate) use entry::{AccessedObject, Covered, Entry, EntryKind, Object};
pub(crate) use left::{Settler, settle_what_is_left};
pub(crate) use settle::settlements;

/// The format that the `genesis` entry names.
pub(crate) const FORMAT: &str = "rootbound-audit/1";
/// Bytes of an ordinary entry.
const USUAL_LINE: usize = 512;
/// Bytes of the longest line. Whoever continues a log finds its last line at the end of the file,
/// and whoever verifies it reads a line at a time.
const LONGEST_LINE: usize = 4 << 20;
/// Entries after which a log that is signed gets a checkpoint.
const CHECKPOINT_EVERY: u64 = 1000;
/// A log that is not as its writer left it. Nothing is appended to it, which would hide that.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Damage(String);

impl Damage {
    fn error(what: impl fmt::Display) -> io::Error {
        let damage = Self(what.to_string());
        io::Error::new(io::ErrorKind::InvalidData, damage)
    }

    /// What is wrong, when it is that which keeps a log from being written.
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// The `reason` of a checkpoint after which this process writes nothing more.
const CLOSED: &str = "closed";
/// The `reason` of a checkpoint behind which the log goes on in another file.
const ROTATED: &str = "rotated";
/// The `prev` of the first entry of a log.
const NO_PREVIOUS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Where the lines of an audit log go.
///
/// An implementor promises:
///
/// - When `append` returns `Ok`, the lines are where an investigator will find them, in this
///   order and unchanged to the byte: the hash of each is over its bytes.
/// - When it returns `Err`, none of them is. The same lines, or others with the same numbers,
///   come again; a line that was taken and denied is a fork of the chain.
/// - It does not answer `Ok` for what it only means to write later, unless a crash of the
///   process cannot lose that: the operation goes on as soon as it returns.
/// - It is quick, and returns: every call of every session of the log waits for it.
/// - It does not call back into a session of this log, which would wait for itself.
/// - What it holds cannot be reached by the tools that it is about.
///
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
    directory: Option<PathBuf>,
}

struct Chain {
    sink: Sink,
    id: String,
    next_seq: u64,
    prev: String,
    rotation: Rotation,
    key: Option<AuditKey>,
    /// Entries since the last checkpoint.
    unsigned: u64,
    /// The last `genesis`, which a file that is put aside hands on to the next.
    genesis: Option<Entry>,
    /// What the first `genesis` has to say about the end that was found.
    repaired: Option<Repaired>,
    /// What the process before was about to do, and did not say how it went.
    open: Vec<OpenIntent>,
    /// The last checkpoint of the process before, until something is written behind it.
    checkpoint: Option<Value>,
    durability: Durability,
    observers: Vec<Box<dyn AuditObserver>>,
    /// What tells the next process that this one has begun to change something.
    mark: Option<Mark>,
    /// Calls that have announced a change and have not ended. What becomes of a change stands in
    /// the file that announces it: the next process looks for it there, and nowhere else.
    changing: HashSet<String>,
}

/// Where a chain's lines go.
enum Sink {
    /// A file takes several lines wholly or not at all.
    File(FileSink),
    /// Anything else gets them one by one.
    Other(Box<dyn AuditSink>),
}

impl Sink {
    fn as_dyn(&self) -> &dyn AuditSink {
        match self {
            Self::File(file) => file,
            Self::Other(sink) => &**sink,
        }
    }

    /// Takes lines, as the first of a new file where that is wanted.
    fn take(&self, lines: &str, place: Place) -> io::Result<()> {
        match (self, place) {
            (Self::File(file), Place::NewFile) => file.rotate(lines),
            _ => self.as_dyn().append(lines),
        }
    }
}

/// Where lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Behind those before.
    End,
    /// Into a new file, while that of those before is put aside.
    NewFile,
}

impl AuditLog {
    /// A log in `file`, created with mode 0600 or continued. A second process that wants
    /// the same file waits up to two seconds for the first to end.
    ///
    /// # Errors
    ///
    /// `audit-unavailable` when the file cannot be opened, is in use, or was edited: the last
    /// 64 MiB of it must be lines that follow one another.
    pub fn file(file: impl AsRef<Path>) -> Result<Self, CallError> {
        let opened = FileSink::open(file.as_ref(), LOCK_PATIENCE, VERIFIED);
        let (sink, tail) = opened.map_err(CallError::audit_unavailable)?;
        Ok(Self::continued(file.as_ref(), sink, tail))
    }

    fn continued(file: &Path, sink: FileSink, tail: Tail) -> Self {
        let mut chain = Chain::new(Sink::File(sink));
        if let Some(last) = tail.last {
            chain.next_seq = last.seq + 1;
            chain.prev = last.hash;
        }
        chain.repaired = tail.torn;
        chain.open = tail.open;
        chain.checkpoint = tail.checkpoint;
        let mut log = Self::of(chain, "file");
        log.location = Some(file.to_owned());
        log
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
        let path = file::new_path(state).map_err(CallError::audit_unavailable)?;
        let log = Self::file(&path)?;
        log.locked(|chain| chain.mark = state.map(|state| Mark::of(&path, state)));
        Ok(log)
    }

    /// A log whose lines go to a sink of the embedding program.
    #[must_use]
    pub fn sink(sink: impl AuditSink + 'static) -> Self {
        Self::of(Chain::new(Sink::Other(Box::new(sink))), "sink")
    }

    /// A log on the standard error stream.
    #[must_use]
    pub fn stderr() -> Self {
        Self::of(
            Chain::new(Sink::Other(Box::new(file::StderrSink::new()))),
            "stderr",
        )
    }

    /// No log. Every other default of this crate assumes that there is one.
    #[must_use]
    pub fn none() -> Self {
        Self {
            chain: None,
            describes: "none",
            location: None,
            directory: None,
        }
    }

    /// Signs the log with checkpoints from now on: one every thousand entries, and one at the
    /// end. A log that was cut off or written anew then shows to everyone who has the public
    /// key.
    ///
    /// When the log is continued, and its last checkpoint names this key without being signed
    /// with it, the log takes nothing: whoever signs its end vouches for all of it.
    #[must_use]
    pub fn signed_by(self, key: AuditKey) -> Self {
        self.locked(|chain| chain.key = Some(key));
        self
    }

    /// Puts the log's file aside when it is large or old. Only files are.
    #[must_use]
    pub fn rotated(self, rotation: Rotation) -> Self {
        self.locked(|chain| chain.rotation = rotation);
        self
    }

    /// Whether an entry is on the disk before what it announces is done. The default is
    /// [`Durability::Fast`]: it is written before, survives the process from then on, and is on
    /// the disk within a second and when the session is closed, so that a power cut can take the
    /// last second with it. [`Durability::Full`] syncs each entry before its operation goes on.
    ///
    /// Once something could not be synced, the log takes nothing more: nobody knows what the
    /// disk holds.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        self.locked(|chain| chain.durability = durability);
        self
    }

    /// Shows each line that the log has taken to somebody else as well. Where there is no log
    /// there is nothing to show.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use rootbound::{AuditLog, Session};
    ///
    /// let (sender, seen) = mpsc::channel();
    /// let log = AuditLog::sink(|_: &str| Ok(())).observed_by(move |line: &str| {
    ///     let _ = sender.send(line.to_owned());
    /// });
    /// let session = Session::builder().audit(log).build()?;
    /// assert!(seen.try_recv().is_ok_and(|line| line.contains("genesis")));
    /// # Ok::<(), rootbound::StartError>(())
    /// ```
    #[must_use]
    pub fn observed_by(self, observer: impl AuditObserver + 'static) -> Self {
        self.locked(|chain| chain.observers.push(Box::new(observer)));
        self
    }

    fn of(chain: Chain, describes: &'static str) -> Self {
        Self {
            chain: Some(Arc::new(Mutex::new(chain))),
            describes,
            location: None,
            directory: None,
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

    /// Where a new file of the log would be made, for a session that only tells what it would be
    /// ([`SessionBuilder::preview`](crate::SessionBuilder::preview)).
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The file of a log that will need further files beside it.
    pub(crate) fn grows_in(&self) -> Option<&Path> {
        let rotates = self.locked(|chain| chain.rotation != Rotation::default());
        self.location().filter(|_| rotates == Some(true))
    }

    /// TCP ports that the log's observers connect to.
    pub(crate) fn ports(&self) -> Vec<u16> {
        let ports = |chain: &mut Chain| {
            let observers = chain.observers.iter();
            observers.flat_map(|observer| observer.ports()).collect()
        };
        self.locked(ports).unwrap_or_default()
    }

    pub(crate) fn observed_by_all(&self, observers: Vec<Box<dyn AuditObserver>>) {
        self.locked(|chain| chain.observers.extend(observers));
    }

    /// The key that signs the log.
    pub(crate) fn key(&self) -> Option<AuditKey> {
        self.locked(|chain| chain.key.clone())?
    }

    /// The file of the key that signs the log.
    pub(crate) fn key_location(&self) -> Option<PathBuf> {
        self.locked(|chain| Some(chain.key.as_ref()?.location()?.to_owned()))?
    }

    /// How the log is kept, as its `genesis` and `rootbound check` tell it.
    pub(crate) fn describe_keeping(&self) -> Option<Value> {
        self.locked(|chain| {
            let mut described = json!({ "durability": chain.durability });
            if let Some(key) = &chain.key {
                described["public_key"] = key.public_key().to_string().into();
            }
            described
        })
    }

    /// When the log's file is put aside.
    #[must_use]
    pub fn rotation(&self) -> Rotation {
        self.locked(|chain| chain.rotation).unwrap_or_default()
    }

    /// The public half of the key that signs the log.
    #[must_use]
    pub fn public_key(&self) -> Option<AuditPublicKey> {
        self.locked(|chain| Some(chain.key.as_ref()?.public_key()))?
    }

    /// What the process before left undone, for the session that settles it.
    fn take_open(&self) -> Vec<OpenIntent> {
        self.locked(|chain| std::mem::take(&mut chain.open))
            .unwrap_or_default()
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

    /// Whether both are one log.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.chain, &other.chain) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Signs everything recorded so far, if there is a key, and makes it durable.
    pub(crate) fn close(&self) -> Result<(), CallError> {
        self.locked(Chain::close)
            .unwrap_or(Ok(()))
            .map_err(CallError::audit_unavailable)
    }

    /// Has what was recorded so far synced within a second, where it would wait for the first
    /// call: a thread does that, and a program may want to start none before it has confined
    /// itself.
    ///
    /// # Errors
    ///
    /// `audit-unavailable` when no thread can be started.
    pub fn keep_synced(&self) -> Result<(), CallError> {
        self.locked(|chain| chain.keep_synced())
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
    fn new(sink: Sink) -> Self {
        Self {
            sink,
            id: crate::random::hex::<16>(),
            next_seq: 0,
            prev: NO_PREVIOUS.to_owned(),
            rotation: Rotation::default(),
            key: None,
            unsigned: 0,
            genesis: None,
            repaired: None,
            open: Vec::new(),
            checkpoint: None,
            durability: Durability::Fast,
            observers: Vec::new(),
            mark: None,
            changing: HashSet::new(),
        }
    }

    /// The chain moves on only when the sink took the lines, so that a failed write can be
    /// tried again without a gap.
    fn append(&mut self, entries: Vec<Entry>) -> io::Result<()> {
        self.check_signature()?;
        // What starts a session comes before the kernel confines the process, and no other
        // thread may run by then.
        if entries[0].kind != EntryKind::Genesis {
            self.keep_synced()?;
        }
        let difference = left::difference(&entries);
        if let Some(mark) = &mut self.mark {
            mark.make_for(&entries)?;
        }
        let place = self.begin_file_when_due(&entries)?;
        self.announced(&entries);
        let ended = ended_calls(&entries);
        let appended = match &self.sink {
            Sink::File(_) => self.append_batch(entries, place),
            Sink::Other(_) => entries
                .into_iter()
                .try_for_each(|entry| self.append_batch(vec![entry], place)),
        };
        // A call has ended, whether that could be recorded or not.
        for call in ended {
            self.changing.remove(&call);
        }
        appended?;
        if let Some(mark) = &mut self.mark {
            mark.count(difference);
        }
        if self.unsigned >= CHECKPOINT_EVERY {
            // What was to be recorded is. A checkpoint that was not written is still due.
            let _ = self.checkpoint("interval");
        }
        Ok(())
    }

    /// Refuses to go on where somebody without the key wrote what it is said to have signed.
    fn check_signature(&mut self) -> io::Result<()> {
        if let (Some(checkpoint), Some(key)) = (&self.checkpoint, &self.key) {
            let key = key.public_key();
            let is_ours = checkpoint["public_key"] == key.to_string();
            if is_ours && !verify::is_signed(checkpoint, key) {
                let what = "its last checkpoint is not signed with the key that it names";
                return Err(Damage::error(what));
            }
        }
        self.checkpoint = None;
        Ok(())
    }

    fn append_batch(&mut self, mut entries: Vec<Entry>, place: Place) -> io::Result<()> {
        let genesis = self.note_genesis(&mut entries);
        let mut lines = Vec::with_capacity(entries.len() * USUAL_LINE);
        let mut prev = self.prev.clone();
        let mut seq = self.next_seq;
        for mut entry in entries {
            entry.seq = seq;
            entry.prev = prev;
            self.sign(&mut entry)?;
            prev = push_line(&mut lines, &entry)?;
            seq += 1;
        }
        let lines = String::from_utf8(lines).map_err(io::Error::other)?;
        self.sink.take(&lines, place)?;
        self.unsigned += seq - self.next_seq;
        self.prev = prev;
        self.next_seq = seq;
        if genesis.is_some() {
            self.genesis = genesis;
            self.repaired = None;
        }
        for observer in &self.observers {
            observer.recorded(&lines);
        }
        match self.durability {
            Durability::Full => self.sink.as_dyn().sync(),
            Durability::Fast => Ok(()),
        }
    }

    fn keep_synced(&self) -> io::Result<()> {
        match (&self.sink, self.durability) {
            (Sink::File(file), Durability::Fast) => file.keep_synced(),
            _ => Ok(()),
        }
    }

    /// Signs and syncs what was recorded, and lets those hear the end who look on.
    fn close(&mut self) -> io::Result<()> {
        let signed = self.checkpoint(CLOSED);
        let synced = self.sink.as_dyn().sync();
        for observer in &self.observers {
            observer.closed();
        }
        signed.and(synced)
    }

    /// The first `genesis` says what was found. Returns what the next file begins with.
    fn note_genesis(&self, entries: &mut [Entry]) -> Option<Entry> {
        let is_genesis = |entry: &&mut Entry| entry.kind == EntryKind::Genesis;
        let genesis = entries.iter_mut().find(is_genesis)?;
        let unrepaired = genesis.clone();
        if self.repaired.is_some() {
            genesis.reason = Some("repaired");
            genesis.repaired.clone_from(&self.repaired);
        }
        Some(unrepaired)
    }

    fn sign(&self, entry: &mut Entry) -> io::Result<()> {
        if let (EntryKind::Checkpoint, Some(key)) = (entry.kind, &self.key) {
            entry.public_key = Some(key.public_key().to_string());
            entry.signature = Some(key.sign(&serde_json::to_vec(&entry)?));
        }
        Ok(())
    }

    /// Signs what was recorded since the last checkpoint, if there is a key and anything to
    /// sign.
    fn checkpoint(&mut self, reason: &'static str) -> io::Result<()> {
        let Some(genesis) = self.genesis.as_ref().filter(|_| self.unsigned > 0) else {
            return Ok(());
        };
        if self.key.is_none() {
            return Ok(());
        }
        let mut entry = Entry::new(EntryKind::Checkpoint);
        entry.session.clone_from(&genesis.session);
        entry.log = Some(self.id.clone());
        entry.reason = Some(reason);
        self.append_batch(vec![entry], Place::End)?;
        self.unsigned = 0;
        Ok(())
    }

    fn announced(&mut self, entries: &[Entry]) {
        let intents = entries.iter();
        let intents = intents.filter(|entry| entry.kind == EntryKind::Intent);
        self.changing
            .extend(intents.filter_map(|intent| intent.call.clone()));
    }

    /// Has a full file put aside, but not while a call is changing something. The new one begins with a `genesis` in any case, in one step
    /// with its name: that of a session that starts, or that of the file before.
    fn begin_file_when_due(&mut self, entries: &[Entry]) -> io::Result<Place> {
        match &self.sink {
            Sink::File(file) if self.changing.is_empty() && file.is_full(self.rotation) => {
                self.checkpoint(ROTATED)?;
            }
            _ => return Ok(Place::End),
        }
        let starts = entries.first().map(|entry| entry.kind) == Some(EntryKind::Genesis);
        match self.genesis.clone() {
            Some(mut genesis) if !starts => {
                genesis.reason = Some(ROTATED);
                genesis.time = entry::now();
                self.append_batch(vec![genesis], Place::NewFile)?;
                Ok(Place::End)
            }
            _ => Ok(Place::NewFile),
        }
    }
}

impl Drop for Chain {
    /// The last who holds the log signs and syncs its end. Nobody is left to hear of a failure, but for
    /// those who verify.
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// The calls of which entries tell the end.
fn ended_calls(entries: &[Entry]) -> Vec<String> {
    let ends = entries.iter().filter(|entry| entry.kind == EntryKind::Call);
    ends.filter_map(|end| end.call.clone()).collect()
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
    if lines.len() - start > LONGEST_LINE {
        let why = "an entry would be too long";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(hash)
}
