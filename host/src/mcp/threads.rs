//! Threads that take turns at serving, so that a call runs where its request was read.
//!
//! One thread at a time serves: it waits for messages and puts answers out. Work that takes
//! its time it does itself, between two turns, and while it does, whoever is free serves. For
//! short work that is nobody, and nothing changes threads; one of those that rest looks every
//! [`TICK`] whether somebody serves, and takes over. So no message waits for a long call for
//! longer than two of them.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::pause::Pause;

/// How long nobody may serve before another thread does. A short call takes a tenth of it.
const TICK: Duration = Duration::from_millis(1);
/// Ticks in which nothing happens before nobody looks any more, so that waking the one who
/// does is not part of every call.
const LINGER: u32 = 100;
/// Most threads: calls that may run (64), and a few for the rest.
const MAX_THREADS: usize = 80;

/// Work of which the serving thread does not wait for the end.
type Job = Box<dyn FnOnce() -> Tell + Send>;
/// Hands the result of a job to whoever waits for it.
type Tell = Box<dyn FnOnce() + Send>;

/// A runtime whose threads take turns. Cloning gives another handle to the same.
#[derive(Clone)]
pub(super) struct Threads {
    shared: Arc<Shared>,
}

struct Shared {
    runtime: Runtime,
    pause: Pause,
    crew: Mutex<Crew>,
    called: Condvar,
}

/// Who does what.
#[derive(Default)]
struct Crew {
    jobs: VecDeque<Job>,
    /// Wakes the thread that serves when there is a job.
    server: Option<Waker>,
    serving: bool,
    /// How often somebody has begun to serve, or left off.
    changes: u64,
    threads: usize,
    /// Threads that have nothing to do, those that have just been started included.
    resting: usize,
    /// How many of them are wanted.
    wanted: usize,
    /// Whether one of them looks at each tick.
    looking: bool,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").finish_non_exhaustive()
    }
}

