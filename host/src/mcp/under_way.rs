//! A request that is under way, and what it takes of what requests have in common.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::stdio::Output;

/// Bytes of answers that may wait for the client to read them; then no more is read over the
/// standard streams, and no call begins.
pub(super) const MAX_UNSENT: usize = 1 << 20;

/// A request's place. It travels with the request and with what is owed for it, and is free
/// when nothing of that is left.
#[derive(Clone)]
pub(super) struct UnderWay {
    place: Arc<Mutex<Option<Box<dyn Any + Send>>>>,
    /// Where all answers go, if there is one such place.
    output: Option<Output>,
}

impl fmt::Debug for UnderWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnderWay").finish_non_exhaustive()
    }
}

impl UnderWay {
    /// With a place that is given back by dropping it.
    pub(super) fn with(place: impl Send + 'static) -> Self {
        Self {
            place: Arc::new(Mutex::new(Some(Box::new(place)))),
            output: None,
        }
    }

    /// The same, for answers that all go the same way.
    pub(super) fn answered_by(output: Output, place: impl Send + 'static) -> Self {
        let output = Some(output);
        Self {
            output,
            ..Self::with(place)
        }
    }

    /// Gives the place to another request: this one waits for a person, whose answer has to
    /// be read.
    pub(super) fn give_back(&self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        drop(place.take());
    }

    /// Waits until the client has taken what was answered before: a result that nobody reads
    /// is not made.
    pub(super) async fn room(&self) {
        if let Some(output) = &self.output {
            output.has_at_most(MAX_UNSENT).await;
        }
    }
}
