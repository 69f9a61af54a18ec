//! From bytes to text, exactly: nothing is replaced unless the caller wants it, and a text
//! that is cut is cut between characters.

use super::encoding::Encoding;
use super::lines::LineFeed;
use encoding_rs::DecoderResult;

/// The least that a text may be limited to: room for a character in every encoding, with what
/// the decoders want to have left.
pub(crate) const LEAST_TEXT: usize = 32;

/// In place of what is not text, where the caller wants it.
const REPLACEMENT: &str = "\u{fffd}";
/// Room that has to be left for a replacement and for the character behind it, which some
/// decoders have read by then.
const ROOM: usize = 8;

/// How bytes become text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoding {
    pub(crate) encoding: Encoding,
    /// Put U+FFFD where the bytes are not text.
    pub(crate) replace: bool,
}

/// As much text as was wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// How many of the bytes it was.
    pub(crate) consumed: usize,
}

/// Bytes that are not text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    /// Where the first of them stands.
    pub(crate) offset: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Decoding {
    /// Whether the text has the bytes of the file.
    pub(crate) fn takes_bytes_as_they_are(self) -> bool {
        self.encoding.is_utf_8() && !self.replace
    }

    /// Decodes bytes that start where a character does, up to `most` bytes of text. They are
    /// `complete` when a line or the file ends with them; else a character may be cut off,
    /// which is left.
    ///
    /// # Errors
    /// Bytes that are not text.
    pub(crate) fn decode(
        self,
        bytes: Vec<u8>,
        most: usize,
        complete: bool,
    ) -> Result<Decoded, Bad> {
        if self.takes_bytes_as_they_are() {
            return checked(bytes, most, complete);
        }
        match self.transcode(&bytes, most, complete) {
            Ok(decoded) => Ok(decoded),
            Err(offset) => Err(Bad { offset, bytes }),
        }
    }

    /// Answers, if it fails, with the place of the first bad byte.
    fn transcode(self, bytes: &[u8], most: usize, complete: bool) -> Result<Decoded, usize> {
        let bytes = match complete {
            true => bytes,
            false => self.without_a_part(bytes),
        };
        let mut decoder = self.encoding.decoder();
        let mut room = Room::new(most, bytes.len() + bytes.len() / 2);
        let mut consumed = 0;
        loop {
            let rest = &bytes[consumed..];
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(rest, room.free(), true);
            consumed += read;
            room.length += written;
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull if room.grows() => {}
                DecoderResult::OutputFull => break,
                DecoderResult::Malformed(bad, behind) => {
                    let offset = consumed - usize::from(bad) - usize::from(behind);
                    if !self.replace {
                        return Err(offset);
                    }
                    if !room.takes_replacement() {
                        consumed = offset;
                        break;
                    }
                }
            }
        }
        let mut text = room.into_text();
        let line_feed = self.encoding.line_feed();
        if text.ends_with(b"\r") && line_feed.starts(&bytes[consumed..]) {
            text.pop();
            consumed -= line_feed.width();
        }
        let text = String::from_utf8(text).map_err(|_| consumed)?;
        Ok(Decoded { text, consumed })
    }

    /// The bytes without a character at their end that may be cut off.
    fn without_a_part(self, bytes: &[u8]) -> &[u8] {
        match self.encoding.line_feed() {
            // No byte below `0` belongs to a longer character.
            LineFeed::Byte => {
                let last = bytes.iter().rposition(|byte| *byte < b'0');
                last.map_or(bytes, |at| &bytes[..=at])
            }
            utf_16 => {
                let high = bytes.len().checked_sub(2).map(|at| match utf_16 {
                    LineFeed::Utf16Be => bytes[at],
                    _ => bytes[at + 1],
                });
                let is_half = high.is_some_and(|high| high & 0xfc == 0xd8);
                &bytes[..bytes.len() - if is_half { 2 } else { 0 }]
            }
        }
    }
}

