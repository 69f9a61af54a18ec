//! Where a path leads, also where nothing stands yet.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Access, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::ambient;
use crate::patterns::{Judge, Subject};
use crate::roots::Root;
use crate::walk::{self, ObjectId};

/// A directory, or what would become one: the nearest directory that is there, and the names
/// below it that are not.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    nearest: Arc<OwnedFd>,
    id: ObjectId,
    rest: PathBuf,
}

impl Place {
    /// Where a path of the operator's leads.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut there = path;
        let (nearest, id) = loop {
            match ambient::open_ambient_directory(there) {
                Ok(opened) => break opened,
                Err(error) => match there.parent() {
                    None => return Err(error),
                    Some(parent) if parent.as_os_str().is_empty() => {
                        there = parent;
                        break ambient::open_ambient_directory(Path::new("."))?;
                    }
                    Some(parent) => there = parent,
                },
            }
        };
        let mut place = Self::at(Arc::new(nearest), id);
        for name in path.strip_prefix(there).unwrap_or(path).components() {
            place.step(name)?;
        }
        Ok(place)
    }

    /// An open directory.
    pub(crate) fn at(directory: Arc<OwnedFd>, id: ObjectId) -> Self {
        Self {
            nearest: directory,
            id,
            rest: PathBuf::new(),
        }
    }

    pub(crate) fn of_root(root: &Root) -> Self {
        Self::at(Arc::clone(&root.handle), root.id)
    }

    fn step(&mut self, name: Component<'_>) -> io::Result<()> {
        match name {
            Component::Normal(name) => self.rest.push(name),
            Component::ParentDir if !self.rest.pop() => {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let parent = rustix::fs::openat(&self.nearest, "..", flags, Mode::empty())?;
                self.id = ObjectId::of(&rustix::fs::fstat(&parent)?);
                self.nearest = Arc::new(parent);
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn is_there(&self) -> bool {
        self.rest.as_os_str().is_empty()
    }

    /// The directory, or the one below which it would be made.
    pub(crate) fn nearest(&self) -> &OwnedFd {
        &self.nearest
    }

    /// What the nearest directory is.
    pub(crate) fn id(&self) -> ObjectId {
        self.id
    }

    /// Where it is on the host, as the kernel knows it. Nothing is decided by it.
    pub(crate) fn host_path(&self) -> Option<PathBuf> {
        Some(ambient::path_of(self.nearest.as_fd())?.join(&self.rest))
    }

    /// Whether patterns admit it where it stands in another directory, as far as that is known.
    pub(crate) fn is_admitted_in(&self, outer: &Self, judge: &Judge) -> bool {
        let (Some(inner), Some(outer)) = (self.host_path(), outer.host_path()) else {
            return true;
        };
        let Ok(path) = inner.strip_prefix(outer) else {
            return true;
        };
        judge.admits(path.as_os_str().as_bytes(), Subject::Directory)
    }

    /// Whether both are one directory.
    pub(crate) fn is(&self, other: &Self) -> bool {
        (self.id, &self.rest) == (other.id, &other.rest)
    }

    /// Whether it is `outer` or lies in it. Where that cannot be found out, it does.
    pub(crate) fn lies_in(&self, outer: &Self) -> bool {
        match outer.is_there() {
            true => walk::lies_within(self.nearest.as_fd(), outer.id).unwrap_or(true),
            false => self.id == outer.id && self.rest.starts_with(&outer.rest),
        }
    }

    /// Whether this user could make the directory, or make something in it where it is there.
    ///
    /// # Errors
    ///
    /// What the kernel would answer.
    pub(crate) fn check_makeable(&self) -> io::Result<()> {
        let access = Access::WRITE_OK | Access::EXEC_OK;
        rustix::fs::accessat(&self.nearest, ".", access, AtFlags::EACCESS)?;
        let Some(Component::Normal(first)) = self.rest.components().next() else {
            return Ok(());
        };
        // What has the name is no directory, or the walk would have gone on.
        match rustix::fs::statat(&self.nearest, first, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
            Ok(_) if self.rest.components().nth(1).is_some() => Err(Errno::NOTDIR.into()),
            Ok(_) => Err(Errno::EXIST.into()),
        }
    }
}

/// Directories that a start had to make, and takes away again where they are empty, unless it
/// is to leave them.
#[derive(Debug)]
pub(crate) struct Made {
    place: Place,
    remove: AtomicBool,
}

impl Made {
    /// What has to be made for there to be a directory at a place; nothing where it is there.
    pub(crate) fn for_place(place: &Place) -> Option<Self> {
        (!place.is_there()).then(|| Self {
            place: place.clone(),
            remove: AtomicBool::new(true),
        })
    }

    /// The directory in which the first of them stands.
    pub(crate) fn parent(&self) -> &OwnedFd {
        self.place.nearest()
    }

    /// Leaves them where they are.
    pub(crate) fn keep(&self) {
        self.remove.store(false, Ordering::SeqCst);
    }

    /// Takes them away, the innermost first, once.
    pub(crate) fn end(&self) {
        if !self.remove.swap(false, Ordering::SeqCst) {
            return;
        }
        for made in self.place.rest.ancestors() {
            let (Some(name), Some(above)) = (made.file_name(), made.parent()) else {
                return;
            };
            let removed = open_below(self.parent(), above)
                .and_then(|above| rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR));
            // One that is not empty stays, and so do those that it stands in.
            if removed.is_err() {
                return;
            }
        }
    }
}

/// Opens what was made below a directory. A link that stands there now leads elsewhere.
fn open_below(directory: &OwnedFd, path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut opened = rustix::fs::openat(directory, ".", flags, Mode::empty())?;
    for name in path {
        opened = rustix::fs::openat(&opened, name, flags, Mode::empty())?;
    }
    Ok(opened)
}

impl Drop for Made {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the tests lay out real directories"
)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_as_far_as_there_are_directories() {
        let base = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(base.path()).unwrap();
        std::fs::create_dir_all(base.join("a/b")).unwrap();
        std::fs::write(base.join("file"), "").unwrap();
        std::os::unix::fs::symlink("a/b", base.join("link")).unwrap();
        #[rustfmt::skip]
        let rows = [
            ("a/b",          "a/b",       true),
            ("link",         "a/b",       true),
            ("new",          "new",       false),
            ("a/new/deep/",  "a/new/deep", false),
            ("link/./new",   "a/b/new",   false),
            ("link/../new",  "a/new",     false),
            ("new/../other", "other",     false),
            ("link/new/../../x", "a/x",   false),
            ("a/new/..",     "a",         true),
            ("file/x",       "file/x",    false),
        ];
        for (path, leads, is_there) in rows {
            let place = Place::of(&base.join(path)).unwrap();
            assert_eq!(place.host_path().unwrap(), base.join(leads), "{path}");
            assert_eq!(place.is_there(), is_there, "{path}");
        }
        let here = std::env::current_dir().unwrap();
        for path in [
            "no-such-directory",
            "no-such-directory/deep",
            "src/../no-such-directory/x",
        ] {
            let place = Place::of(Path::new(path)).unwrap();
            let leads = path.strip_prefix("src/../").unwrap_or(path);
            assert_eq!(place.host_path().unwrap(), here.join(leads), "{path}");
        }
        assert!(Place::of(Path::new("")).is_err());
    }

    #[test]
    fn what_was_made_is_taken_away_and_nothing_in_its_place() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path();
        std::fs::create_dir_all(base.join("victim/b")).unwrap();
        let made = || Made::for_place(&Place::of(&base.join("a/b")).unwrap()).unwrap();
        let made_now = || {
            let made = made();
            std::fs::create_dir_all(base.join("a/b")).unwrap();
            made
        };
        drop(made_now());
        assert!(!base.join("a").exists());
        let exchanged = made_now();
        std::fs::rename(base.join("a"), base.join("moved")).unwrap();
        std::os::unix::fs::symlink("victim", base.join("a")).unwrap();
        assert!(base.join("a/b").exists(), "the link leads there");
        drop(exchanged);
        assert!(base.join("victim/b").exists());
        std::fs::remove_file(base.join("a")).unwrap();
        let filled = made_now();
        std::fs::write(base.join("a/b/file"), "").unwrap();
        drop(filled);
        assert!(base.join("a/b/file").exists());
    }

    #[test]
    fn what_is_not_there_lies_in_what_is_and_in_what_is_not() {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| Place::of(&base.path().join(path)).unwrap();
        std::fs::create_dir(base.path().join("a")).unwrap();
        #[rustfmt::skip]
        let rows = [
            ("a",       "a",       true),
            ("a/x",     "a",       true),
            ("a/x/y",   "a/x",     true),
            ("a/x",     "a/x",     true),
            ("a",       "a/x",     false),
            ("a/x",     "a/x/y",   false),
            ("a/xy",    "a/x",     false),
            ("x",       "a",       false),
            ("x",       "x/y",     false),
        ];
        for (inner, outer, lies) in rows {
            assert_eq!(at(inner).lies_in(&at(outer)), lies, "{inner} {outer}");
        }
    }
}
