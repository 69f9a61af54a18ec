//! A session's own directory: fresh, private, and gone with the session where that is wanted.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::ambient;
use crate::place::Place;
use crate::random;
use crate::walk::{self, ObjectId};

/// Nobody but the user.
const PRIVATE: Mode = Mode::RWXU;
/// How often another name is drawn; 64 random bits are not taken by chance.
const DRAWS: usize = 8;

/// A directory with a random name below a base, made for one session.
#[derive(Debug)]
pub(crate) struct SessionDirectory {
    base: Arc<OwnedFd>,
    name: String,
    id: ObjectId,
    path: PathBuf,
    /// Whether it is removed when the session is over; until there is one, it is.
    remove: AtomicBool,
    /// Whether what it holds goes with it. Else it stays where it holds something.
    with_contents: AtomicBool,
    removed: AtomicBool,
}

impl SessionDirectory {
    /// Makes the directory, and its base where that is absent.
    ///
    /// # Errors
    ///
    /// When others than the user may write to the base: they could put something else in the
    /// place of what the session makes.
    pub(crate) fn make(base: &Path) -> io::Result<Self> {
        ambient::create_private_directory(base)?;
        let (handle, _) = ambient::open_ambient_directory(base)?;
        ambient::require_own(handle.as_fd())?;
        Self::below(Arc::new(handle), base)
    }

    /// Whether one could be made below a base.
    ///
    /// # Errors
    ///
    /// As [`SessionDirectory::make`].
    pub(crate) fn check_base(base: &Place) -> io::Result<()> {
        if base.is_there() {
            ambient::require_own(base.nearest().as_fd())?;
        }
        base.check_makeable()
    }

    /// Another one below the same base, for another session.
    pub(crate) fn another(&self) -> io::Result<Self> {
        let base = self.path.parent().unwrap_or(Path::new(""));
        let another = Self::below(Arc::clone(&self.base), base)?;
        if !self.remove.load(Ordering::SeqCst) {
            another.keep();
        }
        if self.with_contents.load(Ordering::SeqCst) {
            another.remove_contents();
        }
        Ok(another)
    }

    fn below(base: Arc<OwnedFd>, path: &Path) -> io::Result<Self> {
        let name = make_below(&base)?;
        let stat = walk::look(base.as_fd(), &name)?;
        Ok(Self {
            id: ObjectId::of(&stat),
            path: path.join(&name),
            base,
            name,
            remove: AtomicBool::new(true),
            with_contents: AtomicBool::new(false),
            removed: AtomicBool::new(false),
        })
    }

    /// A handle of the directory, to be a root.
    pub(crate) fn open(&self) -> io::Result<(OwnedFd, ObjectId)> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.base, &self.name, flags, Mode::empty())?;
        let id = ObjectId::of(&rustix::fs::fstat(&handle)?);
        Ok((handle, id))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn base(&self) -> &Arc<OwnedFd> {
        &self.base
    }

    /// Leaves the directory behind when the session is over.
    pub(crate) fn keep(&self) {
        self.remove.store(false, Ordering::SeqCst);
    }

    /// Has what the directory holds removed with it when the session is over.
    pub(crate) fn remove_contents(&self) {
        self.with_contents.store(true, Ordering::SeqCst);
    }

    /// Removes the directory unless it is to be left.
    pub(crate) fn end(&self) -> io::Result<()> {
        if !self.remove.load(Ordering::SeqCst) {
            return Ok(());
        }
        match self.with_contents.load(Ordering::SeqCst) {
            true => self.remove(),
            false => self.remove_empty(),
        }
    }

    /// Removes the directory where it holds nothing, once.
    fn remove_empty(&self) -> io::Result<()> {
        if self.removed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        match rustix::fs::unlinkat(&self.base, &self.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOTEMPTY | Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes the directory with what it holds, once.
    pub(crate) fn remove(&self) -> io::Result<()> {
        if self.removed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        ambient::remove_tree(self.base.as_fd(), &self.name, self.id)
    }
}

impl Drop for SessionDirectory {
    fn drop(&mut self) {
        // Whoever wants to know closes the session.
        let _ = self.end();
    }
}

fn make_below(base: &OwnedFd) -> io::Result<String> {
    for _ in 0..DRAWS {
        let name = random::hex::<8>();
        match rustix::fs::mkdirat(base, &name, PRIVATE) {
            // The mask of the process can only take from the mode, and must not.
            Ok(()) => {
                rustix::fs::chmodat(base, &name, PRIVATE, AtFlags::empty())?;
                return Ok(name);
            }
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(Errno::EXIST.into())
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the tests lay out real directories"
)]
mod tests {
    use super::*;

    #[test]
    fn what_others_put_there_stays_unless_contents_are_to_go() {
        let base = tempfile::tempdir().unwrap();
        for (is_filled, with_contents, stays) in [
            (false, false, false),
            (true, false, true),
            (true, true, false),
        ] {
            let own = SessionDirectory::make(base.path()).unwrap();
            let path = own.path().to_owned();
            if is_filled {
                std::fs::write(path.join("file"), "").unwrap();
            }
            if with_contents {
                own.remove_contents();
            }
            drop(own);
            assert_eq!(path.exists(), stays, "{is_filled} {with_contents}");
        }
    }
}
