//! Where an object really stands below its root: a name for the record, and what patterns
//! judge; never a reason to reach it.

use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::{ambient, paths};

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
    // What is deleted has a path no more, but the kernel tells the last one, marked.
    if rustix::fs::fstat(object).ok()?.st_nlink == 0 {
        return None;
    }
    let (root, object) = (ambient::path_of(root)?, ambient::path_of(object)?);
    let below = object.strip_prefix(root).ok()?;
    if below == Path::new("") {
        return Some(b".".to_vec());
    }
    Some(below.as_os_str().as_bytes().to_vec())
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

    use super::*;

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
