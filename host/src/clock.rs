//! The clock by which guests are stopped: it ticks only while calls run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::Engine;

/// How precisely a deadline is kept.
const TICK: Duration = Duration::from_millis(10);
/// Ticks without a call before the thread sleeps, so that waking it is not part of every
/// call.
const LINGER: u32 = 50;

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static ASLEEP: AtomicBool = AtomicBool::new(true);
static TICKER: OnceLock<Thread> = OnceLock::new();

/// Keeps the clock ticking while it lives.
#[derive(Debug)]
pub(crate) struct Ticking(());

/// Starts the clock for one call.
pub(crate) fn start(engine: &'static Engine) -> Ticking {
    static SPAWN: Once = Once::new();
    RUNNING.fetch_add(1, Ordering::SeqCst);
    SPAWN.call_once(|| {
        let spawned = thread::Builder::new()
            .name("rootbound-clock".to_owned())
            .spawn(move || tick(engine));
        if let Ok(handle) = spawned {
            let _ = TICKER.set(handle.thread().clone());
        }
    });
    if ASLEEP.swap(false, Ordering::SeqCst)
        && let Some(ticker) = TICKER.get()
    {
        ticker.unpark();
    }
    Ticking(())
}

impl Drop for Ticking {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tick(engine: &Engine) {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        engine.increment_epoch();
        idle = if RUNNING.load(Ordering::SeqCst) == 0 {
            idle + 1
        } else {
            0
        };
        if idle < LINGER {
            continue;
        }
        ASLEEP.store(true, Ordering::SeqCst);
        // A call that started meanwhile has either seen `ASLEEP` and unparks, or is seen here.
        if RUNNING.load(Ordering::SeqCst) == 0 {
            thread::park();
        }
        ASLEEP.store(false, Ordering::SeqCst);
        idle = 0;
    }
}
