//! The kernel's walk beneath a directory handle, and what identifies an object.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, ResolveFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::hook;

/// How often an interrupted walk is tried again. openat2(2) answers `EAGAIN` when a rename
/// elsewhere on the system makes it unsure of `..`; a racing process can cause that at will.
const WALK_RETRIES: usize = 64;

/// How often a walk in steps that ends at what is not a directory is tried again.
const NOT_DIRECTORY_RETRIES: usize = 8;

/// Set once the kernel has answered that it has no openat2 (before Linux 5.6, or a filter).
static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// How far a walk may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// Never above the directory; absolute links are refused.
    Beneath,
    /// The directory is the file system's own root, and absolute links mean it.
    WholeFileSystem,
}

impl Boundary {
    fn resolve(self) -> ResolveFlags {
        let within = match self {
            Self::Beneath => ResolveFlags::BENEATH,
            Self::WholeFileSystem => ResolveFlags::IN_ROOT,
        };
        within | ResolveFlags::NO_MAGICLINKS
    }
}

/// What a walk came to.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) handle: OwnedFd,
    /// Whether the walk surely went through no link.
    pub(crate) straight: bool,
}

/// Opens as [`open`], and tells whether links were followed. A path without links takes one
/// walk; another takes a second.
pub(crate) fn open_and_tell(
    directory: BorrowedFd<'_>,
    path: &str,
    boundary: Boundary,
    flags: OFlags,
) -> Result<Walked, Errno> {
    if let Some(result) = open_straight(directory, path, boundary, flags) {
        return result;
    }
    let handle = open(directory, path, boundary, flags, Mode::empty())?;
    Ok(Walked {
        handle,
        straight: false,
    })
}

/// Opens as [`open`] where no link is met; `None` where one is, or it is not known whether one
/// would be.
pub(crate) fn open_straight(
    directory: BorrowedFd<'_>,
    path: &str,
    boundary: Boundary,
    flags: OFlags,
) -> Option<Result<Walked, Errno>> {
    if hook::guard_is_blind() || NO_OPENAT2.load(Ordering::Relaxed) {
        return None;
    }
    let resolve = boundary.resolve() | ResolveFlags::NO_SYMLINKS;
    match open_in_kernel(directory, path, resolve, with_usual(flags), Mode::empty()) {
        Err(Errno::LOOP | Errno::AGAIN | Errno::NOSYS | Errno::PERM) => None,
        result => Some(result.map(|handle| Walked {
            handle,
            straight: true,
        })),
    }
}

/// Opens `path` without ever leaving `directory`, whatever links and `..` it contains.
///
/// `EXDEV` is the kernel's word for an attempt to leave, `EAGAIN` for one that other
/// processes disturbed without end.
pub(crate) fn open(
    directory: BorrowedFd<'_>,
    path: &str,
    boundary: Boundary,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let flags = with_usual(flags);
    if hook::guard_is_blind() {
        return rustix::fs::openat(directory, path, flags, mode);
    }
    if !NO_OPENAT2.load(Ordering::Relaxed) {
        match open_in_kernel(directory, path, boundary.resolve(), flags, mode) {
            Err(Errno::NOSYS | Errno::PERM) if !has_openat2(directory) => {
                NO_OPENAT2.store(true, Ordering::Relaxed);
            }
            Err(Errno::AGAIN) => {}
            result => return result,
        }
    }
    open_undisturbed(directory, path, flags, mode)
}

/// The flags that every walk has.
fn with_usual(flags: OFlags) -> OFlags {
    // openat2 refuses everything but these with O_PATH (EINVAL).
    if flags.contains(OFlags::PATH) {
        flags | OFlags::CLOEXEC
    } else {
        flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK
    }
}

/// Whether the kernel takes openat2 at all. Filters of older container runtimes answer
/// `EPERM` to every call that they do not know, which a file can answer as well.
fn has_openat2(directory: BorrowedFd<'_>) -> bool {
    let (flags, beneath) = (OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::BENEATH);
    !matches!(
        rustix::fs::openat2(directory, ".", flags, Mode::empty(), beneath),
        Err(Errno::NOSYS | Errno::PERM)
    )
}

/// Opens one name without leaving the mount that the directory is on. Without openat2 the
/// kernel has no such walk; then the devices are compared, which are the same for a bind mount.
pub(crate) fn open_on_this_mount(
    directory: BorrowedFd<'_>,
    name: &[u8],
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(directory, name, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM) if !has_openat2(directory) => {}
        result => return result,
    }
    let opened = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    let device = |of: BorrowedFd<'_>| rustix::fs::fstat(of).map(|stat| stat.st_dev);
    if device(opened.as_fd())? != device(directory)? {
        return Err(Errno::XDEV);
    }
    Ok(opened)
}

