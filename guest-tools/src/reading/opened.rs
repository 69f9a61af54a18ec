//! A file whose reading starts at some line.

use super::lines::{Lines, Taken};
use super::part::{From, Part, Reader};
use super::refusals::{behind_the_end, foreign_cursor, no_place_inside, too_far, too_long};
use super::{Facts, Reading, Wish};
use crate::files::{ErrorCode, ReadAnswer};
use crate::text::{
    Decoding, Encoding, End, LEAST_TEXT, LONGEST_MARK, LineFeed, Place, Window, tail,
};
use crate::tool::{Content, Error, Failure};

/// A line that a file with fewer does not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    pub(super) line: u64,
    pub(super) lines: u64,
}

/// Bytes of the start of a file that tell its encoding to whoever reads its end: few, since they
/// count as read.
const TELLING_AT_END: u64 = 256;

/// The encoding of a file that begins with these bytes.
fn told(path: &str, wish: &Wish, head: &[u8]) -> Result<Encoding, Failure> {
    wish.refuse_overlooked(path, head)?;
    Ok(wish.choice.at_start_of(head))
}

/// Blocks at the end of a file that are remembered: enough to show what stands there.
const MOST_SEEN: usize = 2;

/// The end of a file, as far as it was seen before the host handed out no more.
#[derive(Default)]
struct LastSeen {
    blocks: usize,
    start: u64,
    bytes: Vec<u8>,
}

impl LastSeen {
    /// Reads on, towards the start of the file.
    fn of(&mut self, read: Reader<'_>, length: u64, offset: u64) -> ReadAnswer {
        let answer = read(length, offset)?;
        if self.blocks < MOST_SEEN && (self.blocks == 0 || offset < self.start) {
            self.blocks += 1;
            self.start = offset;
            self.bytes.splice(..0, answer.0.iter().copied());
        }
        Ok(answer)
    }

    /// Where in it a character starts, and in which line from the end.
    fn place(&self, encoding: Encoding) -> Place {
        let line_feed = encoding.line_feed();
        let is_inside = |unit: &[u8]| match line_feed {
            LineFeed::Byte => encoding.is_utf_8() && (0x80..0xc0).contains(&unit[0]),
            LineFeed::Utf16Le => unit.len() < 2 || (0xdc..0xe0).contains(&unit[1]),
            LineFeed::Utf16Be => (0xdc..0xe0).contains(&unit[0]),
        };
        let width = line_feed.width();
        let skipped = self
            .bytes
            .chunks(width)
            .take(4)
            .take_while(|unit| is_inside(unit));
        let skipped = (skipped.count() * width).min(self.bytes.len());
        let rest = &self.bytes[skipped..];
        let line_feeds = line_feed.count(rest) + u64::from(!line_feed.ends(rest));
        Place {
            line: -i64::try_from(line_feeds.max(1)).unwrap_or(i64::MAX),
            byte: self.start + skipped as u64,
            inside: true,
        }
    }
}

/// A file whose reading starts at some line.
pub(super) struct Opened<'a> {
    window: Window<Reader<'a>>,
    pub(super) encoding: Encoding,
    /// Where what is wanted starts.
    pub(super) place: Place,
    /// How many lines the file has, if that is known already.
    lines: Option<u64>,
}

impl<'a> Opened<'a> {
    pub(super) fn at(
        path: &str,
        size: u64,
        wish: &Wish,
        from: From,
        read: Reader<'a>,
    ) -> Result<Self, Error> {
        match from {
            From::Line(line) => Self::at_start(path, size, wish, read)?.at_line(path, line),
            From::Last(lines) => Self::at_end(path, size, wish, lines, read),
            From::Cursor(place, line) => {
                let opened = Self::at_place(path, size, wish, place, read)?;
                match line {
                    None => Ok(opened),
                    Some(line) => opened.at_line(path, line),
                }
            }
        }
    }

    fn at_start(path: &str, size: u64, wish: &Wish, read: Reader<'a>) -> Result<Self, Error> {
        let mut window = Window::new(read, size, 0);
        let encoding = told(path, wish, window.head()?)?;
        window.starts_text(encoding.line_feed(), encoding.start());
        Ok(Self {
            window,
            encoding,
            place: Place::first(encoding.start()),
            lines: None,
        })
    }

