//! The log on the disk soon after it was written, also where nothing more is written to it.
//!
//! A few threads do that for all logs of a process, so that a session costs none. While one is at
//! a disk another waits for what is due next: a disk that does not answer holds up its own log.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

/// How long an entry waits for others before all of them are synced. Together with the time
/// that a disk takes, that is less than the second which is promised.
const GATHERING: Duration = Duration::from_millis(500);
/// Most threads: that many disks may fail to answer before other logs wait for them.
const MAX_THREADS: usize = 16;
/// Threads that stay when there is nothing to do: one that is at a disk and one that waits.
const RESTING: usize = 2;

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

/// Syncs what was written to one log.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    shared: Arc<Shared>,
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
    /// Whether a thread is syncing something.
    is_syncing: bool,
    /// Whether a sync has failed. What was written before it may be lost, and no later sync
    /// tells (fsync(2)).
    has_failed: bool,
}

impl Flusher {
    /// Has whatever is noted synced from now on, by a thread.
    pub(super) fn start(&self) -> io::Result<()> {
        CREW.start()
    }

    /// Refuses what is to be written after something could not be synced.
    pub(super) fn check(&self) -> io::Result<()> {
        self.shared.locked().check()
    }

    /// Has a file synced soon. Another one before it is synced already.
    pub(super) fn note(&self, file: &Arc<LogFile>) {
        let before = self.shared.locked().unsynced.replace(Arc::clone(file));
        if before.is_none() {
            CREW.expect(&self.shared);
        }
    }

    /// Syncs now what was noted, and waits for what a thread is at.
    pub(super) fn sync(&self) -> io::Result<()> {
        let mut state = self.shared.locked();
        while state.is_syncing {
            let changed = self.shared.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
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

    /// What is to be synced; nothing while another thread is at it.
    fn begin(&mut self) -> Option<Arc<LogFile>> {
        let file = (!self.is_syncing).then(|| self.unsynced.take()).flatten()?;
        self.is_syncing = true;
        Some(file)
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush(self: &Arc<Self>) {
        let file = self.locked().begin();
        if let Some(file) = file {
            let synced = file.sync();
            let mut state = self.locked();
            // Whoever writes next hears of a failure.
            let _ = state.keep(synced);
            state.is_syncing = false;
            self.changed.notify_all();
        } else if self.locked().unsynced.is_some() {
            CREW.expect(self);
        }
    }
}

/// The threads that sync, and what they have to.
struct Crew {
    work: Mutex<Work>,
    changed: Condvar,
}

struct Work {
    /// Logs that were written to, and when they are due: the next one first. What nobody writes
    /// to any more is not kept open for it.
    due: VecDeque<(Instant, Weak<Shared>)>,
    threads: usize,
    waiting: usize,
}

static CREW: Crew = Crew {
    work: Mutex::new(Work {
        due: VecDeque::new(),
        threads: 0,
        waiting: 0,
    }),
    changed: Condvar::new(),
};

impl Crew {
    fn locked(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the first thread, unless it runs.
    fn start(&'static self) -> io::Result<()> {
        let mut work = self.locked();
        match work.threads {
            0 => self.another(&mut work),
            _ => Ok(()),
        }
    }

    fn another(&'static self, work: &mut Work) -> io::Result<()> {
        let thread = thread::Builder::new().name("audit".to_owned());
        thread.spawn(move || self.serve())?;
        work.threads += 1;
        Ok(())
    }

    fn expect(&self, log: &Arc<Shared>) {
        let due = Instant::now() + GATHERING;
        let mut work = self.locked();
        work.due.push_back((due, Arc::downgrade(log)));
        // Who waits for one that is due earlier need not know.
        if work.due.len() == 1 {
            self.changed.notify_one();
        }
    }

    fn serve(&'static self) {
        let mut work = self.locked();
        while work.waiting < RESTING {
            let Some(log) = work.next_due() else {
                work = self.wait(work);
                continue;
            };
            // Somebody has to know when the next one is due.
            self.changed.notify_one();
            if work.waiting == 0 && work.threads < MAX_THREADS {
                // Without another thread the next log waits for this one.
                let _ = self.another(&mut work);
            }
            drop(work);
            if let Some(log) = log.upgrade() {
                log.flush();
            }
            work = self.locked();
        }
        work.threads -= 1;
    }

    /// Waits for what is due next, or for something to be written.
    fn wait<'a>(&self, mut work: MutexGuard<'a, Work>) -> MutexGuard<'a, Work> {
        work.waiting += 1;
        let next = work.due.front().map(|(due, _)| *due);
        let mut work = match next {
            None => (self.changed.wait(work)).unwrap_or_else(PoisonError::into_inner),
            Some(due) => {
                let most = due.saturating_duration_since(Instant::now());
                let waited = self.changed.wait_timeout(work, most);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        work.waiting -= 1;
        work
    }
}

impl Work {
    fn next_due(&mut self) -> Option<Weak<Shared>> {
        let (due, _) = self.due.front()?;
        let is_due = *due <= Instant::now();
        is_due
            .then(|| self.due.pop_front())
            .flatten()
            .map(|(_, log)| log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ambient;

    const LOGS: usize = 200;

    fn log(directory: &std::path::Path, number: usize) -> Arc<LogFile> {
        let path = directory.join(number.to_string());
        let file = ambient::create_private_file(&path).expect("a file");
        let directory = ambient::open_directory_of(&path).expect("its directory");
        Arc::new(LogFile::new(file, Arc::new(directory)))
    }

    #[test]
    fn many_logs_are_synced_by_few_threads() {
        let directory = tempfile::tempdir().expect("a directory");
        let flushers: Vec<Flusher> = (0..LOGS).map(|_| Flusher::default()).collect();
        for (number, flusher) in flushers.iter().enumerate() {
            flusher.start().expect("a thread");
            flusher.note(&log(directory.path(), number));
        }
        for flusher in &flushers {
            let mut state = flusher.shared.locked();
            while state.unsynced.is_some() || state.is_syncing {
                let changed = flusher.shared.changed.wait(state);
                state = changed.unwrap_or_else(PoisonError::into_inner);
            }
            state.check().expect("it was synced");
        }
        assert!(CREW.locked().threads <= MAX_THREADS);
    }

    /// A thread that is at a disk which does not answer leaves another that waits.
    #[test]
    fn a_log_whose_sync_goes_on_is_asked_again_later() {
        let directory = tempfile::tempdir().expect("a directory");
        let flusher = Flusher::default();
        flusher.note(&log(directory.path(), 0));
        flusher.shared.locked().is_syncing = true;
        flusher.shared.flush();
        let mut state = flusher.shared.locked();
        assert!(
            state.unsynced.is_some(),
            "two threads at one log are one too many"
        );
        state.is_syncing = false;
    }
}
