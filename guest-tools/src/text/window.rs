//! Some lines of a file, read forwards and no further than they go.

use super::lines::LineFeed;
use crate::files::{ErrorCode, ReadAnswer};

/// Read first: enough for most source files, so that all of their lines are counted.
const FIRST_BLOCK: u64 = 64 * 1024;
/// Read after that: few calls for long ways, and not much more than is asked for.
const BLOCK: u64 = 256 * 1024;

/// Room that is made at once for what is taken; what is more grows into it.
const MOST_ROOM: u64 = 16 * 1024 * 1024;

/// A file that is read from some place on.
pub(crate) struct Window<F> {
    read: F,
    line_feed: LineFeed,
    /// The size of the file when it was opened.
    size: u64,
    block: Vec<u8>,
    /// Where the block starts in the file.
    start: u64,
    /// How much of the block is behind us.
    at: usize,
    end: End,
    has_read: bool,
}

/// What was gone past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) line_feeds: u64,
    /// Whether it ended behind something else than a line feed.
    pub(crate) in_a_line: bool,
}

/// What lies behind the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It is not known yet.
    Open,
    /// Nothing: the file ends there.
    OfFile,
    /// The host hands out no more of this file in this call.
    OfBudget,
}

impl<F> Window<F>
where
    F: FnMut(u64, u64) -> ReadAnswer,
{
    pub(crate) fn new(read: F, size: u64, start: u64) -> Self {
        Self {
            read,
            line_feed: LineFeed::Byte,
            size,
            block: Vec::new(),
            start,
            at: 0,
            end: End::Open,
            has_read: false,
        }
    }

    /// The end of a file that was read already.
    pub(crate) fn read_already(read: F, start: u64, block: Vec<u8>) -> Self {
        Self {
            block,
            end: End::OfFile,
            ..Self::new(read, 0, start)
        }
    }

    /// The bytes that come first, by which an encoding is told.
    pub(crate) fn head(&mut self) -> Result<&[u8], ErrorCode> {
        self.fill()?;
        Ok(&self.block[self.at..])
    }

    /// Takes the text to be in an encoding with such line feeds, and to start so many bytes
    /// on.
    pub(crate) fn starts_text(&mut self, line_feed: LineFeed, on: u64) {
        self.line_feed = line_feed;
        self.at = self.block.len().min(self.at + on as usize);
        self.keep_units_whole();
    }

    /// Where the next byte stands in the file.
    pub(crate) fn position(&self) -> u64 {
        self.start + self.at as u64
    }

    /// Goes past so many line feeds, or to the end if there are fewer.
    pub(crate) fn skip(&mut self, lines: u64) -> Result<Skipped, ErrorCode> {
        let mut skipped = Skipped::default();
        while skipped.line_feeds < lines && self.fill()? {
            let rest = &self.block[self.at..];
            let here = self.line_feed.count(rest);
            let left = lines - skipped.line_feeds;
            if here < left {
                skipped.line_feeds += here;
                skipped.in_a_line = !self.line_feed.ends(rest);
                self.at = self.block.len();
            } else {
                self.at += self.line_feed.end_of_lines(rest, &mut { left });
                skipped.line_feeds = lines;
                skipped.in_a_line = false;
            }
        }
        Ok(skipped)
    }

    /// Takes so many lines, or those up to the end, and stops when it has more than `most`
    /// bytes.
    pub(crate) fn take(&mut self, lines: Option<u64>, most: usize) -> Result<Vec<u8>, ErrorCode> {
        let mut taken = Vec::new();
        let mut left = lines;
        while left != Some(0) && taken.len() <= most && self.fill()? {
            let rest = &self.block[self.at..];
            let length = match &mut left {
                None => rest.len(),
                Some(left) => self.line_feed.end_of_lines(rest, left),
            };
            let length = length.min((most - taken.len()).saturating_add(1));
            // A unit of UTF-16 stays whole.
            let length = length.next_multiple_of(self.line_feed.width());
            let length = length.min(rest.len());
            if taken.is_empty() && self.at == 0 && length == self.block.len() {
                taken = std::mem::take(&mut self.block);
                self.start += length as u64;
                continue;
            }
            if lines.is_none() && taken.capacity() < BLOCK as usize {
                self.make_room(&mut taken, most);
            }
            taken.extend_from_slice(&self.block[self.at..self.at + length]);
            self.at += length;
        }
        Ok(taken)
    }

    /// Makes room for the rest of the file, so that what grows is not copied again and again.
    fn make_room(&self, taken: &mut Vec<u8>, most: usize) {
        let rest = self.size.saturating_sub(self.position()).min(MOST_ROOM) as usize;
        let wanted = most.saturating_add(1).saturating_sub(taken.len());
        // Where there is none, it grows as far as it gets.
        let _ = taken.try_reserve_exact(rest.min(wanted));
    }

    /// Whether nothing follows. Looks further only where the file should end.
    pub(crate) fn is_at_end(&mut self) -> Result<bool, ErrorCode> {
        if self.end == End::Open && self.position() < self.size {
            return Ok(false);
        }
        Ok(!self.fill()? && self.end == End::OfFile)
    }

    /// How many lines start or go on here, if that is known without reading on.
    pub(crate) fn lines_left(&self) -> Option<u64> {
        let rest = &self.block[self.at..];
        let unterminated = !rest.is_empty() && !self.line_feed.ends(rest);
        let lines = self.line_feed.count(rest) + u64::from(unterminated);
        (self.end == End::OfFile).then_some(lines)
    }

    pub(crate) fn end(&self) -> End {
        self.end
    }

    /// Whether there is a byte in the block that is not behind us, if need be in the next one.
    fn fill(&mut self) -> Result<bool, ErrorCode> {
        if self.at < self.block.len() {
            return Ok(true);
        }
        if self.end != End::Open {
            return Ok(false);
        }
        self.start += self.block.len() as u64;
        self.at = 0;
        let wanted = if self.has_read { BLOCK } else { FIRST_BLOCK };
        let (block, at_end) = match (self.read)(wanted, self.start) {
            // What was read so far is an answer.
            Err(ErrorCode::Quota) if self.has_read => (Vec::new(), false),
            answer => answer?,
        };
        self.has_read = true;
        self.block = block;
        self.end = self.end_after(wanted, at_end);
        self.keep_units_whole();
        Ok(!self.block.is_empty())
    }

    fn keep_units_whole(&mut self) {
        if self.end != End::OfFile {
            let part = self.block.len() % self.line_feed.width();
            self.block.truncate(self.block.len() - part);
        }
    }

    fn end_after(&self, wanted: u64, at_end: bool) -> End {
        let length = self.block.len() as u64;
        if at_end || (length < wanted && self.start + length >= self.size) {
            End::OfFile
        } else if length < wanted {
            End::OfBudget
        } else {
            End::Open
        }
    }
}
