//! `wasi:io/error` and `wasi:io/poll`: files are always ready, so only clocks are waited for.

use std::thread;
use std::time::{Duration, Instant};

use wasmtime::component::Resource;

use super::fault::{Fault, StreamFault};
use super::state::CallState;
use crate::bindings::filesystem::ErrorCode;
use crate::bindings::{error, poll, streams};

/// What a stream answers after it failed.
#[derive(Debug)]
pub struct StreamFailure {
    pub(super) wasi: ErrorCode,
    message: String,
}

/// How long a wait goes on without a look whether the call is still wanted.
const LOOK: Duration = Duration::from_millis(10);

/// What can be waited for.
#[derive(Clone, Copy, Debug)]
pub enum Pollable {
    /// A file, which is always ready.
    Ready,
    /// A moment.
    At(Instant),
}

impl Pollable {
    fn is_ready(self, now: Instant) -> bool {
        match self {
            Self::Ready => true,
            Self::At(moment) => moment <= now,
        }
    }
}

impl CallState {
    /// Waits for the first of several moments, within the call's deadline.
    fn wait_for(&mut self, pollables: &[Pollable]) -> wasmtime::Result<()> {
        loop {
            let now = Instant::now();
            if pollables.iter().any(|pollable| pollable.is_ready(now)) {
                return Ok(());
            }
            if let Some(error) = self.end_from_outside() {
                return Err(self.stop(error));
            }
            let until = |pollable: &Pollable| match pollable {
                Pollable::Ready => Duration::ZERO,
                Pollable::At(moment) => moment.saturating_duration_since(now),
            };
            let first = pollables.iter().map(until).min().unwrap_or_default();
            thread::sleep(first.min(LOOK));
        }
    }
}

impl error::Host for CallState {}

impl error::HostError for CallState {
    fn to_debug_string(&mut self, failure: Resource<StreamFailure>) -> wasmtime::Result<String> {
        Ok(self.table.get(&failure)?.message.clone())
    }

    fn drop(&mut self, failure: Resource<StreamFailure>) -> wasmtime::Result<()> {
        self.take_back(failure)
    }
}

impl poll::Host for CallState {
    fn poll(&mut self, pollables: Vec<Resource<Pollable>>) -> wasmtime::Result<Vec<u32>> {
        if pollables.is_empty() {
            return Err(wasmtime::Error::msg("a list of pollables is never empty"));
        }
        let mut asked = Vec::with_capacity(pollables.len());
        for pollable in &pollables {
            asked.push(*self.table.get(pollable)?);
        }
        self.wait_for(&asked)?;
        let now = Instant::now();
        let ready = (0..).zip(asked).filter(|(_, it)| it.is_ready(now));
        Ok(ready.map(|(index, _)| index).collect())
    }
}

impl poll::HostPollable for CallState {
    fn ready(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<bool> {
        Ok(self.table.get(&pollable)?.is_ready(Instant::now()))
    }

    fn block(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        let pollable = *self.table.get(&pollable)?;
        self.wait_for(&[pollable])
    }

    fn drop(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.take_back(pollable)
    }
}

impl streams::Host for CallState {
    fn convert_stream_error(
        &mut self,
        fault: StreamFault,
    ) -> wasmtime::Result<streams::StreamError> {
        let fault = match fault {
            StreamFault::Closed => return Ok(streams::StreamError::Closed),
            StreamFault::Fault(fault) => fault,
        };
        let wasi = self.settle(fault)?;
        let message = self
            .last_failure
            .as_ref()
            .map_or_else(String::new, |error| error.message().to_owned());
        let failure = StreamFailure { wasi, message };
        match self.hand_out(failure) {
            Ok(resource) => Ok(streams::StreamError::LastOperationFailed(resource)),
            // No handle is left to carry the reason; the record has it.
            Err(Fault::Refused(_)) => Ok(streams::StreamError::Closed),
            Err(other) => {
                self.settle(other)?;
                Ok(streams::StreamError::Closed)
            }
        }
    }
}
