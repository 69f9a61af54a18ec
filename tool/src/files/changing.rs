//! Changing a file by its content.
//!
//! The host copies the file when it is opened to be changed, and at the commit holds the
//! change to the version that it copied. The content is read from that copy, so what is
//! changed is what was read, and no one else's change gets lost.

use super::reading::{of_stream, read_to_end};
use super::writing::{create_new, write_from};
use super::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags, Roots};
use crate::{Error, Failure};

/// Asked for at once when a file is read whole: what the host hands out in one answer.
const WHOLE: u64 = 16 * 1024 * 1024 - 1;

/// An existing file that is open to be changed.
pub struct Changing {
    descriptor: Descriptor,
}

impl Changing {
    /// Opens a file of the write root, with its content.
    ///
    /// # Errors
    /// The host's, such as `overwrite-denied`; `not-granted` for a file that is granted for
    /// reading only.
    pub fn open(roots: &Roots, path: &str) -> Result<Self, Error> {
        let flags = DescriptorFlags::WRITE;
        let root = roots.writable()?;
        match root.open_at(PathFlags::empty(), path, OpenFlags::empty(), flags) {
            Ok(descriptor) => Ok(Self { descriptor }),
            Err(ErrorCode::NoEntry) => Err(absent(roots, path)),
            Err(code) => Err(code.into()),
        }
    }

    /// What the file holds.
    ///
    /// # Errors
    /// `not-granted` when the file is not granted for reading as well; else the host's.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let content = read_to_end(WHOLE, |length, offset| self.descriptor.read(length, offset));
        content.map_err(|code| match code {
            ErrorCode::BadDescriptor => not_readable(path).into(),
            code => code.into(),
        })
    }

    /// Writes new content, from the first byte on that differs from the old. `kept` bytes at
    /// the start and, where the length stays the same, `same_end` bytes at the end do not.
    ///
    /// # Errors
    /// The host's, such as a limit on what may be written.
    pub fn write(
        &self,
        content: &[u8],
        kept: usize,
        same_end: usize,
        old_length: usize,
    ) -> Result<(), ErrorCode> {
        if content.len() == old_length {
            let end = content.len() - same_end;
            return write_from(&self.descriptor, &content[kept..end], kept as u64);
        }
        write_from(&self.descriptor, &content[kept..], kept as u64)?;
        if content.len() < old_length {
            self.descriptor.set_size(content.len() as u64)?;
        }
        Ok(())
    }
}

/// The first and the last bytes of a file that may be read.
#[derive(Debug, Default)]
pub struct Ends {
    /// How it begins; all of it where it is short.
    pub beginning: Vec<u8>,
    /// How it ends, where the beginning does not hold it all.
    pub end: Vec<u8>,
    /// Where `end` begins.
    pub end_offset: u64,
}

impl Ends {
    /// Bytes at each end.
    pub const LENGTH: u64 = 4096;

    /// A file that is granted for writing only shows neither, and a limit may hide them.
    fn of(file: &Descriptor) -> Self {
        let Ok((beginning, at_end)) = file.read(Self::LENGTH, 0) else {
            return Self::default();
        };
        let mut ends = Self {
            beginning,
            ..Self::default()
        };
        if !at_end && let Ok(stat) = file.stat() {
            ends.end_offset = stat.size.saturating_sub(Self::LENGTH);
            let end = file.read(Self::LENGTH, ends.end_offset);
            ends.end = end.map_or_else(|_| Vec::new(), |answer| answer.0);
        }
        ends
    }
}

/// Adds to the end of a file, which is made if it is not there. What is added may depend on how
/// the file begins and ends, which is read only when it is asked for, and only as far as that
/// is permitted. True when it was made, and how many bytes.
///
/// # Errors
/// That of `content`; else the host's.
pub fn append(
    root: &Descriptor,
    path: &str,
    content: impl FnOnce(&dyn Fn() -> Ends) -> Result<Vec<u8>, Failure>,
) -> Result<(bool, usize), Error> {
    let flags = DescriptorFlags::WRITE;
    match root.open_at(PathFlags::empty(), path, OpenFlags::empty(), flags) {
        Err(ErrorCode::NoEntry) => {
            let content = content(&Ends::default)?;
            write_from(&create_new(root, path)?, &content, 0)?;
            Ok((true, content.len()))
        }
        file => {
            let file = file?;
            let content = content(&|| Ends::of(&file))?;
            append_to(&file, &content)?;
            Ok((false, content.len()))
        }
    }
}

/// The host knows where the end is; the write root does not tell.
fn append_to(file: &Descriptor, content: &[u8]) -> Result<(), Error> {
    let stream = file.append_via_stream()?;
    let mut rest = content;
    while !rest.is_empty() {
        let permit = stream.check_write().map_err(of_stream)?;
        // Other hosts than Rootbound's write while the component goes on.
        if permit == 0 {
            stream.subscribe().block();
            continue;
        }
        let length = rest
            .len()
            .min(usize::try_from(permit).unwrap_or(usize::MAX));
        let (block, others) = rest.split_at(length);
        stream.write(block).map_err(of_stream)?;
        rest = others;
    }
    Ok(stream.blocking_flush().map_err(of_stream)?)
}

/// The answer when the write root has no such file: a read root may.
fn absent(roots: &Roots, path: &str) -> Error {
    match roots.look_up(|root| root.stat_at(PathFlags::SYMLINK_FOLLOW, path)) {
        Ok(_) => read_only(path).into(),
        Err(miss) => miss.into(),
    }
}

fn read_only(path: &str) -> Failure {
    Failure::new(
        "not-granted",
        format!("`{path}` is granted for reading, not for writing"),
    )
    .hint("make a copy of it and change that, or ask the user to grant its directory with `--work DIR`")
}

fn not_readable(path: &str) -> Failure {
    Failure::new(
        "not-granted",
        format!("`{path}` is granted for writing, not for reading, and is not read to be changed"),
    )
    .hint(
        "write the file as a whole, or ask the user to grant the same directory for reading too, \
         with `--work DIR`",
    )
}
