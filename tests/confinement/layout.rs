//! A situation on the disk: `ROOT`, which is granted, and `OUT` and others beside it.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Once;

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::process::{Resource, Rlimit};
use tempfile::TempDir;

use super::motion::Mover;
use super::setup::{self, Entry, Motion};
use super::table::ABSOLUTE_ROOT;

/// Shared memory, the one file system in memory that every Linux has.
const IN_MEMORY: &str = "/dev/shm";

/// What a set-up describes, until it is dropped.
pub struct Layout {
    /// Dropped first: nothing moves while the directories are removed.
    movers: Vec<Mover>,
    motions: Vec<Motion>,
    modes: Vec<PathBuf>,
    /// Patterns that the session denies and allows.
    pub denied: Vec<String>,
    pub allowed: Vec<String>,
    base: TempDir,
}

impl Layout {
    /// Makes what the set-up describes, in memory where there is a place: thousands of
    /// layouts are made. Nothing moves yet.
    pub fn new(setup: &str) -> Self {
        let must = setup.split("; ").any(|entry| entry == "~shm");
        if must || Path::new(IN_MEMORY).is_dir() {
            return Self::within(tempfile::tempdir_in(IN_MEMORY).unwrap(), setup);
        }
        Self::on_disk(setup)
    }

    /// Makes what the set-up describes where temporary files usually are.
    pub fn on_disk(setup: &str) -> Self {
        Self::within(tempfile::tempdir().unwrap(), setup)
    }

    fn within(base: TempDir, setup: &str) -> Self {
        raise_open_files();
        fs::create_dir(base.path().join("ROOT")).unwrap();
        let mut layout = Self {
            movers: Vec::new(),
            motions: Vec::new(),
            modes: Vec::new(),
            denied: Vec::new(),
            allowed: Vec::new(),
            base,
        };
        let entries = setup::entries(setup, &layout.root());
        let (modes, others): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .partition(|entry| matches!(entry, Entry::Mode(..)));
        // Modes last, so that a directory can be filled before it is closed.
        for entry in others.into_iter().chain(modes) {
            layout.make(entry);
        }
        layout
    }

    /// The directory that holds the root and what is beside it.
    pub fn base(&self) -> &Path {
        self.base.path()
    }

    pub fn root(&self) -> PathBuf {
        self.base().join("ROOT")
    }

    /// A handle of the root, to work without confinement.
    pub fn handle(&self) -> OwnedFd {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(self.root(), flags, Mode::empty()).unwrap()
    }

    /// The path as the row means it.
    pub fn path(&self, path: &str) -> String {
        path.replace(ABSOLUTE_ROOT, self.root().to_str().unwrap())
    }

    /// Whether something moves while the operation runs.
    pub fn moves(&self) -> bool {
        !self.motions.is_empty()
    }

    pub fn set_in_motion(&mut self) {
        for motion in &self.motions {
            self.movers
                .push(Mover::start(self.base.path(), motion.clone()));
        }
    }

    pub fn hold_still(&mut self) {
        self.movers.clear();
    }

    fn make(&mut self, entry: Entry) {
        let at = |path: &Path| with_parents(self.base.path().join(path));
        match entry {
            Entry::Directory(path) => fs::create_dir_all(at(&path)).unwrap(),
            Entry::File(path, content) => fs::write(at(&path), content).unwrap(),
            Entry::Link(path, target) => symlink(target, at(&path)).unwrap(),
            Entry::HardLink(path, file) => fs::hard_link(at(&file), at(&path)).unwrap(),
            Entry::Mode(path, mode) => {
                let path = at(&path);
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                self.modes.push(path);
            }
            Entry::Fifo(path) => make_node(&at(&path), FileType::Fifo, 0).unwrap(),
            Entry::Socket(path) => make_node(&at(&path), FileType::Socket, 0).unwrap(),
            Entry::Device(path, major, minor) => make_device(&at(&path), major, minor),
            Entry::Sparse(path, size) => {
                File::create(at(&path)).unwrap().set_len(size).unwrap();
            }
            Entry::Many(path, count) => make_many(&at(&path), count),
            Entry::Deep(count, length) => make_deep(&self.root(), count, length),
            Entry::Chain(name, last, target) => self.make_chain(&name, last, &target),
            Entry::InMemory => {}
            Entry::Deny(pattern) => self.denied.push(pattern),
            Entry::Allow(pattern) => self.allowed.push(pattern),
            Entry::Mount(path) => panic!("{} needs a test of its own: a mount", path.display()),
            Entry::Meanwhile(motion) => {
                motion.prepare(self.base.path());
                self.motions.push(motion);
            }
        }
    }

    fn make_chain(&self, name: &Path, last: usize, target: &std::ffi::OsStr) {
        let name = name.file_name().unwrap().to_str().unwrap();
        let mut target = target.to_owned();
        for number in 0..=last {
            let link = format!("{name}{number}");
            symlink(&target, self.root().join(&link)).unwrap();
            target = link.into();
        }
    }
}

impl Drop for Layout {
    /// Whoever does not run as root could not remove what it may not enter.
    fn drop(&mut self) {
        self.hold_still();
        for path in &self.modes {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        }
    }
}

fn with_parents(path: PathBuf) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn make_node(path: &Path, kind: FileType, device: u64) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let mode = Mode::from_raw_mode(0o666);
    Ok(rustix::fs::mknodat(CWD, path, kind, mode, device)?)
}

/// Who may not make a device may still make 0:0, which the kernel gives to everybody.
fn make_device(path: &Path, major: u32, minor: u32) {
    let device = |major, minor| rustix::fs::makedev(major, minor);
    let made = make_node(path, FileType::CharacterDevice, device(major, minor));
    made.or_else(|_| make_node(path, FileType::CharacterDevice, device(0, 0)))
        .unwrap();
}

fn make_many(directory: &Path, count: usize) {
    fs::create_dir_all(directory).unwrap();
    for number in 0..count {
        File::create(directory.join(format!("{number:06}"))).unwrap();
    }
}

/// Step by step through handles: the whole may be longer than a path can be.
fn make_deep(root: &Path, count: usize, length: usize) {
    let name = "d".repeat(length);
    let open = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut current = rustix::fs::open(root, open, Mode::empty()).unwrap();
    for _ in 0..count {
        rustix::fs::mkdirat(&current, name.as_str(), Mode::from_raw_mode(0o777)).unwrap();
        current = rustix::fs::openat(&current, name.as_str(), open, Mode::empty()).unwrap();
    }
    let create = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&current, "f", create, Mode::from_raw_mode(0o666)).unwrap();
    rustix::io::write(file.as_fd(), b"deep").unwrap();
}

/// A tree of 1,500 levels is walked and removed with as many open directories.
fn raise_open_files() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let limit = rustix::process::getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        rustix::process::setrlimit(Resource::Nofile, raised).unwrap();
    });
}