fn open_in_kernel(
    directory: BorrowedFd<'_>,
    path: &str,
    resolve: ResolveFlags,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    for _ in 0..WALK_RETRIES {
        match rustix::fs::openat2(directory, path, flags, mode, resolve) {
            Err(Errno::AGAIN) => {}
            result => return result,
        }
    }
    Err(Errno::AGAIN)
}

/// A walk in steps, again and again while other processes exchange links for directories
/// between two steps. The first such step then finds no link to read (`EINVAL`), or a link
/// where it opens a directory (`ENOTDIR`), which can also be the truth.
fn open_undisturbed(
    directory: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    for attempt in 0..WALK_RETRIES {
        match open_step_by_step(directory, path, flags, mode) {
            Err(Errno::INVAL) => {}
            Err(Errno::NOTDIR) if attempt < NOT_DIRECTORY_RETRIES => {}
            result => return result,
        }
    }
    Err(Errno::AGAIN)
}

/// cap-std's walk, component by component, for kernels without openat2.
fn open_step_by_step(
    directory: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    use cap_primitives::fs::{FollowSymlinks, OpenOptions, OpenOptionsExt};

    // With this flag cap-std takes a link to a directory for what is not one.
    let must_be_directory = flags.contains(OFlags::DIRECTORY);
    let flags = flags & !OFlags::DIRECTORY;
    let mut options = OpenOptions::new();
    let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
    options
        .read(!flags.contains(OFlags::WRONLY))
        .write(writes)
        .create_new(flags.contains(OFlags::CREATE | OFlags::EXCL))
        .custom_flags((flags & !(OFlags::ACCMODE | OFlags::CREATE | OFlags::EXCL)).bits() as i32)
        .mode(mode.bits());
    if flags.contains(OFlags::NOFOLLOW) {
        options._cap_fs_ext_follow(FollowSymlinks::No);
    }
    let start = directory.try_clone_to_owned().map_err(errno_of)?.into();
    let opened = cap_primitives::fs::open(&start, path.as_ref(), &options).map_err(errno_of)?;
    if must_be_directory && Kind::of(&rustix::fs::fstat(&opened)?) != Kind::Directory {
        return Err(Errno::NOTDIR);
    }
    Ok(opened.into())
}

/// The errno behind an error of the standard library. cap-std reports an escape without
/// one.
pub(crate) fn errno_of(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(
        if error.kind() == std::io::ErrorKind::PermissionDenied {
            Errno::XDEV
        } else {
            Errno::IO
        },
    )
}

/// Opens a directory to start further walks from; grants no reading.
pub(crate) fn open_directory(
    directory: BorrowedFd<'_>,
    path: &str,
    boundary: Boundary,
) -> Result<OwnedFd, Errno> {
    open(
        directory,
        path,
        boundary,
        OFlags::PATH | OFlags::DIRECTORY,
        Mode::empty(),
    )
}

/// What a file system object is, for equality: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectId {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl ObjectId {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}

/// Kinds of objects that tools tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Symlink,
    Special,
}

impl Kind {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self::from_type(FileType::from_raw_mode(stat.st_mode as RawMode))
    }

    pub(crate) fn from_type(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            _ => Self::Special,
        }
    }
}

/// The state of an object at one moment: two equal versions are the same bytes, except for
/// changes of the same size within one tick of the file system's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(u64, u64);

impl Version {
    pub(crate) fn of(stat: &Stat) -> Self {
        let mut hash = Sha256::new();
        for part in [
            stat.st_dev,
            stat.st_ino,
            stat.st_size as u64,
            stat.st_mtime as u64,
            stat.st_mtime_nsec,
            stat.st_ctime as u64,
            stat.st_ctime_nsec,
        ] {
            hash.update(part.to_le_bytes());
        }
        let digest = hash.finalize();
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&digest[at..at + 8]);
            u64::from_be_bytes(bytes)
        };
        Self(word(0), word(8))
    }

    /// The two halves, as WASI's `metadata-hash-value` carries them: upper, lower.
    pub(crate) fn halves(self) -> (u64, u64) {
        (self.0, self.1)
    }
}

impl std::fmt::Display for Version {
    /// 32 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}{:016x}", self.0, self.1)
    }
}

