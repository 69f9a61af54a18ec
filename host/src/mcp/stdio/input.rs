//! Reading the standard input without waiting in the kernel.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::FileType;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::awaited;

/// Bytes read at once: what a pipe holds (pipe(7)).
const CHUNK: usize = 64 << 10;

/// A stream of bytes. Its description is shared with the program that started this one, so
/// that it stays as it was: nothing is set to non-blocking.
#[derive(Debug)]
pub(super) enum Input {
    /// A pipe, a socket or a terminal: read when something is there.
    Awaited(AsyncFd<OwnedFd>),
    /// A regular file, which never keeps a reader waiting.
    Direct(OwnedFd),
}

impl Input {
    pub(super) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let stat = rustix::fs::fstat(&descriptor)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            return Ok(Self::Direct(descriptor));
        }
        let duplicate = descriptor.try_clone()?;
        Ok(match awaited(descriptor, Interest::READABLE) {
            Ok(awaited) => Self::Awaited(awaited),
            // What cannot be waited for, such as `/dev/null`, does not keep waiting.
            Err(_) => Self::Direct(duplicate),
        })
    }

    /// Reads what is there into `chunk` and says how much; nothing at the end. Losing the
    /// future loses no bytes.
    pub(super) async fn read(&self, chunk: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Direct(file) => read_some(file, CHUNK, chunk),
            Self::Awaited(descriptor) => loop {
                let mut ready = descriptor.readable().await?;
                let there = rustix::io::ioctl_fionread(descriptor.get_ref())?;
                if there == 0 && !ready.ready().is_read_closed() {
                    ready.clear_ready();
                    continue;
                }
                let room = usize::try_from(there).unwrap_or(CHUNK).clamp(1, CHUNK);
                let read = read_some(descriptor.get_ref(), room, chunk);
                if there == room as u64 && !ready.ready().is_read_closed() {
                    // What comes after the question is told anew.
                    ready.clear_ready();
                }
                return read;
            },
        }
    }
}

fn read_some(descriptor: impl AsFd, most: usize, chunk: &mut Vec<u8>) -> io::Result<usize> {
    chunk.resize(most, 0);
    let read = rustix::io::retry_on_intr(|| rustix::io::read(&descriptor, &mut *chunk));
    chunk.truncate(read.unwrap_or(0));
    match read {
        // A socket whose other end went away with unread answers.
        Err(rustix::io::Errno::CONNRESET) => Ok(0),
        other => Ok(other?),
    }
}
