//! Another process, played by a thread: it changes names and files until it is dropped.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags};

use super::setup::Motion;

/// How far a file grows before it starts again: beyond the limit on reading.
const GROWN: u64 = 12 << 20;
const CHUNK: usize = 1 << 16;

/// The thread.
pub struct Mover {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    pub fn start(base: &Path, motion: Motion) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let base = base.to_owned();
        let run = move || {
            // An operation may take away what moves; then nothing moves any more.
            while !asked.load(Ordering::Relaxed) && motion.once(&base).is_ok() {
                std::thread::yield_now();
            }
        };
        Self {
            stop,
            thread: Some(std::thread::spawn(run)),
        }
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("what moves keeps moving");
        }
    }
}

impl Motion {
    /// Makes what the motion needs and the set-up does not name.
    pub fn prepare(&self, base: &Path) {
        match self {
            Self::Grow(file) => fs::write(base.join(file), "").unwrap(),
            Self::Shrink(file) => fs::write(base.join(file), [b's'; CHUNK]).unwrap(),
            _ => {}
        }
    }

    /// One round; everything is in its old place afterwards.
    fn once(&self, base: &Path) -> io::Result<()> {
        match self {
            Self::Grow(file) => grow(&base.join(file)),
            Self::Shrink(file) => shrink(&base.join(file)),
            Self::Replace(file) => replace(&base.join(file)),
            Self::Exchange(one, other) => {
                exchange(base, one, other)?;
                // Whoever else runs on this processor is to see both states.
                std::thread::yield_now();
                exchange(base, one, other)
            }
            Self::Away(from, to) => {
                fs::rename(base.join(from), base.join(to))?;
                std::thread::yield_now();
                fs::rename(base.join(to), base.join(from))
            }
        }
    }
}

fn grow(file: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(file)?;
    file.write_all(&[b'g'; CHUNK])?;
    if file.metadata()?.len() > GROWN {
        file.set_len(0)?;
    }
    Ok(())
}

fn shrink(file: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(file)?;
    file.write_all(&[b's'; CHUNK])
}

fn replace(file: &Path) -> io::Result<()> {
    let other = file.with_extension("other");
    fs::write(&other, "other")?;
    fs::rename(other, file)
}

fn exchange(base: &Path, one: &PathBuf, other: &PathBuf) -> io::Result<()> {
    let flags = RenameFlags::EXCHANGE;
    rustix::fs::renameat_with(CWD, base.join(one), CWD, base.join(other), flags)?;
    Ok(())
}
