//! Audit logs in files and on the standard error stream.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, FlockOperation, Stat};
use rustix::io::Errno;
use serde_json::Value;

use super::flush::{Flusher, LogFile};
use super::tail::Tail;
use super::{AuditFault, AuditSink, Damage, LONGEST_LINE};
use crate::ambient;
use crate::policy::LimitError;
use crate::walk::ObjectId;

/// How long a second process waits for the first to let go of the log.
pub(super) const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// What stands before the digits of a file that is to take the log's name.
const BEGUN: &str = "new-";
/// How long whoever reads the standard error stream may leave its pipe full.
const PIPE_PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait before a full pipe is tried again.
const PIPE_PAUSE: Duration = Duration::from_millis(10);

/// When a log file is put aside for a new one. The chain goes on in the new file, whose
/// first entry is a `genesis`; the old one is kept as `FILE.1`, `FILE.2` and so on, the
/// oldest first.
///
/// The default is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// Bytes after which a file takes no further entries. It ends up larger by what one call
    /// records at a time, and by what is recorded until no call is changing something: a change
    /// and what became of it stand in one file.
    pub max_bytes: Option<u64>,
    /// Age of a file's first entry after which it takes no further ones.
    pub max_age: Option<Duration>,
}

impl Rotation {
    /// Whether a file takes any entry before it is put aside.
    ///
    /// # Errors
    ///
    /// When one of the bounds is 0.
    pub fn check(self) -> Result<(), LimitError> {
        let limit = match self {
            Self {
                max_bytes: Some(0), ..
            } => "audit_max_bytes",
            Self {
                max_age: Some(age), ..
            } if age.is_zero() => "audit_max_age",
            _ => return Ok(()),
        };
        Err(LimitError { limit })
    }

    fn is_due(self, bytes: u64, age: Duration) -> bool {
        self.max_bytes.is_some_and(|most| bytes >= most)
            || self.max_age.is_some_and(|most| age >= most)
    }
}

/// A file that only grows, locked while this process runs.
pub(super) struct FileSink {
    place: Place,
    open: Mutex<Open>,
    flusher: Flusher,
}

/// Where the file stands, whatever becomes of the working directory.
struct Place {
    /// From the root directory on: a directory above the file that is renamed takes the file away
    /// from whoever looks for it.
    path: PathBuf,
    directory: Arc<File>,
}

/// The file that takes the entries now.
struct Open {
    log: Arc<LogFile>,
    id: ObjectId,
    /// Its length as this process left it.
    bytes: u64,
    /// When its first entry was written.
    since: SystemTime,
    /// Where the last whole line ends, while half a line that was not taken back yet stands
    /// behind it.
    torn: Option<u64>,
}

impl FileSink {
    /// Opens a log that no other process writes to, or none any more within `patience`, and whose
    /// last `verified` bytes are whole.
    pub(super) fn open(path: &Path, patience: Duration, verified: u64) -> io::Result<(Self, Tail)> {
        let mut file = open_locked(path, patience)?;
        let tail = read_tail(&mut file, verified)?;
        if tail.whole > 0 {
            mend(path, &file)?;
        }
        let place = Place::of(path)?;
        let open = Open {
            since: first_time(&mut file)?.unwrap_or_else(SystemTime::now),
            bytes: tail.whole,
            torn: tail.torn.as_ref().map(|_| tail.whole),
            id: ObjectId::of(&rustix::fs::fstat(&file)?),
            log: Arc::new(LogFile::new(file, Arc::clone(&place.directory))),
        };
        let sink = Self {
            place,
            open: Mutex::new(open),
            flusher: Flusher::default(),
        };
        Ok((sink, tail))
    }

    /// Has whatever is written synced within a second from now on, by a thread.
    pub(super) fn keep_synced(&self) -> io::Result<()> {
        self.flusher.start()
    }

