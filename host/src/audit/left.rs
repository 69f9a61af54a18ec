//! Logs of processes that were killed while they changed something, where each process has a
//! log of its own: the next start on the same state directory settles them.
//!
//! A process makes a mark before its first change, and takes it away at its end. Whoever starts
//! looks at the logs of which there are marks, and at no others.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::file::{self, FileSink};
use super::intents::OpenIntent;
use super::tail::VERIFIED_OF_MANY;
use super::{AuditKey, AuditLog, Entry, EntryKind, settle};
use crate::ambient;
use crate::roots::Roots;

/// Marked logs that one start looks at, the newest: each takes reading its end.
const MOST: usize = 64;

/// A file that has the name of a log in which there may be a change without its outcome.
#[derive(Debug)]
pub(super) struct Mark {
    path: PathBuf,
    stands: bool,
    /// Changes whose outcome is not recorded yet.
    open: i64,
}

impl Mark {
    /// The mark of a log, which is made when there is something to change.
    pub(super) fn of(log: &Path, state: &Path) -> Self {
        let name = log.file_name().unwrap_or_default();
        Self {
            path: marks(state).join(name),
            stands: false,
            open: 0,
        }
    }

    /// Makes the mark before a change is announced.
    pub(super) fn make_for(&mut self, entries: &[Entry]) -> io::Result<()> {
        let announces = |entry: &Entry| entry.kind == EntryKind::Intent;
        if !self.stands && entries.iter().any(announces) {
            ambient::create_private_directory(ambient::directory_of(&self.path))?;
            ambient::create_private_file(&self.path)?;
            self.stands = true;
        }
        Ok(())
    }

    /// Counts what was announced and what was done, once that is recorded.
    pub(super) fn count(&mut self, difference: i64) {
        self.open += difference;
    }
}

/// By how many the changes without an outcome grow. A directory that is taken back has one
/// already.
pub(super) fn difference(entries: &[Entry]) -> i64 {
    let of = |entry: &Entry| match entry.kind {
        EntryKind::Intent => 1,
        EntryKind::Outcome if entry.outcome != Some("rolled-back") => -1,
        _ => 0,
    };
    entries.iter().map(of).sum()
}

impl Drop for Mark {
    fn drop(&mut self) {
        if self.stands && self.open == 0 {
            let _ = ambient::remove_file(&self.path);
        }
    }
}

fn marks(state: &Path) -> PathBuf {
    state.join("unsettled")
}

/// Who settles: what is granted, and what begins and signs the part of the log that it writes.
pub(crate) struct Settler<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) genesis: &'a Entry,
    pub(crate) key: Option<AuditKey>,
}

/// Settles what processes left that are gone. What cannot be settled now, since its directory is
/// not granted or its log cannot be written, is left for a later start.
pub(crate) fn settle_what_is_left(state: Option<&Path>, settler: &Settler<'_>) {
    let Some(state) = state else {
        return;
    };
    let Ok(mut names) = ambient::file_names(&marks(state)) else {
        return;
    };
    names.sort_unstable();
    for name in names.iter().rev().take(MOST) {
        let log = file::directory(state).join(name);
        if settler.is_done_with(&log).unwrap_or(false) {
            let _ = ambient::remove_file(&marks(state).join(name));
        }
    }
}

impl Settler<'_> {
    /// Whether nothing is left to be settled in a log.
    fn is_done_with(&self, path: &Path) -> io::Result<bool> {
        match ambient::open_private_file(path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        }
        // Whoever lives has it locked.
        let (sink, tail) = FileSink::open(path, Duration::ZERO, VERIFIED_OF_MANY)?;
        let mut log = AuditLog::continued(path, sink, tail);
        let open = log.take_open();
        let (here, elsewhere): (Vec<_>, Vec<_>) = open
            .into_iter()
            .partition(|open| settle::is_granted(open, self.roots));
        if let Some(first) = here.first() {
            if let Some(key) = self.key_of(first) {
                log = log.signed_by(key.clone());
            }
            let mut genesis = self.genesis.clone();
            genesis.log = log.id();
            let mut entries = vec![genesis];
            entries.extend(
                here.iter()
                    .filter_map(|open| settle::settle(open, self.roots)),
            );
            for entry in &mut entries {
                entry.session.clone_from(&self.genesis.session);
            }
            log.append(entries)
                .and_then(|()| log.close())
                .map_err(io::Error::other)?;
        }
        Ok(elsewhere.is_empty())
    }

    /// The key that signs, if it has signed the log before: another signature would spoil it for
    /// whoever verifies it with that key.
    fn key_of(&self, open: &OpenIntent) -> Option<&AuditKey> {
        let signer = &open.genesis.as_ref()?["audit"]["public_key"];
        let key = self.key.as_ref()?;
        (*signer == key.public_key().to_string()).then_some(key)
    }
}
