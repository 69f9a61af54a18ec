//! How many instances run at one time: as many as the pool has room for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::component::MAX_INSTANCES;

/// Places in the pool, and the calls that wait for one.
struct Gate {
    free: u32,
    waiting: u32,
}

static GATE: Mutex<Gate> = Mutex::new(Gate {
    free: MAX_INSTANCES,
    waiting: 0,
});
static FREED: Condvar = Condvar::new();

/// A place in the pool, given back when dropped.
#[derive(Debug)]
pub(crate) struct Place(());

/// Waits for a place; `None` when there was none in time.
pub(crate) fn enter(patience: Duration) -> Option<Place> {
    let mut gate = lock();
    if gate.free == 0 {
        gate.waiting += 1;
        (gate, _) = FREED
            .wait_timeout_while(gate, patience, |gate| gate.free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        gate.waiting -= 1;
    }
    gate.free = gate.free.checked_sub(1)?;
    Some(Place(()))
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut gate = lock();
        gate.free += 1;
        // Waking nobody would still be a system call in every call.
        if gate.waiting > 0 {
            FREED.notify_one();
        }
    }
}

fn lock() -> MutexGuard<'static, Gate> {
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}
