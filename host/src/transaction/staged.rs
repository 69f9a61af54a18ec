//! A file that is being written and does not have its name yet.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::journal::{Journal, Noted};
use crate::policy::Durability;
use crate::random;
use crate::walk::{self, ObjectId};

const PREFIX: &str = ".rootbound-";
const SUFFIX: &str = ".tmp";
/// Permission bits that outlive a replacement. Set-user-id and its kin do not: new content
/// must not inherit the trust that was put into the old.
const KEPT_MODE: u32 = 0o777;

/// The mode of content that waits for the permissions of the file it will replace.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Whether a name is one under which this crate stages files.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
        .is_some_and(|middle| middle.len() == 32 && middle.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// A name under which nothing stands, and which no tool sees.
pub(crate) fn temporary_name() -> String {
    format!("{PREFIX}{}{SUFFIX}", random::hex::<16>())
}

/// A temporary name and its note in the journal.
#[derive(Debug)]
struct Temporary {
    name: String,
    /// Struck out when the name is gone.
    noted: Noted,
}

impl Temporary {
    /// Notes a name before it is made.
    fn note(journal: &Arc<Journal>, directory: BorrowedFd<'_>) -> Result<Self, Errno> {
        let name = temporary_name();
        let noted = journal.note_temporary(directory, &name);
        let noted = noted.map_err(walk::errno_of)?;
        Ok(Self { name, noted })
    }

    /// Removes the name. One that cannot be removed stays noted, for the next start.
    fn remove(self, directory: BorrowedFd<'_>, flags: AtFlags) {
        match rustix::fs::unlinkat(directory, &self.name, flags) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(_) => self.noted.leave(),
        }
    }
}

/// A file without its final name: unnamed where the file system can, else under a
/// temporary name in the same directory.
#[derive(Debug)]
pub(crate) struct StagedFile {
    handle: Arc<OwnedFd>,
    directory: Arc<OwnedFd>,
    journal: Arc<Journal>,
    temporary: Option<Temporary>,
    hash: RunningHash,
    /// Whether the call made the file, rather than a new content for an existing one.
    pub(crate) created: bool,
    /// Whether the guest may read what it holds, in the write root too: what the call made,
    /// and a copy of what is granted for reading as well.
    pub(crate) readable: bool,
}

impl StagedFile {
    /// A file for a name that does not exist. Its mode follows the process's umask.
    pub(crate) fn new(directory: &Arc<OwnedFd>, journal: &Arc<Journal>) -> Result<Self, Errno> {
        Self::with_mode(directory, journal, Mode::from_raw_mode(0o666), true)
    }

    /// New content for an existing file, which nobody else may read before it has its
    /// predecessor's permissions.
    pub(crate) fn for_existing(
        directory: &Arc<OwnedFd>,
        journal: &Arc<Journal>,
    ) -> Result<Self, Errno> {
        Self::with_mode(directory, journal, PRIVATE, false)
    }

    /// Makes a new file content for an existing one, likewise.
    pub(crate) fn make_private(&self) -> Result<(), Errno> {
        rustix::fs::fchmod(&self.handle, PRIVATE)
    }