    fn at_end(
        path: &str,
        size: u64,
        wish: &Wish,
        lines: u64,
        read: Reader<'a>,
    ) -> Result<Self, Error> {
        let encoding = told(path, wish, &read(TELLING_AT_END, 0)?.0)?;
        let text = (encoding.start(), size);
        let mut seen = LastSeen::default();
        let watched = |length, offset| seen.of(&mut *read, length, offset);
        let tail = match tail(watched, encoding.line_feed(), text, lines) {
            Err(ErrorCode::Quota) if !seen.bytes.is_empty() => {
                return Err(too_long(lines, seen.place(encoding), size).into());
            }
            tail => tail?,
        };
        let mut window = Window::read_already(read, tail.place.byte, tail.bytes);
        window.starts_text(encoding.line_feed(), 0);
        Ok(Self {
            window,
            encoding,
            place: tail.place,
            lines: tail.lines,
        })
    }

    fn at_place(
        path: &str,
        size: u64,
        wish: &Wish,
        place: Place,
        read: Reader<'a>,
    ) -> Result<Self, Error> {
        // Whoever has a cursor has been told already.
        let encoding = wish.choice.at_start_of(&read(LONGEST_MARK, 0)?.0);
        let is_between = !place
            .byte
            .is_multiple_of(encoding.line_feed().width() as u64);
        if place.byte > size || place.byte < encoding.start() || is_between {
            return Err(foreign_cursor(path, size).into());
        }
        let mut window = Window::new(read, size, place.byte);
        window.starts_text(encoding.line_feed(), 0);
        Ok(Self {
            window,
            encoding,
            place,
            lines: None,
        })
    }

    /// Goes on to a line.
    fn at_line(mut self, path: &str, line: u64) -> Result<Self, Error> {
        let wanted = line - self.place.line.unsigned_abs();
        if wanted == 0 {
            return Ok(self);
        }
        let skipped = self.window.skip(wanted)?;
        let bytes = self.window.position() - self.place.byte;
        let ends_a_line = bytes > 0 && !skipped.in_a_line;
        let place = self.place.behind(bytes, skipped.line_feeds, ends_a_line);
        if skipped.line_feeds < wanted && self.window.end() == End::OfBudget {
            return Err(too_far(line, bytes, place).into());
        }
        if self.window.is_at_end()? {
            let lines = place.line.unsigned_abs() - u64::from(!place.inside);
            return Err(behind_the_end(path, Behind { line, lines }).into());
        }
        self.place = place;
        Ok(self)
    }

    /// Takes the lines that are wanted, and a little more than fits the answer.
    pub(super) fn take(&mut self, decoding: Decoding, part: &Part) -> Result<Taken, Error> {
        let most = match part.text_limit() {
            Some(most) if decoding.takes_bytes_as_they_are() => most,
            // No character has more than twice the bytes that it has in UTF-8.
            Some(most) => most.saturating_mul(2).saturating_add(LEAST_TEXT),
            None => usize::MAX,
        };
        let bytes = self.window.take(part.lines, most)?;
        let line_feed = self.encoding.line_feed();
        let complete = bytes.len() > most || line_feed.ends(&bytes) || self.window.is_at_end()?;
        Ok(Taken {
            bytes,
            complete,
            place: self.place,
        })
    }

    /// Says what the lines are, and what follows.
    pub(super) fn answer(
        &mut self,
        lines: Lines,
        part: &Part,
        facts: Facts,
    ) -> Result<Reading, Error> {
        let next = lines.next;
        if next.inside && lines.left > 0 && self.encoding.has_shifts() {
            return Err(no_place_inside(next.line, self.encoding).into());
        }
        let at_end = self.window.is_at_end()? && lines.left == 0;
        let mut facts = facts.of_text(self.encoding, lines.endings);
        facts.lines = self.lines.or_else(|| self.total(&lines));
        if !at_end {
            facts = facts.continued_at(next);
        }
        if !matches!(part.from, From::Line(_)) {
            facts.first_line = Some(self.place.line);
        }
        let content = Content::Text(lines.text);
        Ok(Reading { facts, content })
    }

    /// The number of the file's last line.
    fn total(&self, lines: &Lines) -> Option<u64> {
        let before = u64::try_from(lines.behind.line).ok()?.checked_sub(1)?;
        let left = self.window.lines_left()?;
        let unterminated = left == 0 && lines.behind.inside;
        Some(before + left + u64::from(unterminated))
    }
}