/// Looks at a name in a directory without following a link.
///
/// `name` is one component, never `..`: then nothing outside can be reached.
pub(crate) fn look(parent: BorrowedFd<'_>, name: &str) -> Result<Stat, Errno> {
    rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Whether the path is one component that cannot lead anywhere but to an entry.
pub(crate) fn is_single_name(path: &str) -> bool {
    !path.contains('/') && path != "." && path != ".." && !path.is_empty()
}

/// Whether `inner` is `outer` or lies somewhere below it, by walking up through `..`.
pub(crate) fn lies_within(inner: BorrowedFd<'_>, outer: ObjectId) -> Result<bool, Errno> {
    for id in upwards(inner)? {
        if id? == outer {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A directory, the one that holds it, and so on up to the file system's own root.
pub(crate) fn upwards(directory: BorrowedFd<'_>) -> Result<Upwards, Errno> {
    let current = open_parentable(directory, ".")?;
    Ok(Upwards {
        current,
        below: None,
    })
}

/// See [`upwards`].
pub(crate) struct Upwards {
    current: OwnedFd,
    below: Option<ObjectId>,
}

impl Iterator for Upwards {
    type Item = Result<ObjectId, Errno>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.step() {
            // The uppermost directory is its own parent.
            Ok(id) if self.below == Some(id) => None,
            Ok(id) => {
                self.below = Some(id);
                Some(Ok(id))
            }
            Err(errno) => Some(Err(errno)),
        }
    }
}

impl Upwards {
    fn step(&mut self) -> Result<ObjectId, Errno> {
        if self.below.is_some() {
            self.current = open_parentable(self.current.as_fd(), "..")?;
        }
        Ok(ObjectId::of(&rustix::fs::fstat(&self.current)?))
    }
}

fn open_parentable(directory: BorrowedFd<'_>, path: &str) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(
        directory,
        path,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the test lays out real directories"
)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// What a walk found: the inode, or the errno.
    fn found(result: Result<OwnedFd, Errno>) -> Result<u64, Errno> {
        let stat = rustix::fs::fstat(result?)?;
        Ok(stat.st_ino)
    }

    /// Steps that find a link, and none when they read it, are no failure of the system.
    #[test]
    fn a_walk_in_steps_that_is_raced_ends_inside_or_says_so() {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let base = tempfile::tempdir().unwrap();
        let (directory, link) = (base.path().join("d"), base.path().join("l"));
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("f"), "").unwrap();
        symlink("l", &link).unwrap();
        let root = rustix::fs::openat(CWD, base.path(), OFlags::PATH, Mode::empty()).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let _ = renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE);
                }
            });
            for _ in 0..20_000 {
                let walk = open_undisturbed(root.as_fd(), "d/f", OFlags::RDONLY, Mode::empty());
                let errno = walk.err();
                // Read in one state and followed in the other, the link leads to itself.
                let expected = [None, Some(Errno::LOOP), Some(Errno::AGAIN)];
                assert!(expected.contains(&errno), "{errno:?}");
            }
            over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn the_walk_without_openat2_ends_where_the_kernels_does() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("root");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("f"), "f").unwrap();
        std::fs::write(base.path().join("secret"), "s").unwrap();
        for (link, target) in [
            ("in", "f"),
            ("out", "../secret"),
            ("absolute", "/etc/passwd"),
            ("up", ".."),
            ("loop", "loop"),
            ("slash", "f/"),
            ("down", "a/b"),
            ("dangling", "nothing"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let directory = OFlags::PATH | OFlags::DIRECTORY;
        let handle = rustix::fs::openat(rustix::fs::CWD, &root, directory, Mode::empty()).unwrap();
        let paths = [
            ".",
            "a",
            "a/b",
            "a/..",
            "a/../f",
            "f",
            "f/",
            "f/..",
            "in",
            "out",
            "absolute",
            "up",
            "up/root/f",
            "loop",
            "slash",
            "down/..",
            "down/../../f",
            "dangling",
            "nothing",
            "..",
            "../root/f",
            "a/../../secret",
            "in/",
            "out/",
        ];
        let flags = [
            OFlags::RDONLY,
            OFlags::PATH,
            OFlags::PATH | OFlags::DIRECTORY,
            OFlags::PATH | OFlags::NOFOLLOW,
        ];
        for path in paths {
            for flags in flags {
                let kernel = found(open_in_kernel(
                    handle.as_fd(),
                    path,
                    Boundary::Beneath.resolve(),
                    flags | OFlags::CLOEXEC,
                    Mode::empty(),
                ));
                let steps = found(open_step_by_step(
                    handle.as_fd(),
                    path,
                    flags | OFlags::CLOEXEC,
                    Mode::empty(),
                ));
                assert_eq!(steps, kernel, "{path} {flags:?}");
            }
        }
    }
}