    fn with_mode(
        directory: &Arc<OwnedFd>,
        journal: &Arc<Journal>,
        mode: Mode,
        created: bool,
    ) -> Result<Self, Errno> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let (handle, temporary) =
            match rustix::fs::openat(&**directory, ".", flags | OFlags::TMPFILE, mode) {
                Ok(handle) if can_link_unnamed() => (handle, None),
                // EISDIR is what kernels before 3.11 and some file systems answer.
                Ok(_) | Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                    let temporary = Temporary::note(journal, directory.as_fd())?;
                    let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
                    let handle = rustix::fs::openat(&**directory, &temporary.name, flags, mode)?;
                    (handle, Some(temporary))
                }
                Err(error) => return Err(error),
            };
        Ok(Self {
            handle: Arc::new(handle),
            directory: Arc::clone(directory),
            journal: Arc::clone(journal),
            temporary,
            hash: RunningHash::default(),
            created,
            readable: created,
        })
    }

    pub(crate) fn handle(&self) -> &Arc<OwnedFd> {
        &self.handle
    }

    /// Makes another directory the one where the file will get its name: the first may be
    /// gone by then. One that has a temporary name keeps its place.
    pub(crate) fn move_to(&mut self, directory: &Arc<OwnedFd>) {
        if self.temporary.is_none() {
            self.directory = Arc::clone(directory);
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    pub(crate) fn stat(&self) -> Result<Stat, Errno> {
        rustix::fs::fstat(&self.handle)
    }

    pub(crate) fn size(&self) -> Result<u64, Errno> {
        Ok(self.stat()?.st_size as u64)
    }

    pub(crate) fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), Errno> {
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::pwrite(&self.handle, &bytes[done..], offset + done as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(error) => {
                    self.hash.give_up();
                    return Err(error);
                }
            }
        }
        self.hash.update(bytes, offset);
        Ok(())
    }

    pub(crate) fn set_size(&mut self, size: u64) -> Result<(), Errno> {
        rustix::fs::ftruncate(&self.handle, size)?;
        self.hash.resized(size);
        Ok(())
    }

    /// Takes over the content of the file that will be replaced: by reflink where the file
    /// system has it, else by copying in the kernel.
    pub(crate) fn copy_content(&mut self, from: BorrowedFd<'_>) -> Result<(), Errno> {
        self.hash.give_up();
        if rustix::fs::ioctl_ficlone(&self.handle, from).is_ok() {
            return Ok(());
        }
        let (mut read_at, mut write_at) = (0, 0);
        loop {
            let copied = rustix::fs::copy_file_range(
                from,
                Some(&mut read_at),
                &self.handle,
                Some(&mut write_at),
                1 << 30,
            );
            match copied {
                Ok(0) => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::XDEV | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => {
                    return self.copy_by_hand(from, read_at);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn copy_by_hand(&mut self, from: BorrowedFd<'_>, mut at: u64) -> Result<(), Errno> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = rustix::io::pread(from, &mut buffer, at)?;
            if count == 0 {
                return Ok(());
            }
            self.write(&buffer[..count], at)?;
            at += count as u64;
        }
    }

    /// SHA-256 of the content: computed while the bytes passed where they came in order,
    /// else by reading them back.
    pub(crate) fn sha256(&mut self) -> Result<String, Errno> {
        if let Some(digest) = self.hash.digest_of(self.size()?) {
            return Ok(digest);
        }
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        let mut at = 0;
        loop {
            let count = rustix::io::pread(&self.handle, &mut buffer, at)?;
            if count == 0 {
                return Ok(random::hex_of(&hasher.finalize()));
            }
            hasher.update(&buffer[..count]);
            at += count as u64;
        }
    }

    /// Gives the new content the permissions of the old, its owner where the process may,
    /// and the attributes that users set.
    pub(crate) fn keep_attributes(
        &self,
        old: &Stat,
        old_file: Option<BorrowedFd<'_>>,
    ) -> Result<(), Errno> {
        let own = self.stat()?;
        if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid) {
            // Only the superuser may give files away; the owner of the new content is then
            // the one who wrote it, as with any editor.
            where_possible(rustix::fs::fchown(
                &self.handle,
                Some(Uid::from_raw(old.st_uid)),
                Some(Gid::from_raw(old.st_gid)),
            ))?;
        }
        if let Some(old_file) = old_file {
            copy_user_attributes(old_file, self.fd())?;
        }
        rustix::fs::fchmod(&self.handle, Mode::from_raw_mode(old.st_mode & KEPT_MODE))
    }

    pub(crate) fn sync(&self, durability: Durability) -> Result<(), Errno> {
        match durability {
            Durability::Full => rustix::fs::fsync(&self.handle),
            Durability::Fast => Ok(()),
        }
    }

    /// Gives the file its name, never over another.
    pub(crate) fn publish(&mut self, directory: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
        let Some(temporary) = &self.temporary else {
            return link_unnamed(self.fd(), directory, name);
        };
        match rustix::fs::renameat_with(
            &*self.directory,
            &temporary.name,
            directory,
            name,
            RenameFlags::NOREPLACE,
        ) {
            Err(Errno::INVAL | Errno::NOSYS) => {
                rustix::fs::linkat(
                    &*self.directory,
                    &temporary.name,
                    directory,
                    name,
                    AtFlags::empty(),
                )?;
                self.discard();
                return Ok(());
            }
            other => other?,
        }
        self.temporary = None;
        Ok(())
    }

    /// Gives the file the name of another, which is gone in the same instant.
    pub(crate) fn replace(&mut self, directory: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
        let temporary = match self.temporary.take() {
            Some(temporary) => temporary,
            None => {
                let temporary = Temporary::note(&self.journal, self.directory.as_fd())?;
                link_unnamed(self.fd(), self.directory.as_fd(), &temporary.name)?;
                temporary
            }
        };
        let renamed = rustix::fs::renameat(&*self.directory, &temporary.name, directory, name);
        if renamed.is_err() {
            self.temporary = Some(temporary);
            self.discard();
        }
        renamed
    }

    /// Removes what was staged. An unnamed file goes with its last handle.
    pub(crate) fn discard(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            temporary.remove(self.directory.as_fd(), AtFlags::empty());
        }
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        self.discard();
    }
}

/// Makes a directory in such a way that a killed process leaves nothing that the journal
/// does not list: first under a temporary name, then, when its inode is noted, under its
/// own, never over another.
pub(crate) fn make_directory(
    journal: &Arc<Journal>,
    directory: BorrowedFd<'_>,
    name: &str,
) -> Result<(ObjectId, Noted), Errno> {
    let temporary = Temporary::note(journal, directory)?;
    rustix::fs::mkdirat(directory, &temporary.name, Mode::from_raw_mode(0o777))?;
    let made = walk::look(directory, &temporary.name).and_then(|stat| {
        let object = ObjectId::of(&stat);
        let noted = journal.note_directory(directory, name, object);
        let noted = noted.map_err(walk::errno_of)?;
        rustix::fs::renameat_with(
            directory,
            &temporary.name,
            directory,
            name,
            RenameFlags::NOREPLACE,
        )?;
        Ok((object, noted))
    });
    if made.is_err() {
        temporary.remove(directory, AtFlags::REMOVEDIR);
    }
    match made {
        Err(Errno::INVAL | Errno::NOSYS) => make_directory_at_once(journal, directory, name),
        other => other,
    }
}

