//! Where an object really stands below its root: a name for the record, and what patterns
//! judge; never a reason to reach it.

use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Stat};

use crate::walk::ObjectId;
use crate::{ambient, paths};

/// What the kernel writes behind the path of what was deleted (`d_path`).
const DELETED: &[u8] = b" (deleted)";

/// The path of an open object from its root, as the kernel knows it at this moment; `.` for
/// the root itself.
///
/// `None` where `/proc` is not mounted, and for what was deleted or moved out of the root
/// meanwhile: there is no path from the root then, and no other is told.
pub(crate) fn path_below(root: BorrowedFd<'_>, object: BorrowedFd<'_>) -> Option<String> {
    bytes_below(root, object).map(|path| paths::escaped(&path))
}

/// The same, byte for byte.
pub(crate) fn bytes_below(root: BorrowedFd<'_>, object: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let (root_path, path) = (ambient::path_of(root)?, ambient::path_of(object)?);
    let below = path.strip_prefix(root_path).ok()?.as_os_str().as_bytes();
    let stat = rustix::fs::fstat(object).ok()?;
    // What is deleted has a path no more, but the kernel tells the last one, marked. Asked
    // behind the path: before it, the object could still be deleted in between.
    if stat.st_nlink == 0 || (below.ends_with(DELETED) && !is_at(root, below, &stat)) {
        return None;
    }
    match below {
        b"" => Some(b".".to_vec()),
        below => Some(below.to_vec()),
    }
}

/// Whether an object stands under a name, and is not a file of which another name is left.
fn is_at(root: BorrowedFd<'_>, path: &[u8], stat: &Stat) -> bool {
    let found = rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| ObjectId::of(&found) == ObjectId::of(stat))
}

/// The path of a name in a directory, likewise.
pub(crate) fn path_of_name(
    root: BorrowedFd<'_>,
    directory: BorrowedFd<'_>,
    name: &str,
) -> Option<String> {
    let directory = path_below(root, directory)?;
    Some(match directory.as_str() {
        "." => name.to_owned(),
        _ => format!("{directory}/{name}"),
    })
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the test lays out real directories"
)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;

    /// A second name outside the root keeps the file alive, and its number of names above zero.
    #[test]
    fn a_name_that_was_deleted_is_not_told_with_the_kernels_mark() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let file = root.join("f");
        std::fs::write(&file, "").unwrap();
        std::fs::hard_link(&file, base.path().join("other")).unwrap();
        let (handle, object) = (File::open(&root).unwrap(), File::open(&file).unwrap());
        std::fs::remove_file(&file).unwrap();
        assert_eq!(path_below(handle.as_fd(), object.as_fd()), None);
        // A name that only looks like the mark is an ordinary one.
        let named = root.join("g (deleted)");
        std::fs::write(&named, "").unwrap();
        let object = File::open(&named).unwrap();
        let told = path_below(handle.as_fd(), object.as_fd());
        assert_eq!(told.as_deref(), Some("g (deleted)"));
    }

    #[test]
    fn a_path_is_told_from_the_root_and_only_below_it() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("root");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/f"), "").unwrap();
        symlink("a/b", root.join("link")).unwrap();
        let handle = File::open(&root).unwrap();
        let told = |path: &Path| {
            let object = File::open(path).unwrap();
            path_below(handle.as_fd(), object.as_fd())
        };
        assert_eq!(told(&root.join("link/f")).as_deref(), Some("a/b/f"));
        assert_eq!(told(&root.join("a/..")).as_deref(), Some("."));
        assert_eq!(told(base.path()), None);
        std::fs::rename(&root, base.path().join("renamed")).unwrap();
        let moved = base.path().join("renamed/link/f");
        assert_eq!(told(&moved).as_deref(), Some("a/b/f"));
        let object = File::open(&moved).unwrap();
        std::fs::remove_file(&moved).unwrap();
        assert_eq!(path_below(handle.as_fd(), object.as_fd()), None);
    }
}
