//! `wasi:io/streams` over files: the same reads and writes as through descriptors. Where they
//! are granted, the standard streams are streams too.

use wasmtime::component::Resource;

use super::ask::Asked;
use super::fault::{Fault, StreamFault};
use super::io::Pollable;
use super::state::{CallState, OpenFile};
use crate::bindings::streams;
use crate::error::CallError;
use crate::optional::StandardStream;
use crate::policy::Operation;

/// Most bytes that a stream takes at once, as it tells the guest.
const WRITE_PERMIT: u64 = 1 << 20;
/// Zeroes are written from a buffer of this size.
const ZEROES: [u8; 4096] = [0; 4096];

/// What is read in order.
#[derive(Debug)]
pub enum Input {
    /// A file.
    File { file: OpenFile, position: u64 },
    /// The standard input, which is empty.
    Empty,
}

/// What is written in order.
#[derive(Debug)]
pub enum Output {
    /// A file.
    File { file: OpenFile, position: u64 },
    /// A standard stream, which is kept for the operator.
    Standard(StandardStream),
}

impl Input {
    fn advance(&mut self, by: u64) {
        if let Self::File { position, .. } = self {
            *position += by;
        }
    }
}

impl Output {
    fn advance(&mut self, by: u64) {
        if let Self::File { position, .. } = self {
            *position += by;
        }
    }
}

impl CallState {
    fn read_stream(
        &mut self,
        stream: &Resource<Input>,
        wanted: u64,
    ) -> Result<Vec<u8>, StreamFault> {
        let Input::File { file, position } = self.table.get(stream)? else {
            return match wanted {
                0 => Ok(Vec::new()),
                _ => Err(StreamFault::Closed),
            };
        };
        let (file, position) = (file.clone(), *position);
        // A stream hands out what is left, so that a guest can stop where a limit ends it;
        // only who then asks for more is refused.
        let within = wanted.min(self.read_budget(file.id).max(1));
        let bytes = self.read_bytes(&file, within, position)?;
        if bytes.is_empty() && wanted > 0 {
            return Err(StreamFault::Closed);
        }
        self.table.get_mut(stream)?.advance(bytes.len() as u64);
        Ok(bytes)
    }

    fn write_stream(&mut self, stream: &Resource<Output>, bytes: &[u8]) -> Result<(), StreamFault> {
        let (file, position) = match self.table.get(stream)? {
            Output::File { file, position } => (file, position),
            Output::Standard(stream) => {
                let stream = *stream;
                self.check_deadline()?;
                self.captured.write(stream, bytes);
                return Ok(());
            }
        };
        let (file, position) = (file.clone(), *position);
        self.write_bytes(&file, bytes, position)?;
        self.table.get_mut(stream)?.advance(bytes.len() as u64);
        Ok(())
    }

    /// Asks for all the zeroes first, so that nothing is written of what is too much.
    fn write_zeroes_to(
        &mut self,
        stream: &Resource<Output>,
        count: u64,
    ) -> Result<(), StreamFault> {
        let left = self.write_budget();
        if count > left {
            let limit = self.shared.policy.limits.max_write_bytes;
            let total = (limit - left).saturating_add(count);
            let error = CallError::limit("max_write_bytes", limit, total);
            return Err(match self.table.get(stream)? {
                Output::File { file, .. } => Asked::about(file, Operation::Change, error).into(),
                Output::Standard(_) => StreamFault::Closed,
            });
        }
        let mut left = count;
        while left > 0 {
            let chunk = left.min(ZEROES.len() as u64);
            self.write_stream(stream, &ZEROES[..chunk as usize])?;
            left -= chunk;
        }
        Ok(())
    }

