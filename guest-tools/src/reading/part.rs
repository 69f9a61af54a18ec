//! Reading some lines of a file, or some bytes.

use super::refusals::{behind_the_end, foreign_cursor, no_place_inside, not_text, too_far};
use super::{Facts, Reading, Wish, sha256};
use crate::files::{OpenFile, ReadAnswer};
use crate::magic::media_type;
use crate::text::{
    Bad, Choice, Decoded, Decoding, Encoding, End, Endings, LEAST_TEXT, LONGEST_MARK, LineFeed,
    Place, Style, Window, tail,
};
use crate::tool::{Content, Error};

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

/// A line that a file with fewer does not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    pub(super) line: u64,
    pub(super) lines: u64,
}

impl Part {
    /// The most bytes of text that are worth decoding. What is clipped takes less room than
    /// it has.
    fn text_limit(&self) -> Option<usize> {
        self.most.filter(|_| self.style.clip.is_none())
    }
}

type Reader<'a> = &'a mut dyn FnMut(u64, u64) -> ReadAnswer;

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
        return read_bytes(path, read, part, facts);
    }
    let mut opened = Opened::at(path, facts.size, wish.choice, part.from, &mut *read)?;
    let decoding = Decoding {
        encoding: opened.encoding,
        replace: wish.replace,
    };
    let taken = opened.take(decoding, part)?;
    let start = taken.place.byte;
    match taken.decode(decoding, part) {
        Ok(lines) => opened.answer(lines, part, facts),
        Err(bad) => {
            drop(opened);
            let head = read(TELLING, 0).map_or_else(|_| Vec::new(), |(head, _)| head);
            let offset = start + bad.offset as u64;
            let bad = &bad.bytes[bad.offset..];
            Err(not_text(path, decoding.encoding, offset, bad, media_type(&head)).into())
        }
    }
}

/// A file whose reading starts at some line.
struct Opened<'a> {
    window: Window<Reader<'a>>,
    encoding: Encoding,
    place: Place,
    /// How many lines the file has, if that is known already.
    lines: Option<u64>,
}

impl<'a> Opened<'a> {
    fn at(
        path: &str,
        size: u64,
        choice: Choice,
        from: From,
        read: Reader<'a>,
    ) -> Result<Self, Error> {
        match from {
            From::Line(line) => Self::at_start(size, choice, read)?.at_line(path, line),
            From::Last(lines) => Self::at_end(size, choice, lines, read),
            From::Cursor(place, line) => {
                let opened = Self::at_place(path, size, choice, place, read)?;
                match line {
                    None => Ok(opened),
                    Some(line) => opened.at_line(path, line),
                }
            }
        }
    }

    fn at_start(size: u64, choice: Choice, read: Reader<'a>) -> Result<Self, Error> {
        let mut window = Window::new(read, size, 0);
        let encoding = choice.at_start_of(window.head()?);
        window.starts_text(encoding.line_feed(), encoding.start());
        Ok(Self {
            window,
            encoding,
            place: Place::first(encoding.start()),
            lines: None,
        })
    }

