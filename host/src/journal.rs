//! What a session has put on the disk under a name that must not outlive the process.
//!
//! Temporary names and directories made for a call are noted here before they are made.
//! The file lies outside every root and is locked while the session lives; the next start
//! clears what the journals of dead processes still list, without walking any tree.
//!
//! The journal is for processes that are killed. It is not synced: after a power cut it may
//! be older than what it should list.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, FlockOperation};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::ambient;
use crate::random;
use crate::transaction::is_temporary_name;
use crate::walk::{self, ObjectId};

/// Journals grow to at most this before they are started over, when nothing is open.
const MAX_BYTES: u64 = 1 << 16;
/// How often a journal is begun anew because another process's start took it for a dead
/// one's, in the instant before it was locked.
const CREATE_RETRIES: usize = 16;
/// What a line begins with when it is struck out: no JSON does.
const STRUCK: &[u8] = b"#";

/// What may be left behind: one line of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    /// Path of the directory when the note was made. It is only tried; device and inode
    /// decide.
    directory: OsString,
    device: u64,
    inode: u64,
    name: String,
    /// Device and inode of a directory that was made; a temporary name needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<(u64, u64)>,
}

/// The journal of one session. Its file is made when there is something to note.
pub(crate) struct Journal {
    directory: Option<PathBuf>,
    pages: Mutex<Option<Pages>>,
}

/// The file of a journal.
struct Pages {
    file: File,
    /// Where the next line goes.
    end: u64,
    open: u64,
    /// Lines that are over and could not be struck out yet.
    late: Vec<u64>,
}

/// A note, which is struck out when it is dropped.
#[derive(Debug)]
pub(crate) struct Noted(Option<(Arc<Journal>, u64)>);

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

impl Journal {
    /// A journal below the state directory. Without one nothing is noted, and a process
    /// that is killed may leave names behind; the same holds where it may not be written.
    pub(crate) fn new(state: Option<&Path>) -> Arc<Self> {
        Arc::new(Self {
            directory: state.map(staging),
            pages: Mutex::new(None),
        })
    }

    /// Notes a temporary name that is about to be made in a directory.
    ///
    /// # Errors
    ///
    /// When the note cannot be written; the name must then not be made.
    pub(crate) fn note_temporary(
        self: &Arc<Self>,
        directory: BorrowedFd<'_>,
        name: &str,
    ) -> io::Result<Noted> {
        self.note(directory, name, None)
    }

    /// Notes a directory that is about to get its `name`.
    pub(crate) fn note_directory(
        self: &Arc<Self>,
        directory: BorrowedFd<'_>,
        name: &str,
        made: ObjectId,
    ) -> io::Result<Noted> {
        self.note(directory, name, Some((made.device, made.inode)))
    }

    fn note(
        self: &Arc<Self>,
        directory: BorrowedFd<'_>,
        name: &str,
        made: Option<(u64, u64)>,
    ) -> io::Result<Noted> {
        let mut pages = self.locked();
        let Some(pages) = self.opened(&mut pages)? else {
            return Ok(Noted(None));
        };
        let path = match path_of(directory) {
            Ok(path) => path,
            // Without `/proc` there is nothing to find the place by.
            Err(Errno::NOENT | Errno::ACCESS) => return Ok(Noted(None)),
            Err(errno) => return Err(errno.into()),
        };
        let id = ObjectId::of(&rustix::fs::fstat(directory)?);
        let note = Note {
            directory: path,
            device: id.device,
            inode: id.inode,
            name: name.to_owned(),
            made,
        };
        let at = pages.begin(&note)?;
        Ok(Noted(Some((Arc::clone(self), at))))
    }

