//! What all calls of a session together may take.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::CallError;
use crate::policy::Limits;

/// What a session has taken so far.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    written: AtomicU64,
    created: AtomicU64,
    /// When the calls of the last second began.
    calls: Mutex<VecDeque<Instant>>,
}

/// What one call has taken of its session's quotas, to be given back if nothing stays of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    written: u64,
    created: u64,
}

impl Quotas {
    /// Takes bytes, before they are written.
    pub(crate) fn write(
        &self,
        taken: &mut Taken,
        amount: u64,
        limits: &Limits,
    ) -> Result<(), CallError> {
        if let Some(limit) = limits.max_session_write_bytes {
            take(&self.written, amount, limit)
                .map_err(|actual| CallError::limit("max_session_write_bytes", limit, actual))?;
            taken.written += amount;
        }
        Ok(())
    }

    /// Takes one new file or directory, before it is made.
    pub(crate) fn create(&self, taken: &mut Taken, limits: &Limits) -> Result<(), CallError> {
        if let Some(limit) = limits.max_session_files {
            take(&self.created, 1, limit)
                .map_err(|actual| CallError::limit("max_session_files", limit, actual))?;
            taken.created += 1;
        }
        Ok(())
    }

    /// Gives back one new file or directory, which is not made after all.
    pub(crate) fn uncreate(&self, taken: &mut Taken) {
        if taken.created > 0 {
            taken.created -= 1;
            self.created.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Gives back what a call has taken.
    pub(crate) fn give_back(&self, taken: Taken) {
        self.written.fetch_sub(taken.written, Ordering::Relaxed);
        self.created.fetch_sub(taken.created, Ordering::Relaxed);
    }

    /// Lets a call begin, if fewer than the limit began within the second before.
    pub(crate) fn call(&self, now: Instant, limits: &Limits) -> Result<(), CallError> {
        let Some(limit) = limits.max_calls_per_second else {
            return Ok(());
        };
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let is_past =
            |begun: &Instant| now.saturating_duration_since(*begun) >= Duration::from_secs(1);
        while calls.front().is_some_and(is_past) {
            calls.pop_front();
        }
        if calls.len() as u64 >= u64::from(limit) {
            return Err(too_fast(limit));
        }
        calls.push_back(now);
        Ok(())
    }
}

/// Adds to what was taken, unless the sum is over the limit; answers the sum then.
fn take(counter: &AtomicU64, amount: u64, limit: u64) -> Result<(), u64> {
    let add = |taken: u64| {
        let sum = taken.saturating_add(amount);
        (sum <= limit).then_some(sum)
    };
    match counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
        Ok(_) => Ok(()),
        Err(taken) => Err(taken.saturating_add(amount)),
    }
}

fn too_fast(limit: u32) -> CallError {
    let limit = u64::from(limit);
    CallError::limit("max_calls_per_second", limit, limit + 1).hint_of("call again a second later")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_calls_as_the_limit_begin_in_any_second() {
        let limits = Limits {
            max_calls_per_second: Some(2),
            ..Limits::default()
        };
        let (quotas, start) = (Quotas::default(), Instant::now());
        let call = |milliseconds| {
            let now = start + Duration::from_millis(milliseconds);
            quotas.call(now, &limits).is_ok()
        };
        let times = [0, 500, 900, 999, 1000, 1001, 1499, 1500];
        let begun = times.map(call);
        assert_eq!(begun, [true, true, false, false, true, false, false, true]);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let limits = Limits {
            max_session_write_bytes: Some(10),
            ..Limits::default()
        };
        let (quotas, mut taken) = (Quotas::default(), Taken::default());
        assert!(quotas.write(&mut taken, 10, &limits).is_ok());
        let error = quotas.write(&mut taken, 1, &limits).unwrap_err();
        assert_eq!(error.details()["actual"], 11);
        quotas.give_back(taken);
        assert!(quotas.write(&mut Taken::default(), 10, &limits).is_ok());
    }

    #[test]
    fn a_call_gives_back_no_more_than_it_took() {
        let limits = Limits {
            max_session_files: Some(1),
            ..Limits::default()
        };
        let (quotas, mut mine, mut another) =
            (Quotas::default(), Taken::default(), Taken::default());
        assert!(quotas.create(&mut mine, &limits).is_ok());
        quotas.uncreate(&mut another);
        assert!(quotas.create(&mut another, &limits).is_err());
        quotas.uncreate(&mut mine);
        assert!(quotas.create(&mut another, &limits).is_ok());
    }
}
