//! The directories that an attack finds, and what has changed in them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode};

use super::row::Row;
use crate::support::Fixture;

/// A name as the host stages under, of a file that belongs to another process.
pub const STAGED_BY_ANOTHER: &str = ".rootbound-0123456789abcdef0123456789abcdef.tmp";

/// Makes the directories that the attacks are written for.
pub fn lay_out(row: &Row) -> Fixture {
    let fixture = Fixture::new();
    outside(&fixture);
    inputs(&fixture);
    workspace(&fixture);
    if let Some(size) = row.data {
        fixture.input("data.bin", vec![b'd'; size as usize]);
        symlink("data.bin", fixture.inputs().join("link_to_data")).unwrap();
        fixture.work("data.bin", vec![b'd'; size as usize]);
    }
    for number in 0..row.many {
        fixture.input(&format!("many/{number}.bin"), [b'm'; 1000]);
        fixture.work(&format!("many/{number}.bin"), [b'm'; 1000]);
    }
    fixture
}

fn outside(fixture: &Fixture) {
    fs::write(fixture.outside().join("secret.txt"), "the secret\n").unwrap();
    fs::write(fixture.outside().join("twin.md"), "twin\n").unwrap();
    fs::create_dir(fixture.outside().join("bare")).unwrap();
    for root in ["inputs", "workspace"] {
        let sibling = format!("{root}-2");
        fs::create_dir(fixture.base().join(&sibling)).unwrap();
        fs::write(
            fixture.base().join(&sibling).join("secret.txt"),
            "a secret\n",
        )
        .unwrap();
        symlink(
            format!("../{sibling}"),
            fixture.base().join(root).join("sibling"),
        )
        .unwrap();
    }
}

fn inputs(fixture: &Fixture) {
    let inputs = fixture.inputs();
    fixture.input("notes.md", "the notes\n");
    fixture.input("sub/deep.md", "deep\n");
    fixture.input(STAGED_BY_ANOTHER, "staged by another process\n");
    fs::create_dir(inputs.join("bare")).unwrap();
    symlink("..", inputs.join("sub/up")).unwrap();
    symlink("../outside/secret.txt", inputs.join("out")).unwrap();
    symlink("../outside", inputs.join("dir_out")).unwrap();
    symlink(
        fixture.outside().join("secret.txt"),
        inputs.join("absolute_out"),
    )
    .unwrap();
    symlink(
        "missing/../../outside/secret.txt",
        inputs.join("dangling_out"),
    )
    .unwrap();
    special_files(&inputs);
}

fn workspace(fixture: &Fixture) {
    let workspace = fixture.workspace();
    fixture.work("report.md", "the report\n");
    fixture.work("done/old.md", "old\n");
    fixture.work("done/inner/x.md", "x\n");
    fixture.work(STAGED_BY_ANOTHER, "staged by another process\n");
    fs::create_dir(workspace.join("empty")).unwrap();
    fs::hard_link(fixture.outside().join("twin.md"), workspace.join("twin.md")).unwrap();
    symlink("report.md", workspace.join("link_in")).unwrap();
    symlink("../outside/new.txt", workspace.join("out")).unwrap();
    symlink("../outside", workspace.join("dir_out")).unwrap();
    let sparse = File::create(workspace.join("sparse.bin")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    special_files(&workspace);
}

fn special_files(directory: &Path) {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        directory.join("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    drop(UnixListener::bind(directory.join("socket")).unwrap());
}

/// Everything below a directory, by path: what it is, and how it was left.
pub struct Tree(BTreeMap<PathBuf, String>);

impl Tree {
    pub fn of(directory: &Path) -> Self {
        let mut tree = Self(BTreeMap::new());
        tree.add(directory, Path::new(""));
        tree
    }

    fn add(&mut self, directory: &Path, below: &Path) {
        for entry in fs::read_dir(directory.join(below)).unwrap() {
            let path = below.join(entry.unwrap().file_name());
            let state = describe(&directory.join(&path), path.starts_with("workspace"));
            if state.starts_with("directory") {
                self.add(directory, &path);
            }
            self.0.insert(path, state);
        }
    }

    /// What is otherwise now: `+new`, `-gone`, `~changed`.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, state) in &self.0 {
            match now.0.get(path) {
                None => changes.push(format!("-{}", path.display())),
                Some(other) if other != state => changes.push(format!("~{}", path.display())),
                Some(_) => {}
            }
        }
        let is_new = |path: &&PathBuf| !self.0.contains_key(*path);
        let appeared = now.0.keys().filter(is_new);
        changes.extend(appeared.map(|path| format!("+{}", path.display())));
        changes
    }
}

/// Kind, mode, size, names, time and content. Staging may touch the time of a directory
/// that is granted for writing.
fn describe(path: &Path, written: bool) -> String {
    let metadata = fs::symlink_metadata(path).unwrap();
    let file_type = metadata.file_type();
    let (kind, content) = if file_type.is_symlink() {
        ("link", fs::read_link(path).unwrap().display().to_string())
    } else if file_type.is_dir() {
        let time = if written { 0 } else { metadata.mtime_nsec() };
        return format!("directory {:o} {time}", metadata.permissions().mode());
    } else if file_type.is_file() {
        ("file", digest(path, metadata.len()))
    } else if file_type.is_fifo() {
        ("pipe", String::new())
    } else {
        ("socket", String::new())
    };
    format!(
        "{kind} {:o} {} {} {}.{} {content}",
        metadata.permissions().mode(),
        metadata.len(),
        metadata.nlink(),
        metadata.mtime(),
        metadata.mtime_nsec(),
    )
}

/// A terabyte of nothing is told by its size.
fn digest(path: &Path, size: u64) -> String {
    if size > 1 << 30 {
        return String::new();
    }
    crate::support::sha256(fs::read(path).unwrap())
}

/// Descriptors of this process that stand somewhere below a directory.
pub fn open_below(directory: &Path) -> Vec<PathBuf> {
    let mut open = Vec::new();
    for entry in fs::read_dir("/proc/self/fd").unwrap() {
        // Other tests open and close files meanwhile.
        if let Ok(target) = fs::read_link(entry.unwrap().path())
            && target.starts_with(directory)
        {
            open.push(target);
        }
    }
    open
}
