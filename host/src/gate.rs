//! How many instances run at one time: as many as the pool has room for, and never all of them
//! of one component or for one caller.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::component::MAX_INSTANCES;

/// Whose instance it is. Both are known by where they stand in memory, while they hold a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) component: usize,
    /// A session, with those that share its quotas.
    pub(crate) caller: usize,
}

/// Places in the pool, and the calls that wait for one.
struct Gate {
    taken: Vec<Owner>,
    waiting: u32,
}

static GATE: Mutex<Gate> = Mutex::new(Gate {
    taken: Vec::new(),
    waiting: 0,
});
static FREED: Condvar = Condvar::new();

/// A place in the pool, given back when dropped.
#[derive(Debug)]
pub(crate) struct Place(Owner);

/// Waits for a place; `None` when there was none in time.
pub(crate) fn enter(owner: Owner, patience: Duration) -> Option<Place> {
    let mut gate = lock();
    if !gate.has_room_for(owner) {
        gate.waiting += 1;
        (gate, _) = FREED
            .wait_timeout_while(gate, patience, |gate| !gate.has_room_for(owner))
            .unwrap_or_else(PoisonError::into_inner);
        gate.waiting -= 1;
    }
    if !gate.has_room_for(owner) {
        return None;
    }
    gate.taken.push(owner);
    Some(Place(owner))
}

impl Gate {
    /// One component, or one caller, has three places at most for each that it leaves free: 48 of
    /// 64 when it is alone. So whoever has none finds one.
    fn has_room_for(&self, owner: Owner) -> bool {
        let free = MAX_INSTANCES as usize - self.taken.len();
        let of = |is_one: fn(&Owner, &Owner) -> bool| {
            let taken = self.taken.iter().filter(|other| is_one(other, &owner));
            taken.count()
        };
        of(|one, other| one.component == other.component) < 3 * free
            && of(|one, other| one.caller == other.caller) < 3 * free
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut gate = lock();
        if let Some(at) = gate.taken.iter().position(|owner| *owner == self.0) {
            gate.taken.swap_remove(at);
        }
        // Waking nobody would still be a system call in every call. Not everyone who waits may
        // have this one.
        if gate.waiting > 0 {
            FREED.notify_all();
        }
    }
}

fn lock() -> MutexGuard<'static, Gate> {
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(component: usize, caller: usize) -> Owner {
        Owner { component, caller }
    }

    /// How many places it gets when nobody gives one back.
    fn fill(gate: &mut Gate, owner: Owner) -> usize {
        let before = gate.taken.len();
        while gate.has_room_for(owner) {
            gate.taken.push(owner);
        }
        gate.taken.len() - before
    }

    #[test]
    fn whoever_takes_what_it_can_leaves_places_for_others() {
        let mut gate = Gate {
            taken: Vec::new(),
            waiting: 0,
        };
        assert_eq!(fill(&mut gate, owner(1, 1)), 48);
        assert_eq!(
            fill(&mut gate, owner(1, 2)),
            0,
            "another caller of the component"
        );
        assert_eq!(
            fill(&mut gate, owner(2, 1)),
            0,
            "another component of the caller"
        );
        assert_eq!(fill(&mut gate, owner(2, 2)), 12);
        assert_eq!(fill(&mut gate, owner(3, 3)), 3);
        assert_eq!(fill(&mut gate, owner(4, 4)), 1);
        assert_eq!(gate.taken.len(), MAX_INSTANCES as usize);
    }
}