    fn at_end(size: u64, choice: Choice, lines: u64, read: Reader<'a>) -> Result<Self, Error> {
        let encoding = choice.at_start_of(&read(LONGEST_MARK, 0)?.0);
        let text = (encoding.start(), size);
        let tail = tail(&mut *read, encoding.line_feed(), text, lines)?;
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
        choice: Choice,
        place: Place,
        read: Reader<'a>,
    ) -> Result<Self, Error> {
        let encoding = choice.at_start_of(&read(LONGEST_MARK, 0)?.0);
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

    fn take(&mut self, decoding: Decoding, part: &Part) -> Result<Taken, Error> {
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

    fn answer(&mut self, lines: Lines, part: &Part, facts: Facts) -> Result<Reading, Error> {
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

/// Lines as they stand in the file.
struct Taken {
    bytes: Vec<u8>,
    /// Whether the last character is whole.
    complete: bool,
    place: Place,
}

/// Lines as they are answered.
struct Lines {
    text: String,
    endings: Endings,
    /// What follows them.
    next: Place,
    /// What follows all that was taken, and how much of that is not answered.
    behind: Place,
    left: usize,
}

impl Taken {
    fn decode(self, decoding: Decoding, part: &Part) -> Result<Lines, Bad> {
        let line_feed = decoding.encoding.line_feed();
        let length = self.bytes.len();
        let line_feeds = line_feed.count(&self.bytes);
        let ends = line_feed.ends(&self.bytes);
        let behind = self.place.behind(length as u64, line_feeds, ends);
        let (place, lines) = (self.place, self.shown(decoding, part)?);
        let (line_feeds, ends) = (lines.line_feeds, lines.ends_a_line);
        Ok(Lines {
            text: lines.text,
            endings: lines.endings,
            next: place.behind(lines.consumed as u64, line_feeds, ends),
            behind,
            left: length - lines.consumed,
        })
    }

    fn shown(self, decoding: Decoding, part: &Part) -> Result<Answered, Bad> {
        let limit = part.text_limit().unwrap_or(usize::MAX);
        if part.style.is_plain() {
            let decoded = decoding.decode(self.bytes, limit, self.complete)?;
            return Ok(Answered::plain(decoded));
        }
        let as_they_are = decoding.takes_bytes_as_they_are();
        let bytes = if as_they_are {
            Vec::new()
        } else {
            self.bytes.clone()
        };
        let decoded = decoding.decode(self.bytes, limit, self.complete)?;
        let most = part.most.unwrap_or(usize::MAX);
        let shown = part.style.show(&decoded.text, self.place, most);
        let taken = &decoded.text[..shown.taken];
        let line_feeds = LineFeed::Byte.count(taken.as_bytes());
        let consumed = if shown.taken == decoded.text.len() {
            decoded.consumed
        } else if as_they_are {
            shown.taken
        } else if taken.ends_with('\n') {
            let line_feed = decoding.encoding.line_feed();
            line_feed.end_of_lines(&bytes, &mut { line_feeds })
        } else {
            return part_of_a_line(decoding, part.style, bytes, self.place, shown.taken);
        };
        Ok(Answered {
            ends_a_line: taken.ends_with('\n'),
            endings: Endings::of(&decoded.text),
            text: shown.text,
            consumed,
            line_feeds,
        })
    }
}

/// What was answered of the lines.
struct Answered {
    text: String,
    endings: Endings,
    /// Bytes of the file.
    consumed: usize,
    line_feeds: u64,
    ends_a_line: bool,
}

impl Answered {
    fn plain(decoded: Decoded) -> Self {
        let Decoded { text, consumed } = decoded;
        Self {
            endings: Endings::of(&text),
            line_feeds: LineFeed::Byte.count(text.as_bytes()),
            ends_a_line: text.ends_with('\n'),
            text,
            consumed,
        }
    }
}

/// Up to so many bytes of text of one line.
fn part_of_a_line(
    decoding: Decoding,
    style: Style,
    bytes: Vec<u8>,
    place: Place,
    most: usize,
) -> Result<Answered, Bad> {
    let style = Style {
        clip: None,
        ..style
    };
    let plain = Answered::plain(decoding.decode(bytes, most, true)?);
    let text = style.show(&plain.text, place, usize::MAX).text;
    Ok(Answered { text, ..plain })
}

/// A part of the bytes themselves.
fn read_bytes(
    path: &str,
    read: Reader<'_>,
    part: &Part,
    mut facts: Facts,
) -> Result<Reading, Error> {
    let start = match part.from {
        From::Cursor(place, _) => place.byte,
        From::Line(_) | From::Last(_) => 0,
    };
    if start > facts.size {
        return Err(foreign_cursor(path, facts.size).into());
    }
    let wanted = (facts.size - start).min(part.most.map_or(u64::MAX, |most| most as u64));
    let mut data = Vec::new();
    while (data.len() as u64) < wanted {
        let got = data.len() as u64;
        let (more, at_end) = read(wanted - got, start + got)?;
        let is_short = (more.len() as u64) < wanted - got;
        data.extend_from_slice(&more);
        if at_end || is_short {
            break;
        }
    }
    let end = start + data.len() as u64;
    if end < facts.size {
        facts = facts.continued_at(Place {
            line: 1,
            byte: end,
            inside: true,
        });
    }
    let mime_type = match start {
        0 => media_type(&data),
        _ => "application/octet-stream",
    };
    let mime_type = mime_type.to_owned();
    let content = Content::Bytes { data, mime_type };
    Ok(Reading { facts, content })
}

/// The answer of a file that was read already.
fn slice_of(bytes: &[u8], length: u64, offset: u64) -> (Vec<u8>, bool) {
    let start = usize::try_from(offset).map_or(bytes.len(), |start| start.min(bytes.len()));
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let end = start.saturating_add(length).min(bytes.len());
    (bytes[start..end].to_vec(), end == bytes.len())
}
