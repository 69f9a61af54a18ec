//! The operations without confinement: system calls relative to the root, as any program
//! would make them.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::answer::{Seen, shown};
use super::uses::CONTENT;

/// Enough to tell one file from another, and an end for endless ones.
const READ: usize = 1 << 16;
/// Nobody waits for a pipe.
const CALM: OFlags = OFlags::NONBLOCK
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// The operations that there are.
pub const OPERATIONS: &[&str] = &[
    "read",
    "list",
    "stat",
    "write",
    "create",
    "mkdir",
    "delete",
    "delete-tree",
];

/// Does the operation below a directory handle, or anywhere with [`CWD`].
pub fn act(directory: impl AsFd, operation: &str, path: &str) -> Result<Seen, Errno> {
    let directory = directory.as_fd();
    match operation {
        "read" => read(directory, path),
        "list" => list(directory, path),
        "stat" => stat(directory, path),
        "write" => write(directory, path, OFlags::CREATE | OFlags::TRUNC),
        "create" => write(directory, path, OFlags::CREATE | OFlags::EXCL),
        "mkdir" => {
            rustix::fs::mkdirat(directory, path, Mode::from_raw_mode(0o777)).map(|()| Seen::Done)
        }
        "delete" => delete(directory, path),
        "delete-tree" => delete_tree(directory, path.as_bytes()),
        other => panic!("no native call is known for the operation `{other}`"),
    }
}

/// The same by root and path joined as text, as careless programs do.
pub fn act_joined(root: &Path, operation: &str, path: &str) -> Result<Seen, Errno> {
    act(CWD, operation, &format!("{}/{path}", root.display()))
}

fn read(directory: BorrowedFd<'_>, path: &str) -> Result<Seen, Errno> {
    let file = rustix::fs::openat(directory, path, OFlags::RDONLY | CALM, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        return Ok(Seen::Directory);
    }
    let mut bytes = vec![0; READ];
    let length = rustix::io::read(&file, &mut bytes[..])?;
    bytes.truncate(length);
    Ok(Seen::Content(bytes))
}

fn list(directory: BorrowedFd<'_>, path: &str) -> Result<Seen, Errno> {
    let mut names = names(directory, path.as_bytes())?;
    names.sort();
    Ok(Seen::Names(names.iter().map(|name| shown(name)).collect()))
}

fn names(directory: BorrowedFd<'_>, path: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | CALM;
    let listed = rustix::fs::openat(directory, path, flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::new(listed)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    Ok(names)
}

fn stat(directory: BorrowedFd<'_>, path: &str) -> Result<Seen, Errno> {
    let stat = rustix::fs::statat(directory, path, AtFlags::empty())?;
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "symlink",
        _ => "other",
    };
    Ok(Seen::Object(kind.to_owned(), stat.st_size as u64))
}

fn write(directory: BorrowedFd<'_>, path: &str, how: OFlags) -> Result<Seen, Errno> {
    let mode = Mode::from_raw_mode(0o666);
    let file = rustix::fs::openat(directory, path, OFlags::WRONLY | how | CALM, mode)?;
    rustix::io::write(&file, CONTENT.as_bytes())?;
    Ok(Seen::Done)
}

fn delete(directory: BorrowedFd<'_>, path: &str) -> Result<Seen, Errno> {
    match rustix::fs::unlinkat(directory, path, AtFlags::empty()) {
        Err(Errno::ISDIR) => rustix::fs::unlinkat(directory, path, AtFlags::REMOVEDIR)?,
        other => other?,
    }
    Ok(Seen::Done)
}

fn delete_tree(directory: BorrowedFd<'_>, path: &[u8]) -> Result<Seen, Errno> {
    match rustix::fs::unlinkat(directory, path, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        other => return other.map(|()| Seen::Done),
    }
    for name in names(directory, path)? {
        delete_tree(directory, &[path, b"/", &name].concat())?;
    }
    rustix::fs::unlinkat(directory, path, AtFlags::REMOVEDIR)?;
    Ok(Seen::Done)
}
