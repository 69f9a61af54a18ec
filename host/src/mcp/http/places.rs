//! Places for connections. Where all are taken, the connection that has been idle for longest
//! gives way: one that serves no request whose token was shown, whether it has sent nothing,
//! half a request or a hundred. After those it is the stream that has been listening for
//! longest, whose client can open it anew.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Connections at one time.
const MAX_CONNECTIONS: usize = 256;

/// The places of a server.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    taken: Mutex<Taken>,
    /// Told when a place is free or a connection idle.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    last: u64,
    connections: HashMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    used: Use,
    since: Instant,
    given_away: CancellationToken,
}

/// What a connection is used for, in the order in which connections give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// No request, or none whose token was shown.
    Idle,
    /// A stream of whatever the server may have to say.
    Listening,
    /// A request, which keeps its place until it is answered.
    Busy,
}

/// A connection's place, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    given_away: CancellationToken,
}

/// A request that is served, until it is dropped.
#[derive(Debug)]
pub(super) struct Served(Arc<Place>);

impl Default for Places {
    fn default() -> Self {
        Self::new(MAX_CONNECTIONS)
    }
}

impl Places {
    fn new(most: usize) -> Self {
        Self {
            most,
            taken: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// A place for a new connection; waits while every connection serves a request.
    pub(super) async fn take(self: &Arc<Self>) -> Arc<Place> {
        loop {
            let changed = self.changed.notified();
            if let Some(place) = self.try_take() {
                return place;
            }
            changed.await;
        }
    }

    fn try_take(self: &Arc<Self>) -> Option<Arc<Place>> {
        let mut taken = self.taken();
        if taken.connections.len() >= self.most {
            taken.give_away()?;
        }
        taken.last += 1;
        let (number, given_away) = (taken.last, CancellationToken::new());
        let connection = Connection {
            used: Use::Idle,
            since: Instant::now(),
            given_away: given_away.clone(),
        };
        taken.connections.insert(number, connection);
        Some(Arc::new(Place {
            places: Arc::clone(self),
            number,
            given_away,
        }))
    }

    /// Waits until no request is served.
    pub(super) async fn quiet(&self) {
        self.without(|connection| connection.used == Use::Busy)
            .await;
    }

    /// Waits until no connection is left.
    pub(super) async fn empty(&self) {
        self.without(|_| true).await;
    }

    async fn without(&self, unwanted: impl Fn(&Connection) -> bool) {
        loop {
            let changed = self.changed.notified();
            if !self.taken().connections.values().any(&unwanted) {
                return;
            }
            changed.await;
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Frees the place of the connection that gives way first, if one does.
    fn give_away(&mut self) -> Option<()> {
        let all = self.connections.iter();
        let first = all.min_by_key(|(_, connection)| (connection.used, connection.since));
        let (&number, _) = first.filter(|(_, connection)| connection.used != Use::Busy)?;
        let connection = self.connections.remove(&number)?;
        connection.given_away.cancel();
        Some(())
    }
}

impl Place {
    /// Ends when the place is another's.
    pub(super) async fn given_away(&self) {
        self.given_away.cancelled().await;
    }

    /// The connection serves a request from now on.
    pub(super) fn serve(self: &Arc<Self>, used: Use) -> Served {
        self.set(used);
        Served(Arc::clone(self))
    }

    fn set(&self, used: Use) {
        let mut taken = self.places.taken();
        if let Some(connection) = taken.connections.get_mut(&self.number) {
            (connection.used, connection.since) = (used, Instant::now());
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.set(Use::Idle);
        self.0.places.changed.notify_waiters();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().connections.remove(&self.number);
        self.places.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(places: &Arc<Places>, used: Use) -> (Arc<Place>, Served) {
        let place = places.try_take().expect("a place");
        let served = place.serve(used);
        (place, served)
    }

    #[test]
    fn the_longest_idle_connection_gives_way_and_a_busy_one_does_not() {
        let places = Arc::new(Places::new(2));
        let (first, served) = taken(&places, Use::Busy);
        let second = places.try_take().expect("a place");
        let third = places.try_take().expect("the second gives way");
        assert!(second.given_away.is_cancelled() && !first.given_away.is_cancelled());
        let served_too = third.serve(Use::Busy);
        assert!(places.try_take().is_none());
        drop(served);
        let fourth = places.try_take().expect("the first gives way");
        assert!(first.given_away.is_cancelled());
        drop((second, first, served_too, third, fourth));
        assert!(places.taken().connections.is_empty());
    }

    #[test]
    fn streams_give_way_after_all_that_is_idle() {
        let places = Arc::new(Places::new(2));
        let listening = taken(&places, Use::Listening);
        let idle = places.try_take().expect("a place");
        let busy = taken(&places, Use::Busy);
        assert!(idle.given_away.is_cancelled() && !listening.0.given_away.is_cancelled());
        let last = places.try_take().expect("the stream gives way");
        assert!(listening.0.given_away.is_cancelled() && !busy.0.given_away.is_cancelled());
        drop(last);
    }
}
