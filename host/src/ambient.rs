//! The one place where a host path becomes a handle.
//!
//! Everything here but [`path_of`] runs before a session exists, on behalf of the person who
//! starts it, with that person's authority. No path from a tool ever reaches this module.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the module in which ambient authority is used"
)]

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FileType, Mode, OFlags};

use crate::place::Place;
use crate::walk::{self, ObjectId};

/// Directories that are never roots, nor anything below them.
const SYSTEM_DIRECTORIES: [&str; 5] = ["/etc", "/proc", "/sys", "/dev", "/boot"];
/// Directories of the system that hold programs, also somewhere below.
const PROGRAMS: [&str; 7] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
];
/// Directories of the system below which there is room for others.
const OF_THE_SYSTEM: [&str; 6] = ["/opt", "/var", "/run", "/root", "/home", "/srv"];
/// An ordinary place for temporary files in spite of where it stands.
const SHARED_MEMORY: &str = "/dev/shm";

/// Opens a directory that the user names, without any confinement.
pub(crate) fn open_ambient_directory(path: &Path) -> io::Result<(OwnedFd, ObjectId)> {
    let handle = rustix::fs::openat(
        rustix::fs::CWD,
        path,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let id = ObjectId::of(&rustix::fs::fstat(&handle)?);
    Ok((handle, id))
}

/// The host path by which the kernel knows an open object. Nothing is decided by it, and no
/// part of it is told but what lies below a root.
pub(crate) fn path_of(object: BorrowedFd<'_>) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", object.as_raw_fd())).ok()
}

pub(crate) fn create_directories(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Why a directory may not be a root, if it may not, also before it is made.
pub(crate) fn unsuitable_as_root(place: &Place) -> io::Result<Option<String>> {
    let nearest = place.nearest().as_fd();
    if place.is_there() && place.id() == id_of("/")? {
        return Ok(Some("the whole file system cannot be a root".to_owned()));
    }
    let shared = id_of(SHARED_MEMORY).ok();
    if let Some(shared) = shared
        && walk::lies_within(nearest, shared)?
    {
        return Ok(None);
    }
    for system in SYSTEM_DIRECTORIES {
        let Ok(outer) = id_of(system) else { continue };
        if walk::lies_within(nearest, outer)? {
            return Ok(Some(format!(
                "`{system}` and what lies below it cannot be a root"
            )));
        }
    }
    Ok(None)
}

fn id_of(path: &str) -> io::Result<ObjectId> {
    let metadata = std::fs::metadata(path)?;
    Ok(ObjectId {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

/// Whether the directory that holds `file` is a root or lies in one.
pub(crate) fn is_inside(file: &Path, root: ObjectId) -> io::Result<bool> {
    let (directory, _) = open_ambient_directory(directory_of(file))?;
    Ok(walk::lies_within(directory.as_fd(), root)?)
}

/// The directory that holds a file.
pub(crate) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Opens the directory that holds a file of this crate's own state, to look names up in it, and
/// to sync it where it may be read.
pub(crate) fn open_directory_of(file: &Path) -> io::Result<File> {
    let directory = directory_of(file);
    let unread = || open_ambient_directory(directory).map(|(handle, _)| File::from(handle));
    File::open(directory).or_else(|_| unread())
}

/// The name by which a directory is known unless the user gives another.
pub(crate) fn default_label(path: &Path) -> String {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real.file_name()
        .map(|name| {
            name.to_string_lossy()
                .replace(|c: char| c.is_control() || c == '\u{fffd}', "_")
        })
        .unwrap_or_else(|| "root".to_owned())
}

/// The directory's path as the kernel spells it.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Whether the file of the program that runs lies in a directory.
pub(crate) fn holds_this_program(id: ObjectId) -> bool {
    std::env::current_exe().is_ok_and(|program| is_inside(&program, id).unwrap_or(false))
}

/// Whether a directory is one that holds what other programs are or keep, also before it is
/// made.
pub(crate) fn is_of_the_system(place: &Place) -> bool {
    let is_it = |name: &&str| id_of(name).is_ok_and(|system| system == place.id());
    let holds_it = |name: &&str| {
        let outer = Place::of(Path::new(name));
        outer.is_ok_and(|outer| outer.is_there() && place.lies_in(&outer))
    };
    (place.is_there() && OF_THE_SYSTEM.iter().any(is_it)) || PROGRAMS.iter().any(holds_it)
}

/// Whether an environment variable of a debug build's tests is set.
#[cfg(debug_assertions)]
pub(crate) fn variable_is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// What the environment says to exporters of telemetry. An empty variable is as good as none.
#[cfg(feature = "otel")]
pub(crate) fn telemetry_variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// The addresses that a host has now.
#[cfg(feature = "otel")]
pub(crate) fn resolve(host: &str, port: u16) -> io::Result<Vec<std::net::SocketAddr>> {
    std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect)
}

pub(crate) fn working_directory() -> io::Result<PathBuf> {
    std::env::current_dir()
}

/// Whether a directory is the user's home.
pub(crate) fn is_home(id: ObjectId) -> bool {
    std::env::var_os("HOME").is_some_and(|home| {
        open_ambient_directory(Path::new(&home)).is_ok_and(|(_, other)| other == id)
    })
}

/// Whether a directory is the top of a version-control checkout.
pub(crate) fn is_checkout(path: &Path) -> bool {
    [".git", ".hg", ".svn", ".jj"]
        .iter()
        .any(|name| path.join(name).exists())
}

pub(crate) fn runs_as_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// `$XDG_STATE_HOME/rootbound`, or below `~/.local/state` where that is unset (XDG Base
/// Directory Specification 0.8).
pub(crate) fn state_directory() -> Option<PathBuf> {
    own_directory("XDG_STATE_HOME", ".local/state")
}

/// `$XDG_CACHE_HOME/rootbound`, or below `~/.cache` where that is unset (likewise).
pub(crate) fn cache_directory() -> Option<PathBuf> {
    own_directory("XDG_CACHE_HOME", ".cache")
}

fn own_directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |value: OsString| {
        let path = PathBuf::from(value);
        path.is_absolute().then_some(path)
    };
    let base = std::env::var_os(variable).and_then(absolute).or_else(|| {
        let home = std::env::var_os("HOME").and_then(absolute)?;
        Some(home.join(below_home))
    })?;
    Some(base.join("rootbound"))
}

/// Makes a directory and its parents that only the user may enter.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file for appending that only the user may read; creates it when it is absent.
pub(crate) fn open_private_append(path: &Path) -> io::Result<File> {
    open_append(path, true)
}

/// The same for a file that is there.
pub(crate) fn open_existing_append(path: &Path) -> io::Result<File> {
    open_append(path, false)
}

fn open_append(path: &Path, create: bool) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(create)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    Ok(file)
}

/// Gives a file of this crate's own state a second name, unless that is taken.
pub(crate) fn link_file(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)
}

/// Renames a file of this crate's own state, over another if there is one.
pub(crate) fn rename_file(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// Whether a path still is the file that is open.
pub(crate) fn is_still(path: &Path, file: &File) -> io::Result<bool> {
    let open = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What a regular file is, wherever its name leads, and how many names it has.
pub(crate) fn names_of_file(path: &Path) -> Option<(ObjectId, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    let id = ObjectId {
        device: metadata.dev(),
        inode: metadata.ino(),
    };
    metadata.is_file().then(|| (id, metadata.nlink()))
}

/// Creates a file that only the user may read, where there is none.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Reads a file that holds a secret, unless others may read it or it is longer than `most`.
pub(crate) fn read_private_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)
        .map_err(|error| match rustix::io::Errno::from_io_error(&error) {
            Some(rustix::io::Errno::LOOP) => {
                io::Error::other("it is a symbolic link; name the file itself")
            }
            _ => error,
        })?;
    let metadata = file.metadata()?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !own || metadata.mode() & 0o077 != 0 || !metadata.is_file() || metadata.nlink() != 1 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it must be a file of the user's with mode 0600 and one name",
        ));
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, most as u64), &mut bytes)?;
    Ok(bytes)
}

