//! The trees and files that are worked on, and sessions over them.

use std::fs;
use std::path::{Path, PathBuf};

use rootbound::{AuditLog, Consent, Durability, Limits, Session};
use tempfile::TempDir;

/// Files of the tree that is searched, in so many directories.
pub(crate) const FILES: usize = 20_000;
const DIRECTORIES: usize = 200;
/// One file in so many has what is searched for.
const EVERY: usize = 4_000;
/// Bytes of each of them.
const FILE_BYTES: usize = 4 << 10;
/// Entries of the directory that is listed.
pub(crate) const ENTRIES: usize = 10_000;
/// Bytes of the file that is read and edited, and of the one that is read through.
pub(crate) const LARGE: usize = 10 << 20;
pub(crate) const LARGEST: usize = 60 << 20;

pub(crate) const LINE: &str =
    "a line of ordinary text, as files have them, with some words in it\n";

pub(crate) struct Trees {
    base: TempDir,
}

impl Trees {
    pub(crate) fn new() -> Self {
        // On the disk of the build: the system's directory for temporary files may be in memory.
        let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let trees = Self { base };
        for directory in ["work/tree", "work/entries", "work/text", "native"] {
            fs::create_dir_all(trees.base.path().join(directory)).unwrap();
        }
        let text = LINE.repeat(LARGEST / LINE.len() + 1);
        for number in 0..FILES {
            let directory = trees.tree().join(format!("{:03}", number % DIRECTORIES));
            fs::create_dir_all(&directory).unwrap();
            let word = match number % EVERY {
                0 => "needle\n",
                _ => "straw\n",
            };
            let content = [&text[..FILE_BYTES - word.len()], word].concat();
            fs::write(directory.join(format!("file-{number:05}.txt")), content).unwrap();
        }
        for number in 0..ENTRIES {
            let name = format!("entry-{number:05}.txt");
            fs::write(trees.entries().join(name), "x").unwrap();
        }
        for file in [trees.edited(), trees.work().join("text/large.txt")] {
            fs::write(file, &text[..LARGE]).unwrap();
        }
        for file in [trees.work().join("text/edited.txt"), trees.edited()] {
            fs::write(file, with_mark(&text)).unwrap();
        }
        fs::write(trees.work().join("text/largest.txt"), &text[..LARGEST]).unwrap();
        trees
    }

    /// A session over all of it, with the limits raised to what large files take.
    pub(crate) fn session(&self, max_memory: Option<u64>) -> Session {
        let defaults = Limits::default();
        let limits = Limits {
            max_read_bytes: 64 << 20,
            max_write_bytes: 16 << 20,
            max_entries: 30_000,
            max_memory: max_memory.unwrap_or(defaults.max_memory),
            ..defaults
        };
        Session::builder()
            .work_root(self.work())
            .limits(limits)
            .overwrite(Consent::Allow)
            .durability(Durability::Fast)
            .audit(AuditLog::file(self.base.path().join("audit.jsonl")).unwrap())
            .build()
            .unwrap()
    }

    fn work(&self) -> PathBuf {
        self.base.path().join("work")
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.work().join("tree")
    }

    pub(crate) fn entries(&self) -> PathBuf {
        self.work().join("entries")
    }

    pub(crate) fn text(&self, name: &str) -> PathBuf {
        self.work().join("text").join(name)
    }

    /// The file that is edited natively.
    pub(crate) fn edited(&self) -> PathBuf {
        self.base.path().join("native/edited.txt")
    }
}

/// The mark that is edited, in the middle of a large text.
fn with_mark(text: &str) -> String {
    let (before, after) = text[..LARGE].split_at(LINE.len() * (LARGE / LINE.len() / 2));
    [before, "mark: 0\n", after].concat()
}

/// Replaces a file's content as the host does it: a file beside it, renamed over it.
pub(crate) fn replace(file: &Path, content: &str) {
    let beside = file.with_extension("new");
    fs::write(&beside, content).unwrap();
    fs::rename(beside, file).unwrap();
}
