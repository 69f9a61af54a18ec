//! What a tree looks like, to be compared byte for byte.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Contents beyond this size are compared by size and time only.
const COMPARED: u64 = 1 << 20;

/// Every object below a directory by its path, and the directory itself as `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<Vec<u8>, Object>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    kind: FileType,
    mode: u32,
    size: u64,
    /// Seconds and nanoseconds; absent where times are not compared.
    modified: Option<(i64, u64)>,
    /// The bytes of a file, the text of a link.
    content: Vec<u8>,
}

impl Snapshot {
    /// Everything below a directory, times included.
    pub fn of(directory: &Path) -> Self {
        Self::where_name(directory, |_| true)
    }

    /// The same without what stands in the root; that may move meanwhile.
    pub fn outside_of(directory: &Path) -> Self {
        Self::where_name(directory, |name| name != b"ROOT").without(b".")
    }

    fn where_name(directory: &Path, counts: fn(&[u8]) -> bool) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(directory, flags, Mode::empty()).unwrap();
        let mut objects = BTreeMap::new();
        let stat = rustix::fs::fstat(&handle).unwrap();
        objects.insert(b".".to_vec(), Object::new(&stat, Vec::new()));
        walk(handle.as_fd(), b"", counts, &mut objects);
        Self(objects)
    }

    fn without(mut self, path: &[u8]) -> Self {
        self.0.remove(path);
        self
    }

    /// What stands beside the root.
    pub fn outside(mut self) -> Self {
        self.0
            .retain(|path, _| path != b"ROOT" && !path.starts_with(b"ROOT/"));
        self
    }

    /// What stands in the root, without times: two trees that were made at different
    /// moments can be the same.
    pub fn inside(mut self) -> Self {
        self.0.retain(|path, _| path.starts_with(b"ROOT/"));
        self.without_times()
    }

    pub fn without_times(mut self) -> Self {
        for object in self.0.values_mut() {
            object.modified = None;
            if object.kind == FileType::Directory {
                object.size = 0;
            }
        }
        self
    }

    /// What differs, a line for each object; empty when nothing does.
    pub fn difference(&self, later: &Self) -> String {
        let mut lines = String::new();
        for (path, object) in &self.0 {
            match later.0.get(path) {
                Some(other) if other == object => {}
                Some(_) => line(&mut lines, "changed", path),
                None => line(&mut lines, "gone", path),
            }
        }
        for path in later.0.keys().filter(|path| !self.0.contains_key(*path)) {
            line(&mut lines, "new", path);
        }
        lines
    }
}

fn line(lines: &mut String, what: &str, path: &[u8]) {
    let _ = write!(lines, " {what}: `{}`", path.escape_ascii());
}

impl Object {
    fn new(stat: &Stat, content: Vec<u8>) -> Self {
        Self {
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: stat.st_mode & 0o7777,
            size: stat.st_size as u64,
            modified: Some((stat.st_mtime, stat.st_mtime_nsec)),
            content,
        }
    }
}

fn walk(
    directory: BorrowedFd<'_>,
    prefix: &[u8],
    counts: fn(&[u8]) -> bool,
    objects: &mut BTreeMap<Vec<u8>, Object>,
) {
    for entry in Dir::read_from(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") || !counts(name.to_bytes()) {
            continue;
        }
        let path = [prefix, name.to_bytes()].concat();
        let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        let kind = FileType::from_raw_mode(stat.st_mode);
        let content = match kind {
            FileType::RegularFile if stat.st_size as u64 <= COMPARED => {
                read(directory, name, stat.st_size as usize)
            }
            FileType::Symlink => {
                let text = rustix::fs::readlinkat(directory, name, Vec::new());
                text.unwrap().into_bytes()
            }
            _ => Vec::new(),
        };
        objects.insert(path.clone(), Object::new(&stat, content));
        if kind == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(directory, name, flags, Mode::empty()) {
                Ok(inner) => walk(inner.as_fd(), &[&path[..], b"/"].concat(), counts, objects),
                // What we may not enter, nothing that runs as we do can change.
                Err(Errno::ACCESS) => {}
                Err(error) => panic!("`{}`: {error}", path.escape_ascii()),
            }
        }
    }
}

fn read(directory: BorrowedFd<'_>, name: &std::ffi::CStr, size: usize) -> Vec<u8> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => return Vec::new(),
        other => other.unwrap(),
    };
    let mut content = vec![0; size];
    let length = rustix::io::pread(file, &mut content[..], 0).unwrap();
    content.truncate(length);
    content
}
