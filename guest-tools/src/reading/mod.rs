//! Reading a file for a caller: whole or in part, as text, as media, or as bytes.

mod bytes;
mod facts;
mod lines;
mod opened;
mod part;
mod refusals;
#[cfg(test)]
mod tests;
mod whole;

pub(crate) use facts::Facts;
pub(crate) use part::{From, Part};
pub(crate) use refusals::{no_encoding_of_texts, not_text, unknown_encoding, utf_16_without_mark};

use crate::files::{open, version};
use crate::text::Choice;
use crate::tool::{Content, Error, Failure};
use sha2::{Digest, Sha256};

/// What a caller wants of a file.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) choice: Choice,
    /// Put U+FFFD where the bytes are not text.
    pub(crate) replace: bool,
    /// Not the whole of it.
    pub(crate) part: Option<Part>,
    /// Answer with the SHA-256 of the whole file, whatever part is wanted.
    pub(crate) hash: bool,
}

/// The encoding of a caller's word, and without one what the file looks like.
///
/// # Errors
/// `unsupported-encoding` for a label that the Encoding Standard does not have.
pub(crate) fn chosen(label: Option<&str>) -> Result<Choice, Failure> {
    label.map_or(Ok(Choice::Detected), |label| {
        Choice::named(label).map_err(|_| unknown_encoding(label))
    })
}

impl Wish {
    /// Refuses what looks like UTF-16 by how it begins, where nobody says that it is: with a NUL
    /// beside each letter it would be no text that anybody can use.
    ///
    /// # Errors
    /// `not-text`.
    fn refuse_overlooked(&self, path: &str, head: &[u8]) -> Result<(), Failure> {
        match self.choice.overlooks(head) {
            Some(label) if !self.replace => {
                Err(utf_16_without_mark(path, label, head, "`read_file` "))
            }
            _ => Ok(()),
        }
    }
}

/// What was read.
pub(crate) struct Reading {
    pub(crate) facts: Facts,
    pub(crate) content: Content,
}

/// Reads a file as the caller wants it.
///
/// # Errors
/// `not-text`, with where and what; `invalid-arguments` for a part that there is not; else as
/// [`open`] and the host's.
///
/// # Limits
/// Those of the host on what is read. A part costs what lies between where the reading starts,
/// or the end of the file, and the part's other end; with a hash, the whole file.
pub(crate) fn read(path: &str, wish: &Wish) -> Result<Reading, Error> {
    let file = open(path)?;
    // Taken before the bytes: if the file changes in between, the version is the old one and
    // a write that expects it is refused.
    let version = version(file.descriptor.metadata_hash()?);
    let facts = Facts::of(&file, version);
    match &wish.part {
        None => whole::read(path, &file, wish, facts),
        Some(part) => part::read(path, &file, wish, part, facts),
    }
}

/// The SHA-256 of bytes, in lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
