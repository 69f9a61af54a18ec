//! What a front-end writes where its operator says: each file and directory stands there whole
//! or not at all, nothing is written through a link, and a file takes the place of its like only.
//!
//! A process that is killed on the way leaves what was there, and perhaps a file or directory
//! `.rootbound-….tmp` beside it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fchmod, fstat, openat, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::transaction::temporary_name;
use crate::walk::ObjectId;
use crate::{ambient, random};

/// Bytes of a file that are looked at to say whether it may be replaced: a whole lock, and the
/// beginning of a component.
const LOOKED_AT: u64 = 1 << 20;
/// Permissions that new content keeps of the old.
const KEPT_MODE: u32 = 0o777;

/// A file to be written: its path in the directory, its content, whether it is a program.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// Relative, without `..`.
    pub path: &'static str,
    /// What it holds.
    pub content: String,
    /// Whether it may be run.
    pub executable: bool,
}

/// Makes a directory with files in it, whole or not at all. For what an operator asks for; no
/// tool gets here.
///
/// # Errors
///
/// When there is something of that name already, or it cannot be written.
pub fn write_new_directory(directory: impl AsRef<Path>, files: &[NewFile]) -> io::Result<()> {
    let directory = directory.as_ref();
    let place = Place::of(directory)?;
    place.must_be_free()?;
    let unfinished = temporary_name();
    let path = ambient::directory_of(directory).join(&unfinished);
    ambient::create_new_directory(&path)?;
    let id = ObjectId::of(&statat(
        &place.parent,
        &unfinished,
        AtFlags::SYMLINK_NOFOLLOW,
    )?);
    let made = fill(&path, files).and_then(|()| place.take(&unfinished));
    made.inspect_err(|_| {
        let _ = ambient::remove_tree(place.parent.as_fd(), &unfinished, id);
    })
}

fn fill(directory: &Path, files: &[NewFile]) -> io::Result<()> {
    for file in files {
        let path = directory.join(file.path);
        ambient::create_directories(ambient::directory_of(&path))?;
        ambient::create_public_file(&path, file.content.as_bytes(), file.executable)?;
    }
    Ok(())
}

/// Writes a file, whole or not at all, and answers with the SHA-256 of its content in hex. For
/// what an operator asks for; no tool gets here.
///
/// What stands there already is replaced if it is a regular file that is empty, or of which
/// `is_alike` says, by its first MiB, that it is what this one is; its permissions are kept.
///
/// # Errors
///
/// When something else stands there, a link included, or it cannot be written; then nothing has
/// changed.
pub fn write_output_file(
    file: impl AsRef<Path>,
    content: &[u8],
    is_alike: impl FnOnce(&[u8]) -> bool,
) -> io::Result<String> {
    let place = Place::of(file.as_ref())?;
    match place.file_alike(is_alike)? {
        None => place.write(content, Mode::from_raw_mode(0o666), None)?,
        Some(old) => place.write(content, Mode::RUSR | Mode::WUSR, Some(old))?,
    }
    Ok(random::hex_of(&Sha256::digest(content)))
}

/// Writes a file that only the user may read, where nothing stands, whole or not at all.
pub(crate) fn write_new_private_file(file: &Path, content: &[u8]) -> io::Result<()> {
    let place = Place::of(file)?;
    place.must_be_free()?;
    place.write(content, Mode::RUSR | Mode::WUSR, None)
}

/// Whether a file begins as a WebAssembly component does: version 13 of layer 1.
#[must_use]
pub fn begins_as_component(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm\x0d\0\x01\0")
}

/// A name in a directory.
struct Place<'a> {
    parent: File,
    name: &'a OsStr,
}

impl<'a> Place<'a> {
    fn of(path: &'a Path) -> io::Result<Self> {
        let is_directory = path.as_os_str().as_bytes().ends_with(b"/");
        let name = path.file_name().filter(|_| !is_directory);
        let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "it names a directory");
        Ok(Self {
            name: name.ok_or_else(no_name)?,
            parent: ambient::open_directory_of(path)?,
        })
    }

    fn must_be_free(&self) -> io::Result<()> {
        match statat(&self.parent, self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
            Ok(_) => Err(taken()),
        }
    }

    /// The permissions of the file that stands there, if one does, and may be replaced.
    fn file_alike(&self, is_alike: impl FnOnce(&[u8]) -> bool) -> io::Result<Option<Mode>> {
        let stat = match statat(&self.parent, self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => {
                return Err(in_the_way("it is a link, and links are not followed"));
            }
            _ => return Err(in_the_way("it is no regular file")),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let old = File::from(openat(&self.parent, self.name, flags, Mode::empty())?);
        let mode = Mode::from_raw_mode(fstat(&old)?.st_mode & KEPT_MODE);
        let mut beginning = Vec::new();
        old.take(LOOKED_AT).read_to_end(&mut beginning)?;
        match beginning.is_empty() || is_alike(&beginning) {
            true => Ok(Some(mode)),
            false => Err(taken()),
        }
    }

    /// Writes beside, and then takes the place in one step; over another file only where that
    /// one's permissions are given.
    fn write(&self, content: &[u8], mode: Mode, old: Option<Mode>) -> io::Result<()> {
        let unfinished = temporary_name();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.parent, &unfinished, flags, mode)?);
        let placed = file
            .write_all(content)
            .and_then(|()| old.map_or(Ok(()), |mode| Ok(fchmod(&file, mode)?)))
            .and_then(|()| file.sync_all())
            .and_then(|()| match old {
                None => self.take(&unfinished),
                Some(_) => Ok(renameat(
                    &self.parent,
                    &unfinished,
                    &self.parent,
                    self.name,
                )?),
            });
        // When the name is on the disk is the file system's affair.
        let _ = match placed {
            Ok(()) => rustix::fs::fsync(&self.parent),
            Err(_) => unlinkat(&self.parent, &unfinished, AtFlags::empty()),
        };
        placed
    }

    /// Gives what was made its name, which must be free.
    fn take(&self, unfinished: &str) -> io::Result<()> {
        let (parent, name) = (&self.parent, self.name);
        match renameat_with(parent, unfinished, parent, name, RenameFlags::NOREPLACE) {
            // Some file systems do not have this; there, whoever is faster is written over.
            Err(Errno::INVAL | Errno::NOSYS) => {
                self.must_be_free()?;
                Ok(renameat(parent, unfinished, parent, name)?)
            }
            Err(Errno::EXIST) => Err(taken()),
            renamed => Ok(renamed?),
        }
    }
}

fn in_the_way(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

fn taken() -> io::Error {
    in_the_way("something else is there: choose another name, or remove it first")
}

/// Reads a file that the operator names, up to a size.
///
/// # Errors
///
/// When it cannot be read, is no regular file, or is larger.
pub fn read_input_file(file: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(io::ErrorKind::InvalidInput, "it is too large");
    ambient::read_at_most(file.as_ref(), most)?.ok_or_else(too_large)
}
