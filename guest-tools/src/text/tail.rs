//! The last lines of a file, read from its end.

use super::lines::LineFeed;
use super::place::Place;
use crate::files::{ErrorCode, ReadAnswer};

/// Read at once. Blocks start at multiples of it, so that units of UTF-16 stay whole.
const BLOCK: u64 = 64 * 1024;
/// Read first: enough for the last lines of most files, and little where little may be read.
const LAST_BLOCK: u64 = 4096;

/// Where the last lines of a file start, and what follows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) place: Place,
    /// Everything from there to the end.
    pub(crate) bytes: Vec<u8>,
    /// How many lines the file has, if all of it was read.
    pub(crate) lines: Option<u64>,
}

/// Finds the last `lines` lines of a file whose text starts at `start`.
///
/// # Errors
/// The host's.
pub(crate) fn tail(
    mut read: impl FnMut(u64, u64) -> ReadAnswer,
    line_feed: LineFeed,
    (start, size): (u64, u64),
    lines: u64,
) -> Result<Tail, ErrorCode> {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    let mut end = size.max(start);
    let mut seen = 0;
    // A line feed at the very end starts no line.
    let mut wanted = lines;
    while end > start {
        let most = if blocks.is_empty() { LAST_BLOCK } else { BLOCK };
        let begin = ((end - 1) / most * most).max(start);
        let block = read_all(&mut read, begin, end - begin)?;
        if blocks.is_empty() && line_feed.ends(&block) {
            wanted = wanted.saturating_add(1);
        }
        let here = line_feed.count(&block);
        if seen + here >= wanted && end - begin < size - start {
            let at = behind_last(line_feed, &block, wanted - seen);
            blocks.push(block);
            let place = Place {
                line: -i64::try_from(lines).unwrap_or(i64::MAX),
                byte: begin + at as u64,
                inside: false,
            };
            let bytes = joined(blocks, at);
            return Ok(Tail {
                place,
                bytes,
                lines: None,
            });
        }
        seen += here;
        blocks.push(block);
        end = begin;
    }
    Ok(of_all(line_feed, start, joined(blocks, 0), lines))
}

/// All was read, so the lines have their numbers from the start.
fn of_all(line_feed: LineFeed, start: u64, mut bytes: Vec<u8>, lines: u64) -> Tail {
    let unterminated = !bytes.is_empty() && !line_feed.ends(&bytes);
    let line_feeds = line_feed.count(&bytes);
    let total = line_feeds + u64::from(unterminated);
    let before = total.saturating_sub(lines);
    let at = match before {
        0 => 0,
        before => behind_last(line_feed, &bytes, line_feeds - before + 1),
    };
    bytes.drain(..at);
    let place = Place {
        line: 1_i64.saturating_add_unsigned(before),
        byte: start + at as u64,
        inside: false,
    };
    Tail {
        place,
        bytes,
        lines: Some(total),
    }
}

/// The place behind the `count`th line feed from the end.
fn behind_last(line_feed: LineFeed, bytes: &[u8], count: u64) -> usize {
    let mut end = bytes.len();
    for _ in 1..count {
        end = line_feed
            .end_of_last(&bytes[..end])
            .map_or(0, |end| end - line_feed.width());
    }
    line_feed.end_of_last(&bytes[..end]).unwrap_or(0)
}

fn joined(mut blocks: Vec<Vec<u8>>, at: usize) -> Vec<u8> {
    blocks.reverse();
    let mut blocks = blocks.into_iter();
    let mut bytes = blocks.next().unwrap_or_default();
    bytes.drain(..at);
    blocks.for_each(|block| bytes.extend_from_slice(&block));
    bytes
}

fn read_all(
    read: &mut impl FnMut(u64, u64) -> ReadAnswer,
    offset: u64,
    length: u64,
) -> Result<Vec<u8>, ErrorCode> {
    let (mut bytes, mut at_end) = read(length, offset)?;
    while !at_end && (bytes.len() as u64) < length {
        let got = bytes.len() as u64;
        let (more, end) = read(length - got, offset + got)?;
        at_end = end || more.is_empty();
        bytes.extend_from_slice(&more);
    }
    Ok(bytes)
}
