//! What a process has put on the disk under a name that must not outlive the process.
//!
//! Temporary names and directories made for a call are noted here before they are made.
//! The file lies outside every root and is locked while the process lives; the next start
//! clears what the journals of dead processes still list, without walking any tree.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::{AtFlags, FlockOperation};
use serde::{Deserialize, Serialize};

use crate::ambient;
use crate::random;
use crate::transaction::is_temporary_name;
use crate::walk::{self, ObjectId};

/// Journals grow to at most this before they are started over, when nothing is open.
const MAX_BYTES: u64 = 1 << 16;

/// One line: something was begun, is known better, or is over.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Note>,
}

/// What may be left behind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    /// Path of the directory when the note was made. It is only tried; device and inode
    /// decide.
    directory: PathBuf,
    device: u64,
    inode: u64,
    name: String,
    /// The inode of a directory that was made; a temporary name needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<(u64, u64)>,
}

/// A note that is struck out when it is dropped.
#[derive(Debug)]
pub(crate) struct Noted(Option<u64>);

struct Journal {
    file: File,
    next: u64,
    open: u64,
    bytes: u64,
}

static JOURNAL: OnceLock<Option<Mutex<Journal>>> = OnceLock::new();

/// Notes a temporary name that is about to be made in a directory. Where there is no state
/// directory nothing is noted, and a process that is killed may leave the name behind.
pub(crate) fn note_temporary(directory: BorrowedFd<'_>, name: &str) -> io::Result<Noted> {
    note(directory, name, None)
}

/// Notes a directory that was made under `name`.
pub(crate) fn note_directory(
    directory: BorrowedFd<'_>,
    name: &str,
    made: ObjectId,
) -> io::Result<Noted> {
    note(directory, name, Some((made.device, made.inode)))
}

fn note(directory: BorrowedFd<'_>, name: &str, made: Option<(u64, u64)>) -> io::Result<Noted> {
    let Some(journal) = journal() else {
        return Ok(Noted(None));
    };
    let Ok(path) = rustix::fs::readlinkat(
        rustix::fs::CWD,
        format!("/proc/self/fd/{}", directory.as_raw_fd()),
        Vec::new(),
    ) else {
        // Without `/proc` there is nothing to find the place by.
        return Ok(Noted(None));
    };
    let id = ObjectId::of(&rustix::fs::fstat(directory)?);
    let Ok(path) = path.into_string() else {
        return Ok(Noted(None));
    };
    let note = Note {
        directory: path.into(),
        device: id.device,
        inode: id.inode,
        name: name.to_owned(),
        made,
    };
    let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
    journal.begin(note).map(|id| Noted(Some(id)))
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let (Some(id), Some(journal)) = (self.0, journal()) {
            journal
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .end(id);
        }
    }
}

fn journal() -> Option<&'static Mutex<Journal>> {
    JOURNAL
        .get_or_init(|| {
            let directory = directory()?;
            Journal::create(&directory).ok().map(Mutex::new)
        })
        .as_ref()
}

fn directory() -> Option<PathBuf> {
    Some(ambient::state_directory()?.join("staging"))
}

impl Journal {
    fn create(directory: &Path) -> io::Result<Self> {
        ambient::create_private_directory(directory)?;
        let file = ambient::open_private_append(
            &directory.join(format!("{}.journal", random::hex::<16>())),
        )?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self {
            file,
            next: 0,
            open: 0,
            bytes: 0,
        })
    }

    fn begin(&mut self, note: Note) -> io::Result<u64> {
        self.next += 1;
        let line = Line {
            id: self.next,
            note: Some(note),
        };
        self.write(&line)?;
        self.open += 1;
        Ok(self.next)
    }

    /// A line that cannot be written leaves the note standing; clearing looks before it
    /// removes.
    fn end(&mut self, id: u64) {
        self.open = self.open.saturating_sub(1);
        if self.open == 0 && self.bytes > MAX_BYTES && self.file.set_len(0).is_ok() {
            self.bytes = 0;
            return;
        }
        let _ = self.write(&Line { id, note: None });
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }
}

/// Clears what dead processes left, and forgets their journals. Called once at start.
pub(crate) fn clear_leftovers() {
    let Some(directory) = directory() else { return };
    let Ok(names) = ambient::file_names(&directory) else {
        return;
    };
    for name in names.iter().filter(|name| name.ends_with(".journal")) {
        let path = directory.join(name);
        if let Some(notes) = notes_of_the_dead(&path) {
            // The last made comes first, so that a directory is empty when its turn comes.
            notes.iter().rev().for_each(Note::clear);
            let _ = ambient::remove_file(&path);
        }
    }
}

/// The open notes of a journal whose process is gone; `None` while it lives.
fn notes_of_the_dead(path: &Path) -> Option<Vec<Note>> {
    let mut file = ambient::open_private_append(path).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_to_string(&mut text).ok()?;
    let mut open = BTreeMap::new();
    for line in text.lines() {
        // The last line of a killed process may be cut off; what it was to begin was not.
        let Ok(line) = serde_json::from_str::<Line>(line) else {
            continue;
        };
        match line.note {
            Some(note) => {
                open.insert(line.id, note);
            }
            None => {
                open.remove(&line.id);
            }
        }
    }
    Some(open.into_values().collect())
}

impl Note {
    fn clear(&self) {
        let Ok((directory, id)) = ambient::open_ambient_directory(&self.directory) else {
            return;
        };
        if (id.device, id.inode) == (self.device, self.inode) {
            self.clear_in(&directory);
        }
    }

    fn clear_in(&self, directory: &OwnedFd) {
        let Ok(stat) = walk::look(directory.as_fd(), &self.name) else {
            return;
        };
        let is_directory = walk::Kind::of(&stat) == walk::Kind::Directory;
        let flags = if is_directory {
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        let ours = match self.made {
            Some(made) => is_directory && made == (stat.st_dev, stat.st_ino),
            None => is_temporary_name(&self.name),
        };
        if ours {
            let _ = rustix::fs::unlinkat(directory, &self.name, flags);
        }
    }
}
