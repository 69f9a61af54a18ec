//! How many calls run at one time: as many as the library has instances, and of each tool a
//! part of them. So a short call waits for no long one, however many of those are asked for.
//! Of those who wait, whoever has the fewest running goes first.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

/// Calls that run at one time; the library has no more instances. Others wait here, where
/// they take no thread. The last place is for a caller of whom none runs.
const MOST: usize = 64;
/// Calls of one tool among them: as many as keep the processors of most machines busy. More at
/// one time would only be slower each, and stand in the way of short ones. One more may run
/// for a caller of whom none does.
const MOST_OF_ONE_TOOL: usize = 8;

/// The places of all calls of the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    taken: Mutex<Taken>,
    idle: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of_tool: Counts,
    of_principal: Counts,
    waiting: VecDeque<(Wanted, oneshot::Sender<Place>)>,
}

/// A place, given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    wanted: Wanted,
}

/// Whose call of what.
#[derive(Clone, Debug)]
struct Wanted {
    tool: String,
    principal: String,
}

/// How many of each name; names without any are not kept.
#[derive(Debug, Default)]
struct Counts(HashMap<String, usize>);

impl Counts {
    fn of(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
    }

    fn add(&mut self, name: &str) {
        match self.0.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(self.0.insert(name.to_owned(), 1)),
        }
    }

    fn subtract(&mut self, name: &str) {
        if let Some(count) = self.0.get_mut(name) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(name);
            }
        }
    }
}

impl Places {
    /// Waits for a place for somebody's call of a tool.
    pub(super) async fn take(&self, tool: &str, principal: &str) -> Option<Place> {
        let wanted = Wanted {
            tool: tool.to_owned(),
            principal: principal.to_owned(),
        };
        let coming = {
            let mut taken = self.taken();
            if taken.has_room_for(&wanted) {
                return Some(self.place(&mut taken, wanted));
            }
            let (sender, coming) = oneshot::channel();
            taken.waiting.push_back((wanted, sender));
            coming
        };
        coming.await.ok()
    }

    /// Waits until no call runs.
    pub(super) async fn idle(&self) {
        loop {
            let idle = self.shared.idle.notified();
            if self.taken().all == 0 {
                return;
            }
            idle.await;
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        let taken = self.shared.taken.lock();
        taken.unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, taken: &mut Taken, wanted: Wanted) -> Place {
        taken.all += 1;
        taken.of_tool.add(&wanted.tool);
        taken.of_principal.add(&wanted.principal);
        let places = self.clone();
        Place { places, wanted }
    }

    /// The next that waits and may go, and its place.
    fn next(&self) -> Option<(oneshot::Sender<Place>, Place)> {
        let mut taken = self.taken();
        let at = taken.next()?;
        let (wanted, sender) = taken.waiting.remove(at)?;
        let place = self.place(&mut taken, wanted);
        Some((sender, place))
    }
}

impl Taken {
    fn has_room_for(&self, wanted: &Wanted) -> bool {
        let last = usize::from(self.of_principal.of(&wanted.principal) == 0);
        self.all < MOST - 1 + last && self.of_tool.of(&wanted.tool) < MOST_OF_ONE_TOOL + last
    }

    /// Of those who may go and have the fewest calls running, the one who waits longest.
    fn next(&self) -> Option<usize> {
        let waiting = self.waiting.iter().enumerate();
        let may_go = waiting.filter(|(_, (wanted, _))| self.has_room_for(wanted));
        let next = may_go.min_by_key(|(_, (wanted, _))| self.of_principal.of(&wanted.principal));
        next.map(|(at, _)| at)
    }

    fn give_back(&mut self, wanted: &Wanted) {
        self.all -= 1;
        self.of_tool.subtract(&wanted.tool);
        self.of_principal.subtract(&wanted.principal);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let places = self.places.clone();
        places.taken().give_back(&self.wanted);
        if let Some((sender, place)) = places.next() {
            // Who does not wait any more gives it back at once, to the next.
            let _ = sender.send(place);
        }
        if places.taken().all == 0 {
            places.shared.idle.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Poll, Waker};

    fn try_take(places: &Places, tool: &str) -> Option<Place> {
        try_take_for(places, tool, "local")
    }

    fn try_take_for(places: &Places, tool: &str, principal: &str) -> Option<Place> {
        let mut taking = Box::pin(places.take(tool, principal));
        match taking
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(place) => place,
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_tool_leaves_places_for_others() {
        let places = Places::default();
        let searches: Vec<_> = (0..MOST)
            .filter_map(|_| try_take(&places, "search"))
            .collect();
        assert_eq!(searches.len(), MOST_OF_ONE_TOOL);
        assert!(try_take(&places, "read").is_some());
    }

    #[test]
    fn all_places_together_are_bounded_and_come_back() {
        let places = Places::default();
        let take_all = || -> Vec<_> {
            let tools = (0..2 * MOST).map(|number| format!("tool {}", number % 8));
            tools.filter_map(|tool| try_take(&places, &tool)).collect()
        };
        assert_eq!(take_all().len(), MOST - 1);
        assert_eq!(take_all().len(), MOST - 1);
        assert_eq!(places.taken().all, 0);
        assert!(places.taken().of_tool.0.is_empty() && places.taken().waiting.is_empty());
    }

    #[test]
    fn who_waits_longest_of_those_who_may_goes_first() {
        let places = Places::default();
        let mut held: Vec<_> = (0..MOST_OF_ONE_TOOL)
            .filter_map(|_| try_take(&places, "search"))
            .collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(places.take("search", "local"));
        let mut second = Box::pin(places.take("search", "local"));
        assert!(first.as_mut().poll(&mut context).is_pending());
        assert!(second.as_mut().poll(&mut context).is_pending());
        held.pop();
        let place = first.as_mut().poll(&mut context);
        assert!(matches!(place, Poll::Ready(Some(_))));
        assert!(second.as_mut().poll(&mut context).is_pending());
    }
    #[test]
    fn who_has_fewer_calls_running_goes_before_who_has_more() {
        let places = Places::default();
        let mut held: Vec<_> = (0..MOST_OF_ONE_TOOL)
            .filter_map(|_| try_take(&places, "search"))
            .collect();
        let other = try_take_for(&places, "search", "other");
        assert!(other.is_some(), "there is a place for who has none");
        let mut context = Context::from_waker(Waker::noop());
        let mut more = Box::pin(places.take("search", "local"));
        let mut fewer = Box::pin(places.take("search", "other"));
        assert!(more.as_mut().poll(&mut context).is_pending());
        assert!(fewer.as_mut().poll(&mut context).is_pending());
        held.truncate(MOST_OF_ONE_TOOL - 2);
        assert!(more.as_mut().poll(&mut context).is_pending());
        assert!(fewer.as_mut().poll(&mut context).is_ready());
    }
}
