//! Shares of what all callers have in common. Whoever asks for more gets it as long as what
//! they have then is not more than what is left for everybody else: alone, a caller may take
//! half, and there is always something left for the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::StatusCode;

use super::refusal::Refusal;
use crate::mcp::handler::Principal;

/// Something of which there is a bounded amount.
#[derive(Debug)]
pub(super) struct Shares {
    most: usize,
    /// What it is, for whoever gets none.
    what: &'static str,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of: HashMap<Principal, usize>,
}

/// What a caller has of it, given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    shares: Arc<Shares>,
    principal: Principal,
    amount: usize,
}

impl Shares {
    pub(super) fn new(most: usize, what: &'static str) -> Arc<Self> {
        Arc::new(Self {
            most,
            what,
            taken: Mutex::default(),
        })
    }

    /// Takes so much of it for somebody.
    ///
    /// # Errors
    ///
    /// Where the caller would have more than is left for others, or nothing is left.
    pub(super) fn take(
        self: &Arc<Self>,
        principal: &Principal,
        amount: usize,
    ) -> Result<Share, Refusal> {
        let mut share = Share {
            shares: Arc::clone(self),
            principal: principal.clone(),
            amount: 0,
        };
        share.grow(amount)?;
        Ok(share)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Takes so much more.
    ///
    /// # Errors
    ///
    /// As [`Shares::take`].
    pub(super) fn grow(&mut self, amount: usize) -> Result<(), Refusal> {
        let mut taken = self.shares.taken();
        let own = taken.of.get(&self.principal).copied().unwrap_or(0);
        let left = self.shares.most - taken.all;
        if own + amount > left {
            return Err(refuse(self.shares.what, own));
        }
        taken.all += amount;
        taken.of.insert(self.principal.clone(), own + amount);
        self.amount += amount;
        Ok(())
    }
}

/// Who has nothing has asked for nothing too much.
fn refuse(what: &str, own: usize) -> Refusal {
    match own {
        0 => Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("there is no room for another caller's {what}"),
        ),
        _ => Refusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            format!("this token has as much of the {what} as is left for all others"),
        ),
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.taken();
        taken.all -= self.amount;
        if let Some(own) = taken.of.get_mut(&self.principal) {
            *own -= self.amount;
            if *own == 0 {
                taken.of.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_more_than_is_left_for_others() {
        let shares = Shares::new(256, "places");
        let taken_by = |name: &str| -> Vec<Share> {
            let principal = Principal(name.to_owned());
            std::iter::from_fn(|| shares.take(&principal, 1).ok()).collect()
        };
        let first = taken_by("first");
        let second = taken_by("second");
        let third = taken_by("third");
        assert_eq!((first.len(), second.len(), third.len()), (128, 64, 32));
        drop(first);
        assert_eq!(taken_by("fourth").len(), 80);
        drop((second, third));
        assert!(shares.taken().of.is_empty() && shares.taken().all == 0);
    }

    #[test]
    fn a_share_grows_by_what_is_left() {
        let shares = Shares::new(8, "places");
        let principal = Principal("one".to_owned());
        let mut share = shares.take(&principal, 2).expect("a share");
        assert!(share.grow(2).is_ok());
        let refused = share.grow(1).expect_err("more than is left");
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        let all = Principal("other".to_owned());
        assert!(shares.take(&all, 4).is_ok());
    }
}
