//! Other file systems, mounted for one test. That takes the superuser; where it is not
//! possible the test fails.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Something mounted on a directory, until it is dropped.
pub struct Mount {
    on: PathBuf,
}

impl Mount {
    /// A file system in memory that holds as many bytes as `size` says, such as `64k`.
    pub fn memory(size: &str, on: &Path) -> Self {
        let options = format!("size={size}");
        Self::new(["-t", "tmpfs", "-o", &options, "tmpfs"].map(OsStr::new), on)
    }

    /// Another name for a directory.
    pub fn bind(directory: &Path, on: &Path) -> Self {
        Self::new(["--bind".as_ref(), directory.as_os_str()], on)
    }

    fn new<'a>(what: impl IntoIterator<Item = &'a OsStr>, on: &Path) -> Self {
        run(Command::new("mount").args(what).arg(on));
        Self { on: on.to_owned() }
    }

    /// Lets nobody change anything there from now on.
    pub fn make_read_only(&self) {
        run(Command::new("mount")
            .args(["-o", "remount,bind,ro"])
            .arg(&self.on));
    }

    /// Takes that back.
    pub fn make_writable(&self) {
        run(Command::new("mount")
            .args(["-o", "remount,bind,rw"])
            .arg(&self.on));
    }

    pub fn path(&self) -> &Path {
        &self.on
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        run(Command::new("umount").arg("--lazy").arg(&self.on));
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} (as root?): {stderr}");
}