impl Threads {
    /// Starts the first thread, which serves.
    pub(super) fn start(pause: Pause) -> io::Result<Self> {
        let before_waiting = pause.clone();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || before_waiting.before_waiting())
            .build()?;
        let shared = Arc::new(Shared {
            runtime,
            pause,
            crew: Mutex::default(),
            called: Condvar::new(),
        });
        let threads = Self { shared };
        let mut crew = threads.crew();
        threads.another(&mut crew)?;
        crew.wanted = 1;
        drop(crew);
        Ok(threads)
    }

    /// What the thread that serves does before it waits.
    pub(super) fn pause(&self) -> &Pause {
        &self.shared.pause
    }

    /// Starts a task.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.shared.runtime.spawn(task);
    }

    /// Does work that takes its time beside the serving of messages, for a task. Without an
    /// answer it failed.
    pub(super) fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (teller, told) = oneshot::channel();
        let pause = self.shared.pause.clone();
        let job = move || -> Tell {
            let at_work = pause.work();
            // A panic ends the work and not its thread.
            let result = catch_unwind(AssertUnwindSafe(work));
            Box::new(move || {
                // Who does not wait any more has no use for it.
                let _ = result.map(|result| teller.send(result));
                drop(at_work);
            })
        };
        let mut crew = self.crew();
        crew.jobs.push_back(Box::new(job));
        if let Some(server) = &crew.server {
            server.wake_by_ref();
        }
        told
    }

    fn crew(&self) -> MutexGuard<'_, Crew> {
        let crew = self.shared.crew.lock();
        crew.unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts another thread, which rests.
    fn another(&self, crew: &mut Crew) -> io::Result<()> {
        if crew.threads == MAX_THREADS {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let threads = self.clone();
        thread::Builder::new()
            .name("rootbound-mcp".to_owned())
            .spawn(move || threads.live())?;
        crew.threads += 1;
        crew.resting += 1;
        Ok(())
    }

    fn live(&self) {
        self.rest(self.crew());
        let mut done = None;
        loop {
            let mut crew = self.crew();
            let job = if !crew.serving {
                crew.begin();
                drop(crew);
                self.serve(done.take())
            } else if let Some(tell) = done.take() {
                // Whoever serves is woken by it.
                drop(crew);
                tell();
                continue;
            } else if let Some(job) = crew.jobs.pop_front() {
                // It may wait for what another thread serves.
                drop(crew);
                job
            } else {
                crew.resting += 1;
                self.rest(crew);
                continue;
            };
            done = Some(job());
        }
    }

    /// Serves until there is a job. Whoever leaves serving leaves somebody who will serve: at
    /// once where there are further jobs, else when this one takes long.
    fn serve(&self, mut done: Option<Tell>) -> Job {
        let mut is_first = true;
        let job = self.shared.runtime.block_on(poll_fn(|context| {
            if let Some(tell) = done.take() {
                tell();
            }
            self.next_job(context, mem::take(&mut is_first))
        }));
        let mut crew = self.crew();
        crew.end();
        let at_once = !crew.jobs.is_empty() && crew.resting > crew.wanted;
        crew.wanted += usize::from(at_once);
        if at_once || !crew.looking {
            self.shared.called.notify_one();
        }
        job
    }

    /// A job, but not before the messages had their turn, and not where nobody could serve
    /// meanwhile. Who rests can, also who has been called and is not here yet: on a machine that is
    /// busy with other things each job would start a thread otherwise.
    fn next_job(&self, context: &mut Context<'_>, is_first: bool) -> Poll<Job> {
        let mut crew = self.crew();
        if is_first && !crew.jobs.is_empty() {
            context.waker().wake_by_ref();
        } else if !crew.jobs.is_empty()
            && (crew.resting > 0 || self.another(&mut crew).is_ok())
            && let Some(job) = crew.jobs.pop_front()
        {
            return Poll::Ready(job);
        }
        crew.server = Some(context.waker().clone());
        Poll::Pending
    }

    /// Rests until there is something to do: one at a time looks at each tick whether nobody
    /// has served since the last.
    fn rest(&self, mut crew: MutexGuard<'_, Crew>) {
        let (mut looks, mut quiet) = (false, 0);
        while crew.wanted == 0 {
            if (crew.looking && !looks) || quiet == LINGER {
                crew.looking &= !looks;
                (looks, quiet) = (false, 0);
                let woken = self.shared.called.wait(crew);
                crew = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            (crew.looking, looks) = (true, true);
            let seen = crew.changes;
            let woken = self.shared.called.wait_timeout(crew, TICK);
            (crew, _) = woken.unwrap_or_else(PoisonError::into_inner);
            match crew.changes == seen {
                true if !crew.serving => break,
                true => quiet += 1,
                false => quiet = 0,
            }
        }
        crew.looking &= !looks;
        crew.wanted = crew.wanted.saturating_sub(1);
        crew.resting -= 1;
    }
}

impl Crew {
    fn begin(&mut self) {
        self.serving = true;
        self.changes += 1;
    }

    fn end(&mut self) {
        self.serving = false;
        self.changes += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Barrier, mpsc};
    use std::time::Instant;

    fn threads() -> Threads {
        Threads::start(Pause::default()).expect("a thread")
    }

    fn answer_of<T: Send + 'static>(
        threads: &Threads,
        task: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let (answer, answered) = mpsc::channel();
        threads.spawn(async move {
            let _ = answer.send(task.await);
        });
        answered.recv().expect("an answer")
    }

    fn here() -> thread::ThreadId {
        thread::current().id()
    }

    #[test]
    fn short_work_is_done_where_it_was_asked_for() {
        let threads = threads();
        let all = threads.clone();
        let stayed = answer_of(&threads, async move {
            let mut stayed = 0;
            for _ in 0..1000 {
                let before = here();
                let during = all.beside(here).await.expect("the thread");
                stayed += usize::from(before == during && during == here());
            }
            stayed
        });
        // A machine that stands still for a tick lets another thread take over.
        assert!(stayed > 500, "{stayed}");
    }

    #[test]
    fn messages_are_served_while_work_takes_long() {
        let threads = threads();
        let all = threads.clone();
        let (let_go, gate) = mpsc::channel();
        let answer = answer_of(&threads, async move {
            let work = all.beside(move || gate.recv());
            // This is polled after the work has begun.
            tokio::task::yield_now().await;
            tokio::time::sleep(TICK).await;
            let_go.send("done").expect("the work waits");
            work.await
        });
        assert_eq!(answer.expect("an answer"), Ok("done"));
    }

    #[test]
    fn much_work_is_done_at_one_time() {
        const WORKS: usize = 64;
        let threads = threads();
        let all = threads.clone();
        let together = Arc::new(Barrier::new(WORKS));
        let done = answer_of(&threads, async move {
            let work = |_| {
                let together = Arc::clone(&together);
                all.beside(move || together.wait())
            };
            let mut done = 0;
            for work in (0..WORKS).map(work).collect::<Vec<_>>() {
                done += usize::from(work.await.is_ok());
            }
            done
        });
        assert_eq!(done, WORKS);
    }

    /// A thread that is called comes late where the processors are busy with other things.
    #[test]
    fn threads_are_as_many_as_works_at_one_time_need() {
        const WORKS: usize = 8;
        // Each with one that has just told of its own, one that serves, and one that rests.
        const MOST: usize = 2 * WORKS + 2;
        fn busy(while_true: impl Fn() -> bool) {
            while while_true() {
                std::hint::spin_loop();
            }
        }
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..32 {
            let over = Arc::clone(&over);
            thread::spawn(move || busy(|| !over.load(Ordering::Relaxed)));
        }
        let threads = threads();
        let all = threads.clone();
        answer_of(&threads, async move {
            for _ in 0..50 {
                let work = |_| {
                    all.beside(|| {
                        let begun = Instant::now();
                        busy(|| begun.elapsed() < TICK / 10);
                    })
                };
                for work in (0..WORKS).map(work).collect::<Vec<_>>() {
                    work.await.expect("the thread");
                }
            }
        });
        over.store(true, Ordering::Relaxed);
        let there = threads.crew().threads;
        assert!(there <= MOST, "{there}");
    }

    /// Whoever is done with some work takes what is next, while another thread serves.
    #[test]
    fn work_may_wait_for_what_is_served_meanwhile() {
        const WORKS: usize = 16;
        const TIMES: usize = 100;
        let threads = threads();
        let all = threads.clone();
        let ask = async move |all: Threads| {
            let (asking, asked) = oneshot::channel();
            let (answer, answered) = mpsc::channel();
            let work = all.beside(move || asking.send(()).map(|()| answered.recv()));
            asked.await.expect("a question");
            all.beside(|| ()).await.expect("other work");
            answer.send(7).expect("the work waits");
            work.await.expect("an answer") == Ok(Ok(7))
        };
        let done = answer_of(&threads, async move {
            let tasks = (0..WORKS).map(|_| {
                let all = all.clone();
                tokio::spawn(async move {
                    let mut done = 0;
                    for _ in 0..TIMES {
                        done += usize::from(ask(all.clone()).await);
                    }
                    done
                })
            });
            let mut done = 0;
            for task in tasks.collect::<Vec<_>>() {
                done += task.await.expect("a task");
            }
            done
        });
        assert_eq!(done, WORKS * TIMES);
    }

    #[test]
    fn work_that_panics_has_no_answer_and_ends_no_thread() {
        let threads = threads();
        let all = threads.clone();
        let answers = answer_of(&threads, async move {
            let failed = all.beside(|| panic!("as it has to")).await;
            (failed.is_err(), all.beside(|| 7).await)
        });
        assert_eq!(answers, (true, Ok(7)));
    }
}
