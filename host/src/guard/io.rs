//! `wasi:io/error` and `wasi:io/poll`: files are always ready, so waiting never waits.

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

/// A pollable of a file.
#[derive(Debug)]
pub struct AlwaysReady;

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
    fn poll(&mut self, pollables: Vec<Resource<AlwaysReady>>) -> wasmtime::Result<Vec<u32>> {
        for pollable in &pollables {
            self.table.get(pollable)?;
        }
        if pollables.is_empty() {
            return Err(wasmtime::Error::msg("a list of pollables is never empty"));
        }
        Ok((0..pollables.len() as u32).collect())
    }
}

impl poll::HostPollable for CallState {
    fn ready(&mut self, pollable: Resource<AlwaysReady>) -> wasmtime::Result<bool> {
        self.table.get(&pollable)?;
        Ok(true)
    }

    fn block(&mut self, pollable: Resource<AlwaysReady>) -> wasmtime::Result<()> {
        self.table.get(&pollable)?;
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<AlwaysReady>) -> wasmtime::Result<()> {
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
