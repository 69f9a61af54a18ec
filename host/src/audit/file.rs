//! Audit logs in files and on the standard error stream.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::FlockOperation;
use sha2::{Digest, Sha256};

use super::AuditSink;
use crate::ambient;

/// How long a second process waits for the first to let go of the log.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// Longest entry that the reader of a tail looks back for.
const MAX_LINE: u64 = 1 << 20;

/// The last entry of a log that is continued.
pub(super) struct Tail {
    pub(super) seq: u64,
    pub(super) hash: String,
}

/// A file that only grows, locked while this process runs.
pub(super) struct FileSink {
    file: File,
    /// Where the last whole line ends, while half a line that could not be taken back
    /// stands behind it.
    torn: Mutex<Option<u64>>,
}

impl FileSink {
    pub(super) fn open(path: &Path) -> io::Result<(Self, Option<Tail>)> {
        let mut file = ambient::open_private_append(path)?;
        lock(&file)?;
        let tail = read_tail(&mut file)?;
        let torn = Mutex::new(None);
        Ok((Self { file, torn }, tail))
    }
}

impl AuditSink for FileSink {
    fn append(&self, lines: &str) -> io::Result<()> {
        let mut torn = self.torn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(end) = *torn {
            self.file.set_len(end)?;
            *torn = None;
        }
        let metadata = rustix::fs::fstat(&self.file)?;
        if metadata.st_nlink == 0 {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the file was removed",
            ));
        }
        let before = metadata.st_size as u64;
        (&self.file).write_all(lines.as_bytes()).inspect_err(|_| {
            // Half a line would break the chain for good; what was there before is whole.
            if self.file.set_len(before).is_err() {
                *torn = Some(before);
            }
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn lock(file: &File) -> io::Result<()> {
    let give_up = Instant::now() + LOCK_PATIENCE;
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < give_up => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(io::Error::new(
                    io::ErrorKind::WouldBlock,
                    "another process is writing to it",
                ));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Finds where the chain continues. A log that does not end in a whole, valid entry is not
/// continued: appending to it would hide that something is wrong.
fn read_tail(file: &mut File) -> io::Result<Option<Tail>> {
    let size = file.seek(SeekFrom::End(0))?;
    if size == 0 {
        return Ok(None);
    }
    let start = size.saturating_sub(MAX_LINE);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(MAX_LINE).read_to_end(&mut bytes)?;
    let damaged = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "its last line is not a whole entry; keep it and name a new file",
        )
    };
    let text = bytes.strip_suffix(b"\n").ok_or_else(damaged)?;
    let line = text.rsplit(|byte| *byte == b'\n').next().unwrap_or(text);
    let line = std::str::from_utf8(line).map_err(|_| damaged())?;
    verify_line(line).ok_or_else(damaged).map(Some)
}

/// Recomputes a line's hash. Our own lines carry it last.
fn verify_line(line: &str) -> Option<Tail> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let hash = value.get("hash")?.as_str()?;
    let suffix = format!(",\"hash\":\"{hash}\"}}");
    let canonical = format!("{}}}", line.strip_suffix(&suffix)?);
    (crate::random::hex_of(&Sha256::digest(canonical.as_bytes())) == hash).then_some(Tail {
        seq: value.get("seq")?.as_u64()?,
        hash: hash.to_owned(),
    })
}

/// A name that sorts by time and is not used twice.
pub(super) fn new_path(state: Option<&Path>) -> io::Result<PathBuf> {
    let state = state.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "neither XDG_STATE_HOME nor HOME is an absolute path; name a file with `--audit FILE`",
        )
    })?;
    let directory = state.join("audit");
    ambient::create_private_directory(&directory)?;
    let time = humantime::format_rfc3339_micros(SystemTime::now())
        .to_string()
        .replace([':', '-', '.'], "");
    Ok(directory.join(format!("{time}-{}.jsonl", crate::random::hex::<8>())))
}

/// The standard error stream of the process.
pub(super) struct StderrSink;

impl AuditSink for StderrSink {
    fn append(&self, lines: &str) -> io::Result<()> {
        io::stderr().lock().write_all(lines.as_bytes())
    }
}