/// Opens a file of this crate's own state that exists.
pub(crate) fn open_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)
}

/// Reads a whole file of this crate's own state.
#[cfg(test)]
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

/// Reads a file that the operator names; `None` when it is longer than `most`.
pub(crate) fn read_at_most(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    if metadata.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    (&mut file).take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Reads a text that the operator wrote.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    match read_at_most(path, most)? {
        None => wrong("it is too large"),
        Some(bytes) => String::from_utf8(bytes).or_else(|_| wrong("it is not UTF-8 text")),
    }
}

/// Makes a directory where nothing is.
pub(crate) fn create_new_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Creates a file that the operator asked for, where nothing is.
pub(crate) fn create_public_file(path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
    let mode = if executable { 0o777 } else { 0o666 };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    io::Write::write_all(&mut file, bytes)
}

/// Removes a file of this crate's own state.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// The standard error stream once more, if it is a pipe: one to which a write does not wait. What
/// is set on the stream itself would hold for all who have it.
pub(crate) fn reopen_error_pipe() -> Option<File> {
    let stat = rustix::fs::fstat(io::stderr()).ok()?;
    let is_pipe = FileType::from_raw_mode(stat.st_mode) == FileType::Fifo;
    let open = || {
        OpenOptions::new()
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open("/proc/self/fd/2")
            .ok()
    };
    is_pipe.then(open).flatten()
}

