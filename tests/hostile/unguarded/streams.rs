//! `wasi:io` over files, without counting.

use std::os::unix::fs::FileExt;

use wasmtime::component::Resource;

use super::bindings::wasi::io::{error, poll, streams};
use super::{Cursor, Failure, Ready, State, StreamStop, WriteCursor};

type In = Resource<Cursor>;
type Out = Resource<WriteCursor>;

impl State {
    fn read_on(&mut self, stream: &In, wanted: u64) -> Result<Vec<u8>, StreamStop> {
        let Cursor(file, position) = self.table.get_mut(stream)?;
        let mut bytes = vec![0; wanted.min(1 << 20) as usize];
        let count = file.read_at(&mut bytes, *position)?;
        if count == 0 && wanted > 0 {
            return Err(StreamStop::Closed);
        }
        bytes.truncate(count);
        *position += count as u64;
        Ok(bytes)
    }

    fn write_on(&mut self, stream: &Out, bytes: &[u8]) -> Result<(), StreamStop> {
        let WriteCursor(file, position) = self.table.get_mut(stream)?;
        file.write_all_at(bytes, *position)?;
        *position += bytes.len() as u64;
        Ok(())
    }

    fn write_zeroes_on(&mut self, stream: &Out, count: u64) -> Result<(), StreamStop> {
        self.write_on(stream, &vec![0; count.min(1 << 24) as usize])
    }

    fn splice_on(&mut self, to: &Out, from: &In, wanted: u64) -> Result<u64, StreamStop> {
        let bytes = self.read_on(from, wanted)?;
        self.write_on(to, &bytes)?;
        Ok(bytes.len() as u64)
    }

    fn skip_on(&mut self, stream: &In, wanted: u64) -> Result<u64, StreamStop> {
        let Cursor(file, position) = self.table.get_mut(stream)?;
        let left = file.metadata()?.len().saturating_sub(*position);
        let skipped = wanted.min(left);
        if skipped == 0 && wanted > 0 {
            return Err(StreamStop::Closed);
        }
        *position += skipped;
        Ok(skipped)
    }
}

impl error::Host for State {}

impl error::HostError for State {
    fn to_debug_string(&mut self, failure: Resource<Failure>) -> wasmtime::Result<String> {
        Ok(format!("{:?}", self.table.get(&failure)?.0))
    }

    fn drop(&mut self, failure: Resource<Failure>) -> wasmtime::Result<()> {
        self.table.delete(failure)?;
        Ok(())
    }
}

impl poll::Host for State {
    fn poll(&mut self, pollables: Vec<Resource<Ready>>) -> wasmtime::Result<Vec<u32>> {
        wasmtime::ensure!(!pollables.is_empty(), "an empty poll");
        Ok((0..pollables.len() as u32).collect())
    }
}

impl poll::HostPollable for State {
    fn ready(&mut self, _: Resource<Ready>) -> wasmtime::Result<bool> {
        Ok(true)
    }

    fn block(&mut self, _: Resource<Ready>) -> wasmtime::Result<()> {
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<Ready>) -> wasmtime::Result<()> {
        self.table.delete(pollable)?;
        Ok(())
    }
}

impl streams::Host for State {
    fn convert_stream_error(&mut self, stop: StreamStop) -> wasmtime::Result<streams::StreamError> {
        Ok(match stop {
            StreamStop::Closed => streams::StreamError::Closed,
            StreamStop::Code(code) => {
                streams::StreamError::LastOperationFailed(self.table.push(Failure(code))?)
            }
            StreamStop::Trap(error) => return Err(error),
        })
    }
}

impl streams::HostInputStream for State {
    fn read(&mut self, stream: In, length: u64) -> Result<Vec<u8>, StreamStop> {
        self.read_on(&stream, length)
    }

    fn blocking_read(&mut self, stream: In, length: u64) -> Result<Vec<u8>, StreamStop> {
        self.read_on(&stream, length)
    }

    fn skip(&mut self, stream: In, length: u64) -> Result<u64, StreamStop> {
        self.skip_on(&stream, length)
    }

    fn blocking_skip(&mut self, stream: In, length: u64) -> Result<u64, StreamStop> {
        self.skip_on(&stream, length)
    }

    fn subscribe(&mut self, _: In) -> wasmtime::Result<Resource<Ready>> {
        Ok(self.table.push(Ready)?)
    }

    fn drop(&mut self, stream: In) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}

impl streams::HostOutputStream for State {
    fn check_write(&mut self, _: Out) -> Result<u64, StreamStop> {
        Ok(1 << 20)
    }

    fn write(&mut self, stream: Out, bytes: Vec<u8>) -> Result<(), StreamStop> {
        self.write_on(&stream, &bytes)
    }

    fn blocking_write_and_flush(&mut self, stream: Out, bytes: Vec<u8>) -> Result<(), StreamStop> {
        self.write_on(&stream, &bytes)
    }

    fn flush(&mut self, _: Out) -> Result<(), StreamStop> {
        Ok(())
    }

    fn blocking_flush(&mut self, _: Out) -> Result<(), StreamStop> {
        Ok(())
    }

    fn subscribe(&mut self, _: Out) -> wasmtime::Result<Resource<Ready>> {
        Ok(self.table.push(Ready)?)
    }

    fn write_zeroes(&mut self, stream: Out, length: u64) -> Result<(), StreamStop> {
        self.write_zeroes_on(&stream, length)
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Out,
        length: u64,
    ) -> Result<(), StreamStop> {
        self.write_zeroes_on(&stream, length)
    }

    fn splice(&mut self, to: Out, from: In, length: u64) -> Result<u64, StreamStop> {
        self.splice_on(&to, &from, length)
    }

    fn blocking_splice(&mut self, to: Out, from: In, length: u64) -> Result<u64, StreamStop> {
        self.splice_on(&to, &from, length)
    }

    fn drop(&mut self, stream: Out) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}
