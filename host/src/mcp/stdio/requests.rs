//! How many requests are under way: from the line that asks to the answer that was written. A
//! client that asks without reading, or faster than it is answered, is not read any further.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::output::Output;
use crate::mcp::under_way::UnderWay;

/// Requests that may be under way; then no more is read until one has been answered. A large
/// one counts for as many as it has pieces of this size, since on its way it is there several
/// times over; one of 8 MiB is alone.
const MOST: u32 = 256;
pub(super) const PIECE: usize = 32 << 10;

/// The places of one client's requests.
#[derive(Debug)]
pub(super) struct Requests {
    places: Arc<Semaphore>,
    output: Output,
}

impl Requests {
    pub(super) fn answered_by(output: Output) -> Self {
        Self {
            places: Arc::new(Semaphore::new(MOST as usize)),
            output,
        }
    }

    /// Waits for a place for a request that takes so many bytes.
    pub(super) async fn place(&self, weight: usize) -> Option<UnderWay> {
        let places = u32::try_from(1 + weight / PIECE).unwrap_or(MOST).min(MOST);
        let permit = Arc::clone(&self.places).acquire_many_owned(places).await;
        Some(UnderWay::answered_by(self.output.clone(), permit.ok()?))
    }

    /// Waits until no request is under way.
    pub(super) async fn idle(&self) {
        let _all = self.places.acquire_many(MOST).await;
    }
}
