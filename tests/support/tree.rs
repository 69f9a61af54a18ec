//! A directory as it stands, so that a test can say what a call left behind.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Everything below a directory, by path.
pub type Tree = BTreeMap<String, Node>;

/// One object: what it is and holds, and everything that a change to it would alter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub holds: Holds,
    pub mode: u32,
    owner: (u32, u32),
    object: (u64, u64),
    /// Absent for directories: what is made in one and removed again leaves its mark there.
    links_and_times: Option<(u64, [i64; 4])>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    File(Vec<u8>),
    Directory,
    Link(PathBuf),
    Special,
}

/// Looks at everything below `directory`, without following links or opening pipes.
pub fn tree(directory: &Path) -> Tree {
    let mut tree = Tree::new();
    collect(directory, Path::new(""), &mut tree);
    tree
}

/// The names below a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    tree(directory).into_keys().collect()
}

fn collect(base: &Path, below: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(base.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        let node = Node::at(&base.join(&path));
        let is_directory = node.holds == Holds::Directory;
        tree.insert(path.to_string_lossy().into_owned(), node);
        if is_directory {
            collect(base, &path, tree);
        }
    }
}

impl Node {
    fn at(path: &Path) -> Self {
        let metadata = fs::symlink_metadata(path).unwrap();
        let kind = metadata.file_type();
        let holds = if kind.is_file() {
            Holds::File(fs::read(path).unwrap())
        } else if kind.is_dir() {
            Holds::Directory
        } else if kind.is_symlink() {
            Holds::Link(fs::read_link(path).unwrap())
        } else {
            Holds::Special
        };
        let times = [
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ];
        Self {
            holds,
            mode: metadata.mode() & 0o7777,
            owner: (metadata.uid(), metadata.gid()),
            object: (metadata.dev(), metadata.ino()),
            links_and_times: (!kind.is_dir()).then(|| (metadata.nlink(), times)),
        }
    }
}