/// UTF-8 is text already.
fn checked(mut bytes: Vec<u8>, most: usize, complete: bool) -> Result<Decoded, Bad> {
    let is_cut = bytes.len() > most;
    if is_cut {
        bytes.truncate(cut(&bytes, most));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let utf8 = error.utf8_error();
            let offset = utf8.valid_up_to();
            let mut bytes = error.into_bytes();
            if complete || is_cut || utf8.error_len().is_some() {
                return Err(Bad { offset, bytes });
            }
            bytes.truncate(offset);
            String::from_utf8(bytes).map_err(|error| Bad {
                offset,
                bytes: error.into_bytes(),
            })?
        }
    };
    let consumed = text.len();
    Ok(Decoded { text, consumed })
}

/// The last place up to `most` that splits neither a character nor a CRLF.
pub(super) fn cut(bytes: &[u8], most: usize) -> usize {
    let is_inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut end = most.min(bytes.len());
    while end > 0 && most - end < 3 && is_inside(end) {
        end -= 1;
    }
    let splits = bytes[..end].ends_with(b"\r") && bytes.get(end) == Some(&b'\n');
    end - usize::from(splits)
}

/// Where a decoder puts the text.
struct Room {
    text: Vec<u8>,
    length: usize,
    most: usize,
}

impl Room {
    fn new(most: usize, expected: usize) -> Self {
        Self {
            text: vec![0; most.min(expected + LEAST_TEXT)],
            length: 0,
            most,
        }
    }

    fn free(&mut self) -> &mut [u8] {
        &mut self.text[self.length..]
    }

    /// Makes more, if there may be.
    fn grows(&mut self) -> bool {
        let larger = self.text.len().saturating_mul(2).min(self.most);
        let grows = larger > self.text.len();
        self.text.resize(larger, 0);
        grows
    }

    fn takes_replacement(&mut self) -> bool {
        if self.free().len() < ROOM && !(self.grows() && self.free().len() >= ROOM) {
            return false;
        }
        self.free()[..REPLACEMENT.len()].copy_from_slice(REPLACEMENT.as_bytes());
        self.length += REPLACEMENT.len();
        true
    }

    fn into_text(mut self) -> Vec<u8> {
        self.text.truncate(self.length);
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Choice;

    fn decode(
        label: &str,
        bytes: &[u8],
        most: usize,
        complete: bool,
    ) -> Result<(String, usize), usize> {
        let decoding = Decoding {
            encoding: Choice::named(label).unwrap().at_start_of(b""),
            replace: false,
        };
        match decoding.decode(bytes.to_vec(), most, complete) {
            Ok(decoded) => Ok((decoded.text, decoded.consumed)),
            Err(bad) => Err(bad.offset),
        }
    }

    #[test]
    fn neither_characters_nor_line_ends_are_split() {
        for (text, most, cut) in [
            ("abc", 3, "abc"),
            ("abあ", 4, "ab"),
            ("abあ", 5, "abあ"),
            ("a\u{10ffff}", 4, "a"),
            ("ab\r\n", 3, "ab"),
            ("ab\r\r", 3, "ab\r"),
        ] {
            let decoded = decode("utf-8", text.as_bytes(), most, true);
            assert_eq!(decoded, Ok((cut.to_owned(), cut.len())), "{text:?}");
        }
    }

    #[test]
    fn a_character_that_is_cut_off_is_bad_only_where_the_text_ends() {
        for (label, bytes, whole, text) in [
            ("utf-8", &b"ab\xe3\x81"[..], 2, "ab"),
            ("utf-16le", b"a\0\x3d\xd8", 2, "a"),
            ("shift_jis", b"a\n\x93", 2, "a\n"),
        ] {
            assert_eq!(decode(label, bytes, 99, true), Err(whole), "{label}");
            let decoded = decode(label, bytes, 99, false);
            assert_eq!(decoded, Ok((text.to_owned(), whole)), "{label}");
        }
        assert_eq!(decode("utf-8", b"ab\xffc", 99, false), Err(2));
    }

    #[test]
    fn a_text_that_grows_finds_its_room() {
        let bytes = vec![0xa4; 1000];
        let (text, consumed) = decode("iso-8859-15", &bytes, usize::MAX, true).unwrap();
        assert_eq!((text.len(), consumed), (3000, 1000));
        let (text, consumed) = decode("iso-8859-15", &bytes, 1000, true).unwrap();
        assert_eq!(text.len(), consumed * 3);
        assert!((990..=1000).contains(&text.len()), "{}", text.len());
    }
}
