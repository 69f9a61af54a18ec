//! Writing the standard output: whole lines, one after the other, without waiting in the
//! kernel.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FileType, Mode, OFlags};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use super::awaited;

/// `MSG_DONTWAIT` and `MSG_NOSIGNAL` (Linux's `<linux/socket.h>`).
const WITHOUT_WAITING: i32 = 0x40 | 0x4000;

/// Where lines go. Like the input's, the description is shared with others and stays as it
/// was.
#[derive(Clone, Debug)]
pub(in crate::mcp) struct Output {
    place: Arc<Mutex<Place>>,
    state: Arc<State>,
}

#[derive(Debug)]
enum Place {
    /// A socket, which can be told with each write not to wait.
    Socket(AsyncFd<OwnedFd>),
    /// A pipe or terminal, opened anew, so that its not waiting is nobody else's.
    Reopened(AsyncFd<OwnedFd>),
    /// Anything else is written as it is.
    Direct(OwnedFd),
}

/// What reader and writers know of each other.
#[derive(Debug, Default)]
struct State {
    unsent: AtomicUsize,
    less: Notify,
    broken: CancellationToken,
}

/// Bytes that were handed over and not yet written.
struct Unsent {
    state: Arc<State>,
    bytes: usize,
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.state.unsent.fetch_sub(self.bytes, Ordering::Relaxed);
        self.state.less.notify_waiters();
    }
}

/// A descriptor for the standard output, from before the kernel confines the program.
#[derive(Debug)]
pub(in crate::mcp) struct Prepared {
    descriptor: OwnedFd,
    reopened: Option<OwnedFd>,
}

impl Prepared {
    pub(in crate::mcp) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let stat = rustix::fs::fstat(&descriptor)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let reopened = match kind {
            FileType::Fifo | FileType::CharacterDevice => reopen(&descriptor).ok(),
            _ => None,
        };
        Ok(Self {
            descriptor,
            reopened,
        })
    }
}

/// Another description of the same pipe or terminal.
fn reopen(descriptor: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let name = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(rustix::fs::CWD, name, flags, Mode::empty())
}

impl Output {
    pub(super) fn new(prepared: Prepared) -> io::Result<Self> {
        let Prepared {
            descriptor,
            reopened,
        } = prepared;
        let is_socket =
            FileType::from_raw_mode(rustix::fs::fstat(&descriptor)?.st_mode) == FileType::Socket;
        let direct = descriptor.try_clone()?;
        let awaited = |fd| awaited(fd, Interest::WRITABLE).ok();
        let place = match reopened {
            Some(own) => awaited(own).map(Place::Reopened),
            None if is_socket => awaited(descriptor).map(Place::Socket),
            None => None,
        };
        Ok(Self {
            place: Arc::new(Mutex::new(place.unwrap_or(Place::Direct(direct)))),
            state: Arc::default(),
        })
    }

    /// Writes a line now, as far as that goes without waiting; the future writes the rest.
    pub(super) fn write(
        &self,
        line: Vec<u8>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let unsent = self.count(line.len());
        let started = match Arc::clone(&self.place).try_lock_owned() {
            Ok(place) => Started::Writing(place.write_now(&line), place),
            Err(_) => Started::Waiting(Arc::clone(&self.place)),
        };
        let state = Arc::clone(&self.state);
        async move {
            let written = finish(started, &line).await;
            drop(unsent);
            if written.is_err() {
                state.broken.cancel();
            }
            written
        }
    }

    fn count(&self, bytes: usize) -> Unsent {
        self.state.unsent.fetch_add(bytes, Ordering::Relaxed);
        Unsent {
            state: Arc::clone(&self.state),
            bytes,
        }
    }

    /// Waits until the reader of the other end has taken all but `most` bytes.
    pub(in crate::mcp) async fn has_at_most(&self, most: usize) {
        loop {
            let less = self.state.less.notified();
            if self.state.unsent.load(Ordering::Relaxed) <= most {
                return;
            }
            less.await;
        }
    }

    /// Ends when nobody reads any more.
    pub(super) async fn broken(&self) {
        self.state.broken.cancelled().await;
    }
}

/// A line that somebody has begun to write, or that waits for its turn.
enum Started {
    Writing(io::Result<usize>, OwnedMutexGuard<Place>),
    Waiting(Arc<Mutex<Place>>),
}

async fn finish(started: Started, line: &[u8]) -> io::Result<()> {
    let (mut written, place) = match started {
        Started::Writing(written, place) => (written?, place),
        Started::Waiting(place) => (0, place.lock_owned().await),
    };
    while written < line.len() {
        written += place.write_when_possible(&line[written..]).await?;
    }
    Ok(())
}

impl Place {
    async fn write_when_possible(&self, bytes: &[u8]) -> io::Result<usize> {
        let (Self::Socket(descriptor) | Self::Reopened(descriptor)) = self else {
            return self.write_once(bytes);
        };
        loop {
            let mut ready = descriptor.writable().await?;
            if let Ok(result) = ready.try_io(|_| self.write_once(bytes)) {
                return result;
            }
        }
    }

    /// Writes as much as there is room for.
    fn write_now(&self, line: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < line.len() {
            match self.write_once(&line[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    fn write_once(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let result = match self {
                Self::Socket(socket) => {
                    SockRef::from(socket.get_ref()).send_with_flags(bytes, WITHOUT_WAITING)
                }
                Self::Reopened(descriptor) => Ok(rustix::io::write(descriptor.get_ref(), bytes)?),
                Self::Direct(descriptor) => Ok(rustix::io::write(descriptor, bytes)?),
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                other => return other,
            }
        }
    }
}