    fn locked(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the next entry belongs into a new file. An empty one is new.
    pub(super) fn is_full(&self, rotation: Rotation) -> bool {
        let open = self.locked();
        let age = open.since.elapsed().unwrap_or_default();
        open.bytes > 0 && rotation.is_due(open.bytes, age)
    }

    /// Puts the file aside and begins a new one under its name, with these lines. At no moment
    /// is there no file of that name, or one that does not go on where the other ended.
    pub(super) fn rotate(&self, lines: &str) -> io::Result<()> {
        self.flusher.sync()?;
        let mut open = self.locked();
        open.check(&self.place)?;
        let path = &self.place.path;
        put_aside(path, &open.log.file)?;
        // No number, which it would be left with by a process that is killed here.
        let temporary = with_suffix(path, &format!("{BEGUN}{}", crate::random::hex::<8>()));
        let begun = self.begin(&temporary, lines).inspect_err(|_| {
            let _ = ambient::remove_file(&temporary);
        });
        *open = begun?;
        self.flusher.note(&open.log);
        Ok(())
    }

    fn begin(&self, temporary: &Path, lines: &str) -> io::Result<Open> {
        let file = ambient::open_private_append(temporary)?;
        lock(&file, LOCK_PATIENCE)?;
        (&file).write_all(lines.as_bytes())?;
        ambient::rename_file(temporary, &self.place.path)?;
        Ok(Open {
            id: ObjectId::of(&rustix::fs::fstat(&file)?),
            log: Arc::new(LogFile::new(file, Arc::clone(&self.place.directory))),
            bytes: lines.len() as u64,
            since: SystemTime::now(),
            torn: None,
        })
    }
}

impl AuditSink for FileSink {
    fn append(&self, lines: &str) -> io::Result<()> {
        self.flusher.check()?;
        let mut open = self.locked();
        open.append(&self.place, lines)?;
        self.flusher.note(&open.log);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.flusher.sync()
    }
}

impl Open {
    fn append(&mut self, place: &Place, lines: &str) -> io::Result<()> {
        let before = self.check(place)?;
        let mut file = &self.log.file;
        let written = file.write_all(lines.as_bytes());
        // Half a line would break the chain for good; what was there before is whole.
        if written.is_err() && file.set_len(before).is_err() {
            self.torn = Some(before);
        }
        written?;
        self.bytes = before + lines.len() as u64;
        Ok(())
    }

    /// Refuses a file that is not as this process left it, under its name. Returns its length.
    fn check(&mut self, place: &Place) -> io::Result<u64> {
        if let Some(end) = self.torn {
            self.log.file.set_len(end)?;
            self.torn = None;
        }
        match self.check_place(place)? {
            bytes if bytes == self.bytes => Ok(bytes),
            _ => Err(Damage::error("another program cut it off or wrote to it")),
        }
    }

    /// Refuses a file that nobody will find under its name. Returns its length.
    fn check_place(&self, place: &Place) -> io::Result<u64> {
        let why = match place.look() {
            Ok(stat) if ObjectId::of(&stat) == self.id => return Ok(stat.st_size as u64),
            Ok(_) => "another file has its name",
            Err(Errno::NOENT) => "the file was removed",
            Err(errno) => return Err(errno.into()),
        };
        Err(io::Error::new(io::ErrorKind::NotFound, why))
    }
}

impl Place {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: std::path::absolute(path)?,
            directory: Arc::new(ambient::open_directory_of(path)?),
        })
    }

    fn look(&self) -> Result<Stat, Errno> {
        rustix::fs::statat(rustix::fs::CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW)
    }
}

impl Drop for FileSink {
    /// The thread may be at work on the file, and would keep it locked as long.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.locked().log.file, FlockOperation::Unlock);
    }
}

/// Reads the end of a log as [`FileSink::open`] does, and changes nothing.
pub(super) fn look_at(path: &Path, patience: Duration, verified: u64) -> io::Result<Tail> {
    let mut file = ambient::open_existing_append(path)?;
    lock(&file, patience)?;
    read_tail(&mut file, verified)
}

fn read_tail(file: &mut File, verified: u64) -> io::Result<Tail> {
    Tail::read_last(verified, file).map_err(|fault| match fault {
        AuditFault::Unreadable(error) => error,
        fault => Damage::error(fault),
    })
}

/// Opens the file that has this name once it is locked: while this process waited, another
/// may have put it aside.
fn open_locked(path: &Path, patience: Duration) -> io::Result<File> {
    loop {
        let file = ambient::open_private_append(path)?;
        lock(&file, patience)?;
        if ambient::is_still(path, &file)? {
            return Ok(file);
        }
    }
}

