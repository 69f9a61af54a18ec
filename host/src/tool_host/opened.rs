//! The sessions that tenants have opened for components, so that they go with their component.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::session::Session;

/// One tenant's sessions, by the numbers of the components.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<Vec<(u64, Session)>>);

/// Those of all tenants that there are.
#[derive(Debug, Default)]
pub(super) struct Opened(Mutex<Vec<Weak<Sessions>>>);

impl Sessions {
    pub(super) fn locked(&self) -> MutexGuard<'_, Vec<(u64, Session)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Opened {
    /// Room for the sessions of another tenant.
    pub(super) fn another(&self) -> Arc<Sessions> {
        let sessions = Arc::default();
        let mut tenants = self.locked();
        // Tenants that are gone make room before the list grows.
        if tenants.len() == tenants.capacity() {
            tenants.retain(|tenant| tenant.strong_count() > 0);
        }
        tenants.push(Arc::downgrade(&sessions));
        sessions
    }

    /// Lets go of the sessions of components that are not loaded any more.
    pub(super) fn retain(&self, is_loaded: impl Fn(u64) -> bool) {
        for sessions in self.locked().iter().filter_map(Weak::upgrade) {
            sessions.locked().retain(|(number, _)| is_loaded(*number));
        }
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Weak<Sessions>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_that_are_gone_take_no_room() {
        let opened = Opened::default();
        let stays = opened.another();
        for _ in 0..1000 {
            drop(opened.another());
        }
        assert!(opened.locked().len() < 10);
        let kept = opened.locked().iter().filter_map(Weak::upgrade).count();
        assert_eq!((kept, Arc::strong_count(&stays)), (1, 1));
    }
}
