//! How many instances run at one time: as many as the pool has room for.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::component::MAX_INSTANCES;

static FREE: Mutex<u32> = Mutex::new(MAX_INSTANCES);
static FREED: Condvar = Condvar::new();

/// A place in the pool, given back when dropped.
#[derive(Debug)]
pub(crate) struct Place(());

/// Waits for a place; `None` when there was none in time.
pub(crate) fn enter(patience: Duration) -> Option<Place> {
    let give_up = Instant::now() + patience;
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    while *free == 0 {
        let left = give_up.checked_duration_since(Instant::now())?;
        (free, _) = FREED
            .wait_timeout(free, left)
            .unwrap_or_else(PoisonError::into_inner);
    }
    *free -= 1;
    Some(Place(()))
}

impl Drop for Place {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        FREED.notify_one();
    }
}
