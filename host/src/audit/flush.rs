//! The log on the disk soon after it was written, also where nothing more is written to it.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

/// How long an entry waits for others before all of them are synced. Together with the time
/// that a disk takes, that is less than the second which is promised.
const GATHERING: Duration = Duration::from_millis(500);

/// A log file, and the directory that has its name.
#[derive(Debug)]
pub(super) struct LogFile {
    pub(super) file: File,
    directory: Arc<File>,
    /// Whether the name is on the disk as well.
    named: AtomicBool,
}

impl LogFile {
    /// A file that may have been made just now.
    pub(super) fn new(file: File, directory: Arc<File>) -> Self {
        Self {
            file,
            directory,
            named: AtomicBool::new(false),
        }
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        if !self.named.load(Ordering::Acquire) {
            match rustix::fs::fsync(&*self.directory) {
                // A directory that may not be read, or a file system that has no such thing.
                Ok(()) | Err(Errno::BADF | Errno::INVAL) => {}
                Err(errno) => return Err(errno.into()),
            }
            self.named.store(true, Ordering::Release);
        }
        Ok(())
    }
}

/// Syncs what was written, in a thread of its own that is started when it is wanted.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    shared: Arc<Shared>,
    runs: AtomicBool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What was written to and not synced since.
    unsynced: Option<Arc<LogFile>>,
    /// Whether the thread is syncing something.
    is_syncing: bool,
    /// Whether a sync has failed. What was written before it may be lost, and no later sync
    /// tells (fsync(2)).
    has_failed: bool,
    is_over: bool,
}

impl Flusher {
    /// Starts the thread, unless it runs.
    pub(super) fn start(&self) -> io::Result<()> {
        if self.runs.load(Ordering::Acquire) {
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name("audit".to_owned());
        thread.spawn(move || shared.flush_until_over())?;
        self.runs.store(true, Ordering::Release);
        Ok(())
    }

    /// Refuses what is to be written after something could not be synced.
    pub(super) fn check(&self) -> io::Result<()> {
        self.shared.locked().check()
    }

    /// Has a file synced soon. Another one before it is synced already.
    pub(super) fn note(&self, file: &Arc<LogFile>) {
        let mut state = self.shared.locked();
        let noted = state.unsynced.as_ref();
        if !noted.is_some_and(|noted| Arc::ptr_eq(noted, file)) {
            state.unsynced = Some(Arc::clone(file));
            self.shared.changed.notify_all();
        }
    }

    /// Syncs now what was noted, and waits for what the thread is at.
    pub(super) fn sync(&self) -> io::Result<()> {
        let mut state = self.shared.locked();
        while state.is_syncing {
            state = self.shared.wait(state, None);
        }
        state.check()?;
        let Some(file) = state.unsynced.take() else {
            return Ok(());
        };
        state.keep(file.sync())
    }
}

impl State {
    fn check(&self) -> io::Result<()> {
        match self.has_failed {
            true => Err(io::Error::other("it could not be synced to the disk")),
            false => Ok(()),
        }
    }

    fn keep(&mut self, synced: io::Result<()>) -> io::Result<()> {
        self.has_failed |= synced.is_err();
        synced
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        most: Option<Duration>,
    ) -> MutexGuard<'a, State> {
        let changed = &self.changed;
        match most {
            None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(most) => {
                let waited = changed.wait_timeout(state, most);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    fn flush_until_over(&self) {
        while let Some(file) = self.next() {
            let synced = file.sync();
            let mut state = self.locked();
            // Whoever writes next hears of a failure.
            let _ = state.keep(synced);
            state.is_syncing = false;
            self.changed.notify_all();
        }
    }

    /// Waits for something that was written, and for what comes right behind it.
    fn next(&self) -> Option<Arc<LogFile>> {
        let mut state = self.locked();
        let mut due = None;
        while !state.is_over {
            let now = Instant::now();
            due = state
                .unsynced
                .as_ref()
                .map(|_| due.unwrap_or(now + GATHERING));
            if due.is_some_and(|due| due <= now) {
                state.is_syncing = true;
                return state.unsynced.take();
            }
            state = self.wait(state, due.map(|due| due - now));
        }
        None
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.shared.locked().is_over = true;
        self.shared.changed.notify_all();
    }
}