    fn locked(&self) -> MutexGuard<'_, Option<Pages>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened<'a>(&self, pages: &'a mut Option<Pages>) -> io::Result<Option<&'a mut Pages>> {
        if pages.is_none()
            && let Some(directory) = &self.directory
        {
            match Pages::create(directory) {
                Ok(created) => *pages = Some(created),
                Err(error) if is_no_place(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pages.as_mut())
    }
}

fn staging(state: &Path) -> PathBuf {
    state.join("staging")
}

fn path_of(directory: BorrowedFd<'_>) -> Result<OsString, Errno> {
    let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let path = rustix::fs::readlinkat(rustix::fs::CWD, link, Vec::new())?;
    Ok(OsString::from_vec(path.into_bytes()))
}

/// Whether a journal cannot be kept here at all: the operator has closed the state
/// directory to this process, or its file system has no locks.
fn is_no_place(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(
            Errno::ACCESS
                | Errno::PERM
                | Errno::ROFS
                | Errno::NOTDIR
                | Errno::NOLCK
                | Errno::OPNOTSUPP
                | Errno::NOSYS
        )
    )
}

impl Pages {
    fn create(directory: &Path) -> io::Result<Self> {
        ambient::create_private_directory(directory)?;
        for _ in 0..CREATE_RETRIES {
            let path = directory.join(format!("{}.journal", random::hex::<16>()));
            let file = ambient::create_private_file(&path)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Another process's start is about to clear it.
                Err(Errno::WOULDBLOCK) => continue,
                Err(error) => {
                    let _ = ambient::remove_file(&path);
                    return Err(error.into());
                }
                Ok(()) => {}
            }
            if rustix::fs::fstat(&file)?.st_nlink > 0 {
                return Ok(Self {
                    file,
                    end: 0,
                    open: 0,
                    late: Vec::new(),
                });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Writes a note and returns where it stands. What a failed write leaves of a line is
    /// written over by the next.
    fn begin(&mut self, note: &Note) -> io::Result<u64> {
        self.strike_late();
        let mut line = serde_json::to_vec(note)?;
        line.push(b'\n');
        let at = self.end;
        self.file.write_all_at(&line, at)?;
        self.end += line.len() as u64;
        self.open += 1;
        Ok(at)
    }

    /// Strikes a note out where it stands, which needs no room on a full disk.
    fn strike(&mut self, at: u64) -> io::Result<()> {
        self.strike_late();
        self.file.write_all_at(STRUCK, at)?;
        self.open = self.open.saturating_sub(1);
        if self.open == 0 && self.end > MAX_BYTES && self.file.set_len(0).is_ok() {
            self.end = 0;
        }
        Ok(())
    }

    fn strike_late(&mut self) {
        let late = std::mem::take(&mut self.late);
        let file = &self.file;
        let (still_late, struck): (Vec<u64>, Vec<u64>) = late
            .into_iter()
            .partition(|at| file.write_all_at(STRUCK, *at).is_err());
        self.late = still_late;
        self.open = self.open.saturating_sub(struck.len() as u64);
    }
}

impl Noted {
    /// Strikes the note out now.
    ///
    /// # Errors
    ///
    /// When it still stands. The next start would clear what it lists.
    pub(crate) fn strike(&mut self) -> io::Result<()> {
        if let Some((journal, at)) = &self.0 {
            if let Some(pages) = &mut *journal.locked() {
                pages.strike(*at)?;
            }
            self.0 = None;
        }
        Ok(())
    }

    /// Lets the note stand: what it lists is still there, and the next start clears it.
    pub(crate) fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if self.strike().is_err()
            && let Some((journal, at)) = &self.0
            && let Some(pages) = &mut *journal.locked()
        {
            pages.late.push(*at);
        }
    }
}

/// Clears what dead processes left, and forgets their journals. Called once at start.
pub(crate) fn clear_leftovers(state: Option<&Path>) {
    let Some(directory) = state.map(staging) else {
        return;
    };
    let Ok(names) = ambient::file_names(&directory) else {
        return;
    };
    for name in names.iter().filter(|name| name.ends_with(".journal")) {
        let path = directory.join(name);
        // The lock is held to the end, so that two starts do not clear the same.
        if let Some((_lock, notes)) = notes_of_the_dead(&path) {
            // The last made comes first, so that a directory is empty when its turn comes.
            let cleared = notes.iter().rev().filter(|note| note.clear()).count();
            if cleared == notes.len() {
                let _ = ambient::remove_file(&path);
            }
        }
    }
}

/// The open notes of a journal whose process is gone; `None` while it lives.
fn notes_of_the_dead(path: &Path) -> Option<(File, Vec<Note>)> {
    let mut file = ambient::open_private_file(path).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    if rustix::fs::fstat(&file).ok()?.st_nlink == 0 {
        return None;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    // A line that is struck out, or that a killed process did not finish, is no note. What
    // an unfinished one was to list was not made.
    let notes = bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    Some((file, notes))
}

impl Note {
    /// Removes what the note lists, if it is still that. Answers whether there is nothing
    /// left to do; what cannot be removed now is tried again at the next start.
    fn clear(&self) -> bool {
        match ambient::open_ambient_directory(Path::new(&self.directory)) {
            Ok((directory, id)) if (id.device, id.inode) == (self.device, self.inode) => {
                self.clear_in(&directory)
            }
            Ok(_) => true,
            Err(error) => is_gone(walk::errno_of(error)),
        }
    }

    fn clear_in(&self, directory: &OwnedFd) -> bool {
        let stat = match walk::look(directory.as_fd(), &self.name) {
            Ok(stat) => stat,
            Err(errno) => return is_gone(errno),
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
        if !ours {
            return true;
        }
        match rustix::fs::unlinkat(directory, &self.name, flags) {
            // A directory that is in use by now stays.
            Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST) => true,
            Err(errno) => is_gone(errno),
        }
    }
}

fn is_gone(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR)
}