/// `/dev/null` (Linux's `Documentation/admin-guide/devices.txt`).
const NULL_DEVICE: (u32, u32) = (1, 3);

/// Whether what is written to the standard error stream is gone.
pub(crate) fn error_stream_keeps_nothing() -> bool {
    rustix::fs::fstat(io::stderr()).is_ok_and(|stat| {
        let device = (
            rustix::fs::major(stat.st_rdev),
            rustix::fs::minor(stat.st_rdev),
        );
        FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && device == NULL_DEVICE
    })
}

/// Writes all bytes to the standard error stream. Unlike the standard library's handle, this
/// fails where the stream cannot be written to.
pub(crate) fn write_to_error_stream(mut bytes: &[u8]) -> io::Result<()> {
    let stream = io::stderr().lock();
    while !bytes.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::write(&stream, bytes))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// The names in a directory of this crate's own state.
pub(crate) fn file_names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

/// A file of this crate's own state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StateFile {
    pub(crate) written: SystemTime,
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// The files in a directory of this crate's own state, the oldest first.
pub(crate) fn files_by_age(directory: &Path) -> io::Result<Vec<StateFile>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        // Another process may just have removed it.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if let (true, Ok(name)) = (metadata.is_file(), entry.file_name().into_string()) {
            files.push(StateFile {
                written: metadata.modified()?,
                name,
                bytes: metadata.len(),
            });
        }
    }
    files.sort();
    Ok(files)
}

/// Writes a file that only the user may read, in one step.
pub(crate) fn write_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(crate::random::hex::<8>());
    let mut file = create_private_file(&temporary)?;
    let written = io::Write::write_all(&mut file, bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temporary, path));
    written.inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}

/// Refuses a directory that others may enter: what is kept there decides about changes.
pub(crate) fn require_private(directory: &Path) -> io::Result<()> {
    let metadata = std::fs::metadata(directory)?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !own || metadata.mode() & 0o077 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the directory must belong to the user and have mode 0700",
        ));
    }
    Ok(())
}

/// Refuses a directory that another user owns or may write to.
pub(crate) fn require_own(directory: BorrowedFd<'_>) -> io::Result<()> {
    let stat = rustix::fs::fstat(directory)?;
    let own = stat.st_uid == rustix::process::geteuid().as_raw();
    if !own || stat.st_mode & 0o022 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is shared: it must belong to the user, and nobody else may write to it",
        ));
    }
    Ok(())
}

/// Removes a directory with what it holds, if it is still the same. Links inside are removed,
/// not followed.
pub(crate) fn remove_tree(base: BorrowedFd<'_>, name: &str, id: ObjectId) -> io::Result<()> {
    match walk::look(base, name) {
        Ok(stat) if ObjectId::of(&stat) == id => {}
        Ok(_) => return Ok(()),
        Err(rustix::io::Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    }
    std::fs::remove_dir_all(format!("/proc/self/fd/{}/{name}", base.as_raw_fd()))
}

/// The lock of a directory of this crate's own state, held while it lives.
#[derive(Debug)]
pub(crate) struct DirectoryLock(
    #[expect(dead_code, reason = "closing the file lets go of the lock")] File,
);

impl DirectoryLock {
    pub(crate) fn take(directory: &Path) -> io::Result<Self> {
        let file = open_private_append(&directory.join("lock"))?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(Self(file))
    }
}

/// The controlling terminal.
pub(crate) fn open_terminal() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

/// The controlling terminal, to read from without waiting.
pub(crate) fn open_keyboard() -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open("/dev/tty")
}

/// The local user, as approvals know them.
pub(crate) fn local_user() -> String {
    format!("uid:{}", rustix::process::geteuid().as_raw())
}