/// For file systems that cannot rename without replacing. A process that is killed between
/// making the directory and noting it leaves it behind, empty.
fn make_directory_at_once(
    journal: &Arc<Journal>,
    directory: BorrowedFd<'_>,
    name: &str,
) -> Result<(ObjectId, Noted), Errno> {
    rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o777))?;
    let noted = walk::look(directory, name).and_then(|stat| {
        let object = ObjectId::of(&stat);
        let noted = journal.note_directory(directory, name, object);
        Ok((object, noted.map_err(walk::errno_of)?))
    });
    noted.inspect_err(|_| {
        let _ = rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR);
    })
}

/// linkat(2) takes an unnamed file by descriptor only from a privileged process; everyone
/// can name it through `/proc/self/fd`.
fn link_unnamed(file: BorrowedFd<'_>, directory: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    match rustix::fs::linkat(
        rustix::fs::CWD,
        path,
        directory,
        name,
        AtFlags::SYMLINK_FOLLOW,
    ) {
        Err(Errno::NOENT) => rustix::fs::linkat(file, "", directory, name, AtFlags::EMPTY_PATH),
        other => other,
    }
}

fn can_link_unnamed() -> bool {
    use std::sync::OnceLock;
    static PROC: OnceLock<bool> = OnceLock::new();
    *PROC.get_or_init(|| {
        rustix::fs::statat(rustix::fs::CWD, "/proc/self/fd", AtFlags::empty()).is_ok()
    })
}

/// Passes over what the process may not do, and what the file system does not have. A disk
/// that is full or broken is neither: the old file stays, with all it has.
fn where_possible<T: Default>(result: Result<T, Errno>) -> Result<T, Errno> {
    match result {
        Err(Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::NOMEM) => result,
        _ => Ok(result.unwrap_or_default()),
    }
}

/// Attributes of the `user.` namespace and access control lists. Those of the system
/// (capabilities, labels) belong to the old content.
fn copy_user_attributes(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> Result<(), Errno> {
    // XATTR_LIST_MAX and XATTR_SIZE_MAX (limits.h) are both 65,536.
    let mut names = vec![0_u8; 65_536];
    let length = where_possible(rustix::fs::flistxattr(from, &mut names[..]))?;
    let mut value = vec![0_u8; 65_536];
    for name in names[..length]
        .split(|b| *b == 0)
        .filter(|name| !name.is_empty())
    {
        let ours = name.starts_with(b"user.") || name == b"system.posix_acl_access";
        if !ours {
            continue;
        }
        match rustix::fs::fgetxattr(from, name, &mut value[..]) {
            Ok(length) => where_possible(rustix::fs::fsetxattr(
                to,
                name,
                &value[..length],
                XattrFlags::empty(),
            ))?,
            Err(errno) => where_possible(Err(errno))?,
        }
    }
    Ok(())
}

/// A hash that follows writes as long as they come in order.
#[derive(Debug)]
struct RunningHash(Option<(Sha256, u64)>);

impl Default for RunningHash {
    fn default() -> Self {
        Self(Some((Sha256::new(), 0)))
    }
}

impl RunningHash {
    fn give_up(&mut self) {
        self.0 = None;
    }

    fn update(&mut self, bytes: &[u8], offset: u64) {
        match &mut self.0 {
            Some((hasher, at)) if *at == offset => {
                hasher.update(bytes);
                *at += bytes.len() as u64;
            }
            _ => self.give_up(),
        }
    }

    fn resized(&mut self, size: u64) {
        match &self.0 {
            Some((_, at)) if *at == size => {}
            _ if size == 0 => *self = Self::default(),
            _ => self.give_up(),
        }
    }

    fn digest_of(&self, size: u64) -> Option<String> {
        let (hasher, at) = self.0.as_ref()?;
        (*at == size).then(|| random::hex_of(&hasher.clone().finalize()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_recognised() {
        assert!(is_temporary_name(&temporary_name()));
        assert!(!is_temporary_name(".rootbound-notes.tmp"));
        assert!(!is_temporary_name("rootbound"));
    }

    #[test]
    fn a_hash_follows_writes_in_order_and_admits_when_it_lost_track() {
        let mut hash = RunningHash::default();
        hash.update(b"ab", 0);
        hash.update(b"c", 2);
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.digest_of(3).as_deref(), Some(abc));
        assert_eq!(hash.digest_of(4), None);
        hash.update(b"x", 9);
        assert_eq!(hash.digest_of(10), None);
        hash.resized(0);
        assert!(hash.digest_of(0).is_some());
    }
}
