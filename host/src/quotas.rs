//! What all calls of a session together may take, or those of several sessions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::CallError;
use crate::policy::Limits;

/// Quotas that several sessions share: what all their calls together may write, make and begin.
/// Clones count together.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let reports = tempfile::tempdir()?;
/// use rootbound::{AuditLog, Limits, Quotas, Session};
///
/// let limits = Limits { max_session_files: Some(1), ..Limits::default() };
/// let quotas = Quotas::new(&limits);
/// let session = || {
///     let builder = Session::builder().write_root(reports.path()).audit(AuditLog::none());
///     builder.quotas(&quotas).build()
/// };
/// let write = |session: &Session, path| {
///     session.call("write_file", format!(r#"{{"path": "{path}", "content": "x"}}"#))
/// };
/// assert!(write(&session()?, "a.md").is_ok());
/// let refused = write(&session()?, "b.md").unwrap_err();
/// assert_eq!(refused.details()["limit"], "max_session_files");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Quotas(Arc<Counted>);

/// The limits, and what was taken of them so far.
#[derive(Debug, Default)]
struct Counted {
    most_written: Option<u64>,
    most_created: Option<u64>,
    most_calls: Option<u32>,
    written: AtomicU64,
    created: AtomicU64,
    /// When the calls of the last second began.
    calls: Mutex<VecDeque<Instant>>,
}

/// What one call has taken of one of its session's quotas.
#[derive(Clone, Copy, Debug, Default)]
struct Amounts {
    written: u64,
    created: u64,
}

/// What one call has taken of its session's quotas, to be given back if nothing stays of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    own: Amounts,
    together: Amounts,
}

/// A session's own quotas, and those that it shares with others. Both hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionQuotas {
    own: Quotas,
    together: Option<Quotas>,
}