    fn splice_into(
        &mut self,
        to: &Resource<Output>,
        from: &Resource<Input>,
        wanted: u64,
    ) -> Result<u64, StreamFault> {
        let bytes = self.read_stream(from, wanted.min(WRITE_PERMIT))?;
        self.write_stream(to, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Moves on without reading; what is skipped does not count as read.
    fn skip_in(&mut self, stream: &Resource<Input>, wanted: u64) -> Result<u64, StreamFault> {
        self.check_deadline()?;
        let input = self.table.get_mut(stream)?;
        let left = match input {
            Input::File { file, position } => {
                let stat = rustix::fs::fstat(&file.handle).map_err(Fault::errno)?;
                (stat.st_size as u64).saturating_sub(*position)
            }
            Input::Empty => 0,
        };
        let skipped = wanted.min(left);
        if skipped == 0 && wanted > 0 {
            return Err(StreamFault::Closed);
        }
        input.advance(skipped);
        Ok(skipped)
    }

    /// Something that can be waited for.
    pub(crate) fn pollable(&mut self, pollable: Pollable) -> wasmtime::Result<Resource<Pollable>> {
        match self.hand_out(pollable) {
            Ok(pollable) => Ok(pollable),
            Err(fault) => {
                self.settle(fault)?;
                let error = self.last_failure.clone().unwrap_or_else(|| {
                    let limit = u64::from(self.shared.policy.limits.max_handles);
                    CallError::limit("max_handles", limit, limit + 1)
                });
                Err(self.stop(error))
            }
        }
    }
}

impl streams::HostInputStream for CallState {
    fn read(&mut self, stream: Resource<Input>, length: u64) -> Result<Vec<u8>, StreamFault> {
        self.read_stream(&stream, length)
    }

    fn blocking_read(
        &mut self,
        stream: Resource<Input>,
        length: u64,
    ) -> Result<Vec<u8>, StreamFault> {
        self.read_stream(&stream, length)
    }

    fn skip(&mut self, stream: Resource<Input>, length: u64) -> Result<u64, StreamFault> {
        self.skip_in(&stream, length)
    }

    fn blocking_skip(&mut self, stream: Resource<Input>, length: u64) -> Result<u64, StreamFault> {
        self.skip_in(&stream, length)
    }

    fn subscribe(&mut self, stream: Resource<Input>) -> wasmtime::Result<Resource<Pollable>> {
        self.table.get(&stream)?;
        self.pollable(Pollable::Ready)
    }

    fn drop(&mut self, stream: Resource<Input>) -> wasmtime::Result<()> {
        self.take_back(stream)
    }
}

impl streams::HostOutputStream for CallState {
    fn check_write(&mut self, stream: Resource<Output>) -> Result<u64, StreamFault> {
        self.table.get(&stream)?;
        Ok(WRITE_PERMIT)
    }

    fn write(&mut self, stream: Resource<Output>, bytes: Vec<u8>) -> Result<(), StreamFault> {
        self.write_stream(&stream, &bytes)
    }

    fn blocking_write_and_flush(
        &mut self,
        stream: Resource<Output>,
        bytes: Vec<u8>,
    ) -> Result<(), StreamFault> {
        self.write_stream(&stream, &bytes)
    }

    fn flush(&mut self, stream: Resource<Output>) -> Result<(), StreamFault> {
        self.table.get(&stream)?;
        Ok(())
    }

    fn blocking_flush(&mut self, stream: Resource<Output>) -> Result<(), StreamFault> {
        self.table.get(&stream)?;
        Ok(())
    }

    fn subscribe(&mut self, stream: Resource<Output>) -> wasmtime::Result<Resource<Pollable>> {
        self.table.get(&stream)?;
        self.pollable(Pollable::Ready)
    }

    fn write_zeroes(&mut self, stream: Resource<Output>, length: u64) -> Result<(), StreamFault> {
        self.write_zeroes_to(&stream, length)
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<Output>,
        length: u64,
    ) -> Result<(), StreamFault> {
        self.write_zeroes_to(&stream, length)
    }

    fn splice(
        &mut self,
        to: Resource<Output>,
        from: Resource<Input>,
        length: u64,
    ) -> Result<u64, StreamFault> {
        self.splice_into(&to, &from, length)
    }

    fn blocking_splice(
        &mut self,
        to: Resource<Output>,
        from: Resource<Input>,
        length: u64,
    ) -> Result<u64, StreamFault> {
        self.splice_into(&to, &from, length)
    }

    fn drop(&mut self, stream: Resource<Output>) -> wasmtime::Result<()> {
        self.take_back(stream)
    }
}
