//! From the bytes of some lines to what is answered of them.

use super::part::Part;
use crate::text::{Bad, Decoded, Decoding, Endings, LineFeed, Place, Style};

/// Lines as they stand in the file.
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    /// Whether the last character is whole.
    pub(super) complete: bool,
    /// Where they start.
    pub(super) place: Place,
}

/// Lines as they are answered.
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) endings: Endings,
    /// What follows them.
    pub(super) next: Place,
    /// What follows all that was taken, and how many bytes of that are not answered.
    pub(super) behind: Place,
    pub(super) left: usize,
}

impl Taken {
    /// Decodes them, and shows them as the caller wants.
    ///
    /// # Errors
    /// Bytes that are not text.
    pub(super) fn decode(self, decoding: Decoding, part: &Part) -> Result<Lines, Bad> {
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
