//! Places for connections. Where all are taken, the connection that has been idle for longest
//! gives way: one that serves no request whose token was shown, whether it has sent nothing,
//! half a request or a hundred.

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
    /// Since when, while it is idle.
    idle: Option<Instant>,
    given_away: CancellationToken,
}

/// A connection's place, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    given_away: CancellationToken,
}

/// A request that is served; until it is dropped, its connection keeps its place.
#[derive(Debug)]
pub(super) struct Busy(Arc<Place>);

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
            idle: Some(Instant::now()),
            given_away: given_away.clone(),
        };
        taken.connections.insert(number, connection);
        Some(Arc::new(Place {
            places: Arc::clone(self),
            number,
            given_away,
        }))
    }

    /// Waits until no connection is left.
    pub(super) async fn empty(&self) {
        loop {
            let changed = self.changed.notified();
            if self.taken().connections.is_empty() {
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
    /// Frees the place of the connection that has been idle for longest.
    fn give_away(&mut self) -> Option<()> {
        let idle = self.connections.iter();
        let idle = idle.filter_map(|(number, connection)| Some((connection.idle?, *number)));
        let (_, longest) = idle.min()?;
        let connection = self.connections.remove(&longest)?;
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
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.set_idle(None);
        Busy(Arc::clone(self))
    }

    fn set_idle(&self, idle: Option<Instant>) {
        let mut taken = self.places.taken();
        if let Some(connection) = taken.connections.get_mut(&self.number) {
            connection.idle = idle;
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.set_idle(Some(Instant::now()));
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

    #[test]
    fn the_longest_idle_connection_gives_way_and_a_busy_one_does_not() {
        let places = Arc::new(Places::new(2));
        let first = places.try_take().expect("a place");
        let second = places.try_take().expect("a place");
        let served = first.busy();
        let third = places.try_take().expect("the second gives way");
        assert!(second.given_away.is_cancelled() && !first.given_away.is_cancelled());
        let served_too = third.busy();
        assert!(places.try_take().is_none());
        drop(served);
        let fourth = places.try_take().expect("the first gives way");
        assert!(first.given_away.is_cancelled());
        drop((second, first, served_too, third, fourth));
        assert!(places.taken().connections.is_empty());
    }
}
