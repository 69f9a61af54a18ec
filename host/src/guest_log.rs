//! Where goes what components write to their standard streams.

use std::fmt;
use std::sync::Arc;

use crate::optional::{Captured, GuestLine};

type Hear = dyn Fn(&GuestLine) + Send + Sync;

/// Who hears the lines: a function of the embedding program, else its subscriber of `tracing`
/// events.
#[derive(Clone, Default)]
pub(crate) struct GuestLog(Option<Arc<Hear>>);

impl GuestLog {
    pub(crate) fn to(hear: impl Fn(&GuestLine) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    /// Tells what was written in a call.
    pub(crate) fn tell(&self, captured: Captured, tool: &str, call: &str) {
        for line in captured.lines(tool, call) {
            match &self.0 {
                Some(hear) => hear(&line),
                None => tracing::info!(
                    target: "rootbound::guest",
                    tool = line.tool,
                    call = line.call,
                    stream = line.stream,
                    "{}",
                    line.text
                ),
            }
        }
    }
}

impl fmt::Debug for GuestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GuestLog")
    }
}
