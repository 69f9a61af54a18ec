//! How many calls run at one time: as many as the library has instances, and of each tool a
//! part of them. So a short call waits for no long one, however many of those are asked for.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

/// Calls that run at one time; the library has no more instances. Others wait here, where
/// they take no thread.
const MOST: usize = 64;
/// Calls of one tool among them: as many as keep the processors of most machines busy. More at
/// one time would only be slower each, and stand in the way of short ones.
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
    of_tool: HashMap<String, usize>,
    waiting: VecDeque<(String, oneshot::Sender<Place>)>,
}

/// A place, given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    tool: String,
}

impl Places {
    /// Waits for a place for a call of a tool.
    pub(super) async fn take(&self, tool: &str) -> Option<Place> {
        let coming = {
            let mut taken = self.taken();
            if taken.has_room_for(tool) {
                return Some(self.place(&mut taken, tool.to_owned()));
            }
            let (sender, coming) = oneshot::channel();
            taken.waiting.push_back((tool.to_owned(), sender));
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

    fn place(&self, taken: &mut Taken, tool: String) -> Place {
        taken.all += 1;
        match taken.of_tool.get_mut(&tool) {
            Some(count) => *count += 1,
            None => drop(taken.of_tool.insert(tool.clone(), 1)),
        }
        let places = self.clone();
        Place { places, tool }
    }

    /// The first that waits and may go, and its place.
    fn next(&self) -> Option<(oneshot::Sender<Place>, Place)> {
        let mut taken = self.taken();
        let mut waiting = taken.waiting.iter();
        let at = waiting.position(|(tool, _)| taken.has_room_for(tool))?;
        let (tool, sender) = taken.waiting.remove(at)?;
        let place = self.place(&mut taken, tool);
        Some((sender, place))
    }
}

impl Taken {
    fn has_room_for(&self, tool: &str) -> bool {
        let of_tool = self.of_tool.get(tool).copied().unwrap_or(0);
        self.all < MOST && of_tool < MOST_OF_ONE_TOOL
    }

    fn give_back(&mut self, tool: &str) {
        self.all -= 1;
        if let Some(count) = self.of_tool.get_mut(tool) {
            *count -= 1;
            // The names of tools that nobody knows are not kept.
            if *count == 0 {
                self.of_tool.remove(tool);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let places = self.places.clone();
        places.taken().give_back(&self.tool);
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
        let mut taking = Box::pin(places.take(tool));
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
        assert_eq!(take_all().len(), MOST);
        assert_eq!(take_all().len(), MOST);
        assert_eq!(places.taken().all, 0);
        assert!(places.taken().of_tool.is_empty() && places.taken().waiting.is_empty());
    }

    #[test]
    fn who_waits_longest_of_those_who_may_goes_first() {
        let places = Places::default();
        let mut held: Vec<_> = (0..MOST_OF_ONE_TOOL)
            .filter_map(|_| try_take(&places, "search"))
            .collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(places.take("search"));
        let mut second = Box::pin(places.take("search"));
        assert!(first.as_mut().poll(&mut context).is_pending());
        assert!(second.as_mut().poll(&mut context).is_pending());
        held.pop();
        let place = first.as_mut().poll(&mut context);
        assert!(matches!(place, Poll::Ready(Some(_))));
        assert!(second.as_mut().poll(&mut context).is_pending());
    }
}
