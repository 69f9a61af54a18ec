//! Reading a file.

use super::roots::{Found, Miss};
use super::{Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags, Roots};
use crate::bindings::wasi::filesystem::types::filesystem_error_code;
use crate::bindings::wasi::io::streams::{InputStream, StreamError};
use crate::{Error, Failure};

/// Asked for at the end of a file that has grown since its size was looked up.
const GROWN: u64 = 64 * 1024;

/// What WASI answers to a read: bytes, and whether they end the file.
pub type ReadAnswer = Result<(Vec<u8>, bool), ErrorCode>;

/// A regular file that is open for reading.
pub struct OpenFile {
    /// The open file.
    pub descriptor: Descriptor,
    /// The size when it was opened.
    pub size: u64,
    /// The preopen name of the root it was found in.
    pub root: String,
}

/// Opens a file in the first read root that has it.
///
/// # Errors
/// `not-granted` without a read root; `not-a-file` for a directory; else the host's.
pub fn open(path: &str) -> Result<OpenFile, Error> {
    opened(path, look_up(path)?)
}

/// The same, and nothing where the system does not permit reading.
///
/// # Errors
/// As [`open`].
pub fn open_if_permitted(path: &str) -> Result<Option<OpenFile>, Error> {
    match look_up(path) {
        Err(Miss::Refused(ErrorCode::Access)) => Ok(None),
        found => opened(path, found?).map(Some),
    }
}

fn look_up(path: &str) -> Result<Found<Descriptor>, Miss> {
    Roots::preopened().look_up(|directory| {
        let flags = DescriptorFlags::READ;
        directory.open_at(PathFlags::SYMLINK_FOLLOW, path, OpenFlags::empty(), flags)
    })
}

fn opened(path: &str, found: Found<Descriptor>) -> Result<OpenFile, Error> {
    let Found { object, root } = found;
    let stat = object.stat()?;
    if stat.type_ == DescriptorType::Directory {
        return Err(not_a_file(path).into());
    }
    Ok(OpenFile {
        descriptor: object,
        size: stat.size,
        root,
    })
}

/// Opens a directory, below a root, to list it or to start from it.
///
/// # Errors
/// `not-directory` for anything else; else the host's.
pub fn open_directory(root: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    let flags = DescriptorFlags::READ;
    root.open_at(PathFlags::SYMLINK_FOLLOW, path, OpenFlags::DIRECTORY, flags)
}

impl OpenFile {
    /// The whole content.
    ///
    /// # Errors
    /// The host's, such as a limit on what may be read.
    pub fn read_all(&self) -> Result<Vec<u8>, Error> {
        Ok(read_to_end(self.size, |length, offset| {
            self.descriptor.read(length, offset)
        })?)
    }

    /// Reads here and there, mostly onwards. Where the host's limit ends what may be read, the
    /// answer is short, and only the next one is refused.
    pub fn reader(&self) -> impl FnMut(u64, u64) -> ReadAnswer {
        let mut onwards: Option<(InputStream, u64)> = None;
        move |length, offset| {
            let (stream, position) = match &mut onwards {
                Some(open) if open.1 == offset => open,
                other => other.insert((self.descriptor.read_via_stream(offset)?, offset)),
            };
            let answer = stream.blocking_read(length).map(|bytes| (bytes, false));
            let answer = answer.or_else(at_end_of_stream)?;
            *position += answer.0.len() as u64;
            Ok(answer)
        }
    }
}

fn at_end_of_stream(error: StreamError) -> ReadAnswer {
    match error {
        StreamError::Closed => Ok((Vec::new(), true)),
        failed => Err(of_stream(failed)),
    }
}

/// The error of the file behind a stream.
pub(super) fn of_stream(error: StreamError) -> ErrorCode {
    match error {
        StreamError::Closed => ErrorCode::Io,
        StreamError::LastOperationFailed(error) => {
            filesystem_error_code(&error).unwrap_or(ErrorCode::Io)
        }
    }
}

fn not_a_file(path: &str) -> Failure {
    Failure::new("not-a-file", format!("`{path}` is a directory"))
        .hint("list it, and name a file in it")
}

/// Reads until the end, in one go where the host allows it: its answer is then handed on
/// without a copy.
pub(super) fn read_to_end(
    size: u64,
    mut read: impl FnMut(u64, u64) -> ReadAnswer,
) -> Result<Vec<u8>, ErrorCode> {
    // One byte more than there should be, so that the answer tells whether it was all.
    let (mut content, mut at_end) = read(size.saturating_add(1), 0)?;
    while !at_end {
        let offset = content.len() as u64;
        let remaining = size.saturating_sub(offset);
        let length = if remaining == 0 { GROWN } else { remaining };
        let (more, end) = read(length, offset)?;
        at_end = end || more.is_empty();
        content.extend_from_slice(&more);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host that answers at most `most` bytes a call and says so when it is at the end.
    fn host(file: &[u8], most: usize) -> impl FnMut(u64, u64) -> ReadAnswer {
        move |length, offset| {
            let rest = &file[offset as usize..];
            let length = rest.len().min(most).min(length as usize);
            Ok((rest[..length].to_vec(), length == rest.len()))
        }
    }

    #[test]
    fn a_file_is_read_in_one_call() {
        let mut calls = 0;
        let mut read = host(b"hello", 100);
        let content = read_to_end(5, |length, offset| {
            calls += 1;
            read(length, offset)
        });
        assert_eq!(content, Ok(b"hello".to_vec()));
        assert_eq!(calls, 1);
    }

    #[test]
    fn short_reads_are_put_together() {
        assert_eq!(read_to_end(5, host(b"hello", 2)), Ok(b"hello".to_vec()));
    }

    #[test]
    fn a_file_that_grew_is_read_to_its_end() {
        assert_eq!(read_to_end(2, host(b"hello", 3)), Ok(b"hello".to_vec()));
        assert_eq!(read_to_end(0, host(b"hello", 3)), Ok(b"hello".to_vec()));
    }

    #[test]
    fn a_file_that_shrank_ends_where_it_ends() {
        assert_eq!(read_to_end(9, host(b"hello", 9)), Ok(b"hello".to_vec()));
    }

    #[test]
    fn a_host_that_never_says_end_is_left_at_the_first_empty_answer() {
        let mut read = host(b"hello", 4);
        let content = read_to_end(5, |length, offset| Ok((read(length, offset)?.0, false)));
        assert_eq!(content, Ok(b"hello".to_vec()));
    }

    #[test]
    fn a_refusal_in_the_middle_ends_the_reading() {
        let content = read_to_end(5, |_, offset| match offset {
            0 => Ok((b"he".to_vec(), false)),
            _ => Err(ErrorCode::Quota),
        });
        assert_eq!(content, Err(ErrorCode::Quota));
    }
}
