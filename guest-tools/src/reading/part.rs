//! Reading some lines of a file, or some bytes.

use super::opened::Opened;
use super::refusals::not_text;
use super::{Facts, Reading, Wish, bytes, sha256};
use crate::files::{OpenFile, ReadAnswer};
use crate::text::{Choice, Decoding, Place, Style};
use crate::tool::Error;

/// Enough of a file to tell what it is.
const TELLING: u64 = 4096;

/// Which lines are wanted, and how they are shown.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) from: From,
    /// How many; up to the end if it is not said.
    pub(crate) lines: Option<u64>,
    /// The most bytes of content; at least [`LEAST_TEXT`](crate::text::LEAST_TEXT).
    pub(crate) most: Option<usize>,
    pub(crate) style: Style,
}

/// Where the part starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// At a line, counted from 1.
    Line(u64),
    /// At a line counted from the end: 1 is the last.
    Last(u64),
    /// Where an answer stopped, or at a line behind that.
    Cursor(Place, Option<u64>),
}

impl Part {
    /// The most bytes of text that are worth decoding. What is clipped takes less room than
    /// it has.
    pub(super) fn text_limit(&self) -> Option<usize> {
        self.most.filter(|_| self.style.clip.is_none())
    }
}

/// What hands out the bytes of a file.
pub(super) type Reader<'a> = &'a mut dyn FnMut(u64, u64) -> ReadAnswer;

pub(super) fn read(
    path: &str,
    file: &OpenFile,
    wish: &Wish,
    part: &Part,
    mut facts: Facts,
) -> Result<Reading, Error> {
    let all = if wish.hash {
        Some(file.read_all()?)
    } else {
        None
    };
    facts.sha256 = all.as_deref().map(sha256);
    let mut onwards = file.reader();
    let mut read = |length, offset| match &all {
        Some(bytes) => Ok(slice_of(bytes, length, offset)),
        None => onwards(length, offset),
    };
    read_with(path, &mut read, wish, part, facts)
}

/// Reads a part through whatever hands out its bytes.
pub(super) fn read_with(
    path: &str,
    read: Reader<'_>,
    wish: &Wish,
    part: &Part,
    facts: Facts,
) -> Result<Reading, Error> {
    if wish.choice == Choice::Base64 {
        return bytes::read(path, read, part, facts);
    }
    let mut opened = Opened::at(path, facts.size, wish, part.from, &mut *read)?;
    let decoding = Decoding {
        encoding: opened.encoding,
        replace: wish.replace,
    };
    let taken = opened.take(decoding, part)?;
    let start = opened.place.byte;
    match taken.decode(decoding, part) {
        Ok(lines) => opened.answer(lines, part, facts),
        Err(bad) => {
            drop(opened);
            let head = read(TELLING, 0).map_or_else(|_| Vec::new(), |(head, _)| head);
            let offset = start + bad.offset as u64;
            let bad = &bad.bytes[bad.offset..];
            Err(not_text(path, decoding.encoding, offset, &head, bad).into())
        }
    }
}

/// The answer of a file that was read already.
fn slice_of(bytes: &[u8], length: u64, offset: u64) -> (Vec<u8>, bool) {
    let start = usize::try_from(offset).map_or(bytes.len(), |start| start.min(bytes.len()));
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let end = start.saturating_add(length).min(bytes.len());
    (bytes[start..end].to_vec(), end == bytes.len())
}
