//! Moving bytes: the same counting for descriptors and streams.

use rustix::buffer::spare_capacity;

use super::ask::Asked;
use super::fault::{Fault, Refusal};
use super::state::{CallState, OpenFile};
use crate::bindings::filesystem::ErrorCode;
use crate::error::CallError;
use crate::policy::Operation;

/// Most bytes that one read moves. The guest asks again for more.
pub(super) const MAX_READ: u64 = 16 << 20;
/// Reads up to this size are not worth a look at how much there is.
const SMALL_READ: u64 = 1 << 16;

impl CallState {
    /// Reads up to `wanted` bytes, at most [`MAX_READ`]; fewer mean the end of the file.
    pub(super) fn read_bytes(
        &mut self,
        file: &OpenFile,
        wanted: u64,
        offset: u64,
    ) -> Result<Vec<u8>, Fault> {
        self.check_deadline()?;
        if !file.readable {
            return Err(Fault::bad_descriptor());
        }
        let Ok(position) = i64::try_from(offset) else {
            return Ok(Vec::new());
        };
        let (wanted, size) = self.bytes_to_read(file, wanted.min(MAX_READ), offset)?;
        if wanted == 0 {
            return Ok(Vec::new());
        }
        self.charge_read(file.id, wanted, size)
            .map_err(|error| file_refusal(file, Operation::Read, error))?;
        let mut bytes = Vec::with_capacity(wanted as usize);
        let moved = rustix::io::pread(&file.handle, spare_capacity(&mut bytes), position as u64);
        let moved = moved.inspect_err(|_| self.refund_read(file.id, wanted))?;
        bytes.truncate(wanted as usize);
        self.refund_read(file.id, wanted.saturating_sub(moved as u64));
        self.access_was(file.access, Operation::Read, moved as u64);
        Ok(bytes)
    }

    /// How much a read would move, so that nothing is allocated or charged for what is not
    /// there; and the size of the file as far as it is known. A small read near the limit is
    /// looked at as closely as a large one.
    fn bytes_to_read(
        &self,
        file: &OpenFile,
        wanted: u64,
        offset: u64,
    ) -> Result<(u64, u64), Fault> {
        let near_limit = !self.has_read_budget(file.id, wanted);
        if wanted <= SMALL_READ && !near_limit {
            return Ok((wanted, 0));
        }
        let size = rustix::fs::fstat(&file.handle)?.st_size as u64;
        Ok((wanted.min(size.saturating_sub(offset)), size))
    }

    /// Writes all bytes to a staged file. Growth counts as written even where it is a hole.
    pub(super) fn write_bytes(
        &mut self,
        file: &OpenFile,
        bytes: &[u8],
        offset: u64,
    ) -> Result<(), Fault> {
        self.check_deadline()?;
        let Some(index) = file.staged else {
            return Err(self.not_writable(file));
        };
        self.refuse_owed(index)
            .map_err(|error| file_refusal(file, Operation::Create, error))?;
        let size = self.transaction.file(index).size()?;
        let end = offset.saturating_add(bytes.len() as u64);
        let growth = end.saturating_sub(size);
        self.charge_write(growth.max(bytes.len() as u64))
            .map_err(|error| file_refusal(file, Operation::Change, error))?;
        self.transaction.file_mut(index).write(bytes, offset)?;
        Ok(())
    }

    pub(super) fn append_offset(&mut self, file: &OpenFile) -> Result<u64, Fault> {
        match file.staged {
            Some(index) => Ok(self.transaction.file(index).size()?),
            None => Err(self.not_writable(file)),
        }
    }

    pub(super) fn resize(&mut self, file: &OpenFile, size: u64) -> Result<(), Fault> {
        self.check_deadline()?;
        let Some(index) = file.staged else {
            return Err(self.not_writable(file));
        };
        self.refuse_owed(index)
            .map_err(|error| file_refusal(file, Operation::Create, error))?;
        let growth = size.saturating_sub(self.transaction.file(index).size()?);
        self.charge_write(growth)
            .map_err(|error| file_refusal(file, Operation::Change, error))?;
        self.transaction.file_mut(index).set_size(size)?;
        Ok(())
    }

    /// A descriptor that was opened for reading never becomes one for writing.
    fn not_writable(&self, file: &OpenFile) -> Fault {
        let error = CallError::new(
            crate::error::code::NOT_GRANTED,
            "the file was opened for reading, not for writing",
        )
        .hint_of("write below the directory that is granted for writing");
        file_refusal_as(file, Operation::Change, ErrorCode::NotPermitted, error)
    }
}

fn file_refusal(file: &OpenFile, operation: Operation, error: CallError) -> Fault {
    file_refusal_as(file, operation, ErrorCode::Quota, error)
}

fn file_refusal_as(
    file: &OpenFile,
    operation: Operation,
    wasi: ErrorCode,
    error: CallError,
) -> Fault {
    Fault::Refused(Box::new(Refusal {
        wasi,
        error,
        operation,
        root: Some(file.root),
        path: file.path.to_string(),
        to: None,
    }))
}

impl Asked {
    /// The question about an open file rather than a path.
    pub(super) fn about(file: &OpenFile, operation: Operation, error: CallError) -> Fault {
        file_refusal_as(file, operation, ErrorCode::Quota, error)
    }
}