fn lock(file: &File, patience: Duration) -> io::Result<()> {
    let give_up = Instant::now() + patience;
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

/// Gives a full file the next free name. A process that was killed in between may have done
/// so already.
fn put_aside(path: &Path, file: &File) -> io::Result<()> {
    let last = last_number(path)?;
    if last > 0 && ambient::is_still(&with_suffix(path, &last.to_string()), file)? {
        return Ok(());
    }
    ambient::link_file(path, &with_suffix(path, &(last + 1).to_string()))
}

/// Undoes what a process had begun that was killed while it put the file aside: the file has two
/// names then, and there may be a new one that nobody knows. Nobody else is at it, since the
/// file is locked.
fn mend(path: &Path, file: &File) -> io::Result<()> {
    let names = ambient::file_names(ambient::directory_of(path))?;
    for suffix in names.iter().filter_map(|name| suffix_of(path, name)) {
        let other = with_suffix(path, suffix);
        let is_second_name = suffix.parse::<u64>().is_ok() && ambient::is_still(&other, file)?;
        if is_second_name || is_begun(suffix) {
            ambient::remove_file(&other)?;
        }
    }
    Ok(())
}

/// Whether a new file got this suffix, before it was to take the log's name.
fn is_begun(suffix: &str) -> bool {
    let digits = suffix.strip_prefix(BEGUN);
    digits.is_some_and(|digits| {
        digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// What stands behind a log's name and a dot.
fn suffix_of<'a>(path: &Path, name: &'a str) -> Option<&'a str> {
    let log = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(&*log)?.strip_prefix('.')
}

/// The highest number that a file which was put aside has.
fn last_number(path: &Path) -> io::Result<u64> {
    let number = |other: &String| suffix_of(path, other)?.parse::<u64>().ok();
    let names = ambient::file_names(ambient::directory_of(path))?;
    Ok(names.iter().filter_map(number).max().unwrap_or(0))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// When the first entry of a file was written, if it says so.
fn first_time(file: &mut File) -> io::Result<Option<SystemTime>> {
    file.rewind()?;
    let mut line = Vec::new();
    BufReader::new(file.take(LONGEST_LINE as u64)).read_until(b'\n', &mut line)?;
    let entry: Value = serde_json::from_slice(&line).unwrap_or_default();
    let time = entry["time"].as_str();
    Ok(time.and_then(|time| humantime::parse_rfc3339(time).ok()))
}

/// Where logs are below a state directory.
pub(super) fn directory(state: &Path) -> PathBuf {
    state.join("audit")
}

/// The same, where there has to be one.
pub(super) fn directory_in(state: Option<&Path>) -> io::Result<PathBuf> {
    let nowhere = || {
        io::Error::new(
            io::ErrorKind::NotFound,
            "neither XDG_STATE_HOME nor HOME is an absolute path; name a file with `--audit FILE`",
        )
    };
    state.map(directory).ok_or_else(nowhere)
}

/// A name that sorts by time and is not used twice.
pub(super) fn new_path(state: Option<&Path>) -> io::Result<PathBuf> {
    let directory = directory_in(state)?;
    ambient::create_private_directory(&directory)?;
    let time = super::entry::now().replace([':', '-', '.'], "");
    Ok(directory.join(format!("{time}-{}.jsonl", crate::random::hex::<8>())))
}

/// The standard error stream of the process.
pub(super) struct StderrSink {
    /// The stream again where it is a pipe: opened anew, so that a write does not wait and
    /// nothing changes for other programs that write to it.
    pipe: Option<File>,
    /// Whether it is the device that keeps nothing: also where the program was started without
    /// the stream, since Rust's runtime opens that one in its place.
    keeps_nothing: bool,
    /// Whether half a line stands in the pipe. Nothing can follow it.
    is_torn: AtomicBool,
}

impl StderrSink {
    pub(super) fn new() -> Self {
        Self {
            pipe: ambient::reopen_error_pipe(),
            keeps_nothing: ambient::error_stream_keeps_nothing(),
            is_torn: AtomicBool::new(false),
        }
    }

    /// Writes to a pipe for as long as its reader has patience. Up to 4,096 bytes it takes
    /// wholly or not at all (pipe(7)).
    fn append_to(&self, mut pipe: &File, lines: &[u8]) -> io::Result<()> {
        if self.is_torn.load(Ordering::Acquire) {
            return Err(io::Error::other("half a line stands in the pipe"));
        }
        let give_up = Instant::now() + PIPE_PATIENCE;
        let mut written = 0;
        while written < lines.len() {
            match pipe.write(&lines[written..]) {
                Ok(bytes) => written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < give_up =>
                {
                    std::thread::sleep(PIPE_PAUSE);
                }
                Err(error) => {
                    self.is_torn.fetch_or(written > 0, Ordering::AcqRel);
                    return Err(match error.kind() {
                        io::ErrorKind::WouldBlock => io::Error::new(
                            io::ErrorKind::TimedOut,
                            "nobody reads the standard error stream",
                        ),
                        _ => error,
                    });
                }
            }
        }
        Ok(())
    }
}

impl AuditSink for StderrSink {
    fn append(&self, lines: &str) -> io::Result<()> {
        match &self.pipe {
            Some(pipe) => self.append_to(pipe, lines.as_bytes()),
            None if self.keeps_nothing => Err(io::Error::other(
                "the standard error stream is closed or `/dev/null`, which keeps nothing; `--audit none` says that no log is wanted",
            )),
            None => ambient::write_to_error_stream(lines.as_bytes()),
        }
    }
}