impl Quotas {
    /// Quotas of which nothing is taken: `max_session_write_bytes`, `max_session_files` and
    /// `max_calls_per_second` of the limits.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self(Arc::new(Counted {
            most_written: limits.max_session_write_bytes,
            most_created: limits.max_session_files,
            most_calls: limits.max_calls_per_second,
            ..Counted::default()
        }))
    }

    /// The same limits, of which nothing is taken.
    fn anew(&self) -> Self {
        Self(Arc::new(Counted {
            most_written: self.0.most_written,
            most_created: self.0.most_created,
            most_calls: self.0.most_calls,
            ..Counted::default()
        }))
    }

    fn write(&self, taken: &mut Amounts, amount: u64) -> Result<(), CallError> {
        if let Some(limit) = self.0.most_written {
            take(&self.0.written, amount, limit)
                .map_err(|actual| CallError::limit("max_session_write_bytes", limit, actual))?;
            taken.written += amount;
        }
        Ok(())
    }

    fn unwrite(&self, taken: &mut Amounts, amount: u64) {
        let amount = amount.min(taken.written);
        taken.written -= amount;
        self.0.written.fetch_sub(amount, Ordering::Relaxed);
    }

    fn create(&self, taken: &mut Amounts) -> Result<(), CallError> {
        if let Some(limit) = self.0.most_created {
            take(&self.0.created, 1, limit)
                .map_err(|actual| CallError::limit("max_session_files", limit, actual))?;
            taken.created += 1;
        }
        Ok(())
    }

    fn uncreate(&self, taken: &mut Amounts) {
        if taken.created > 0 {
            taken.created -= 1;
            self.0.created.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn give_back(&self, taken: Amounts) {
        self.0.written.fetch_sub(taken.written, Ordering::Relaxed);
        self.0.created.fetch_sub(taken.created, Ordering::Relaxed);
    }

    fn call(&self, now: Instant) -> Result<(), CallError> {
        let Some(limit) = self.0.most_calls else {
            return Ok(());
        };
        let mut calls = self.0.calls.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// A call that began for these quotas did not for others.
    fn uncall(&self, now: Instant) {
        let mut calls = self.0.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = calls.iter().rposition(|begun| *begun == now) {
            calls.remove(at);
        }
    }
}

impl SessionQuotas {
    pub(crate) fn new(limits: &Limits, together: Option<Quotas>) -> Self {
        Self {
            own: Quotas::new(limits),
            together,
        }
    }

    /// The same limits for a caller who shares nothing with this one.
    pub(crate) fn anew(&self) -> Self {
        Self {
            own: self.own.anew(),
            together: self.together.as_ref().map(Quotas::anew),
        }
    }

    /// The same limits for another session of a caller, which shares with that one what it
    /// shares at all.
    pub(crate) fn anew_with(&self, caller: &Self) -> Self {
        let together = (self.together.as_ref())
            .map(|own| caller.together.clone().unwrap_or_else(|| own.anew()));
        Self {
            own: self.own.anew(),
            together,
        }
    }

    /// Where the widest of them stand in memory, by which callers are told from one another.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.together.as_ref().unwrap_or(&self.own).0).addr()
    }

    /// Takes bytes, before they are written.
    pub(crate) fn write(&self, taken: &mut Taken, amount: u64) -> Result<(), CallError> {
        self.own.write(&mut taken.own, amount)?;
        let Some(together) = &self.together else {
            return Ok(());
        };
        let written = together.write(&mut taken.together, amount);
        written.inspect_err(|_| self.own.unwrite(&mut taken.own, amount))
    }

    /// Takes one new file or directory, before it is made.
    pub(crate) fn create(&self, taken: &mut Taken) -> Result<(), CallError> {
        self.own.create(&mut taken.own)?;
        let Some(together) = &self.together else {
            return Ok(());
        };
        let created = together.create(&mut taken.together);
        created.inspect_err(|_| self.own.uncreate(&mut taken.own))
    }

    /// Gives back one new file or directory, which is not made after all.
    pub(crate) fn uncreate(&self, taken: &mut Taken) {
        self.own.uncreate(&mut taken.own);
        if let Some(together) = &self.together {
            together.uncreate(&mut taken.together);
        }
    }

    /// Gives back what a call has taken.
    pub(crate) fn give_back(&self, taken: Taken) {
        self.own.give_back(taken.own);
        if let Some(together) = &self.together {
            together.give_back(taken.together);
        }
    }

    /// Lets a call begin, if fewer than the limit began within the second before.
    pub(crate) fn call(&self, now: Instant) -> Result<(), CallError> {
        self.own.call(now)?;
        let Some(together) = &self.together else {
            return Ok(());
        };
        together.call(now).inspect_err(|_| self.own.uncall(now))
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

    fn limits(written: u64, created: u64, calls: u32) -> Limits {
        Limits {
            max_session_write_bytes: Some(written),
            max_session_files: Some(created),
            max_calls_per_second: Some(calls),
            ..Limits::default()
        }
    }

    #[test]
    fn as_many_calls_as_the_limit_begin_in_any_second() {
        let (quotas, start) = (Quotas::new(&limits(0, 0, 2)), Instant::now());
        let call = |milliseconds| {
            let now = start + Duration::from_millis(milliseconds);
            quotas.call(now).is_ok()
        };
        let times = [0, 500, 900, 999, 1000, 1001, 1499, 1500];
        let begun = times.map(call);
        assert_eq!(begun, [true, true, false, false, true, false, false, true]);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let quotas = SessionQuotas::new(&limits(10, 0, 1), None);
        let mut taken = Taken::default();
        assert!(quotas.write(&mut taken, 10).is_ok());
        let error = quotas.write(&mut taken, 1).unwrap_err();
        assert_eq!(error.details()["actual"], 11);
        quotas.give_back(taken);
        assert!(quotas.write(&mut Taken::default(), 10).is_ok());
    }

    #[test]
    fn a_call_gives_back_no_more_than_it_took() {
        let quotas = SessionQuotas::new(&limits(0, 1, 1), None);
        let (mut mine, mut another) = (Taken::default(), Taken::default());
        assert!(quotas.create(&mut mine).is_ok());
        quotas.uncreate(&mut another);
        assert!(quotas.create(&mut another).is_err());
        quotas.uncreate(&mut mine);
        assert!(quotas.create(&mut another).is_ok());
    }

    /// What one of two quotas refuses is not taken of the other.
    #[test]
    fn own_quotas_and_shared_ones_hold_both() {
        let shared = Quotas::new(&limits(10, 2, 2));
        let session = |written, created, calls| {
            SessionQuotas::new(&limits(written, created, calls), Some(shared.clone()))
        };
        let (narrow, wide) = (session(4, 1, 1), session(99, 99, 99));
        let (mut one, mut two) = (Taken::default(), Taken::default());
        assert!(narrow.write(&mut one, 5).is_err());
        assert!(narrow.write(&mut one, 4).is_ok());
        assert!(wide.write(&mut two, 7).is_err());
        assert!(wide.write(&mut two, 6).is_ok());
        assert_eq!(two.own.written, 6);

        assert!(narrow.create(&mut one).is_ok() && narrow.create(&mut one).is_err());
        assert!(wide.create(&mut two).is_ok() && wide.create(&mut two).is_err());
        wide.give_back(two);
        narrow.uncreate(&mut one);
        assert!(narrow.create(&mut one).is_ok() && wide.create(&mut Taken::default()).is_ok());

        let now = Instant::now();
        assert!(narrow.call(now).is_ok() && narrow.call(now).is_err());
        assert!(wide.call(now).is_ok() && wide.call(now).is_err());
        assert_eq!(wide.own.0.calls.lock().unwrap().len(), 1);
    }

    #[test]
    fn another_caller_shares_between_its_sessions_and_with_nobody_else() {
        let shared = Quotas::new(&limits(10, 2, 2));
        let session = || SessionQuotas::new(&Limits::default(), Some(shared.clone()));
        let (one, two) = (session(), session());
        let other_one = one.anew();
        let other_two = two.anew_with(&other_one);
        assert_eq!(one.address(), two.address());
        assert_eq!(other_one.address(), other_two.address());
        assert_ne!(one.address(), other_one.address());
    }
}
