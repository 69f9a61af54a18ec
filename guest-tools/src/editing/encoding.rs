//! Text files as text, and back to the same bytes.

use crate::files::Ends;
use crate::tool::Failure;
use crate::{reading, text};
use memchr::memchr;

/// The byte order mark, as a character.
pub(super) const MARK: char = '\u{feff}';

/// A text, and how it becomes bytes again. What is not changed becomes the bytes it was: no
/// two spellings of bytes have the same text in these encodings.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) text: String,
    encoding: Encoding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Encoding {
    fn unit(self, pair: [u8; 2]) -> u16 {
        match self {
            Self::Utf16Be => u16::from_be_bytes(pair),
            _ => u16::from_le_bytes(pair),
        }
    }

    fn of(bytes: &[u8]) -> Self {
        match bytes.get(..2) {
            Some([0xff, 0xfe]) => Self::Utf16Le,
            Some([0xfe, 0xff]) => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }

    /// Where in a piece of a file there is something else than text: NUL is in no text, but in
    /// UTF-16 without a mark and in most binary files. A piece may begin inside a character,
    /// and end inside one where it is not the `last`.
    fn bad_in(self, piece: &[u8], offset: u64, last: bool) -> Option<u64> {
        let bad = match self {
            Self::Utf8 => bad_utf8(piece, offset > 0, last),
            _ => bad_utf16(piece, self, offset, last),
        };
        bad.map(|bad| bad as u64)
    }
}

fn bad_utf8(piece: &[u8], is_cut: bool, last: bool) -> Option<usize> {
    let is_inside = |byte: &&u8| (0x80..0xc0).contains(*byte);
    let skipped = match is_cut {
        true => piece.iter().take(3).take_while(is_inside).count(),
        false => 0,
    };
    let piece = &piece[skipped..];
    let (valid, bad) = match std::str::from_utf8(piece) {
        Ok(_) => (piece.len(), None),
        Err(error) => (
            error.valid_up_to(),
            (last || error.error_len().is_some()).then_some(error.valid_up_to()),
        ),
    };
    let bad = memchr(0, &piece[..valid]).or(bad);
    bad.map(|bad| skipped + bad)
}

fn bad_utf16(piece: &[u8], encoding: Encoding, offset: u64, last: bool) -> Option<usize> {
    // Pairs begin at even offsets.
    let odd = (offset % 2) as usize;
    let pairs = piece.get(odd..)?;
    let first = pairs.first_chunk().map(|pair| encoding.unit(*pair));
    let is_second = offset > 0 && first.is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
    let skipped = odd + if is_second { 2 } else { 0 };
    let piece = &piece[skipped..];
    let bad = match from_utf16(piece, encoding) {
        Ok(text) => text
            .find('\0')
            .map(|at| text[..at].encode_utf16().count() * 2),
        // A pair of units, or of bytes, that the next piece completes.
        Err(bad) if !last && bad + 2 >= piece.len() => None,
        Err(bad) => Some(bad),
    };
    bad.map(|bad| skipped + bad)
}

impl Encoded {
    /// Takes UTF-8, and UTF-16 that begins with a byte order mark. The mark stays a part of
    /// the text.
    ///
    /// # Errors
    /// `not-text`.
    pub(crate) fn decode(path: &str, bytes: Vec<u8>) -> Result<Self, Failure> {
        let encoding = Encoding::of(&bytes);
        let text = match encoding {
            Encoding::Utf8 => String::from_utf8(bytes).map_err(|error| {
                let offset = error.utf8_error().valid_up_to();
                not_text(path, offset, error.as_bytes())
            }),
            _ => from_utf16(&bytes, encoding).map_err(|offset| not_text(path, offset, &bytes)),
        };
        text.map(|text| Self { text, encoding })
    }

    /// The bytes of another text in this encoding.
    pub(crate) fn encode(&self, text: String) -> Vec<u8> {
        match self.encoding {
            Encoding::Utf8 => text.into_bytes(),
            Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        }
    }

    /// The bytes of a text that is added to a file with these ends, in the file's encoding.
    ///
    /// # Errors
    /// `not-text` where what stands there is no text, as far as it is known.
    pub(crate) fn added_to(path: &str, ends: &Ends, text: String) -> Result<Vec<u8>, Failure> {
        let Ends {
            beginning,
            end,
            end_offset,
        } = ends;
        let encoding = Encoding::of(beginning);
        let is_whole = end.is_empty() && beginning.len() < Ends::LENGTH as usize;
        let bad = encoding
            .bad_in(beginning, 0, is_whole)
            .or_else(|| Some(end_offset + encoding.bad_in(end, *end_offset, true)?));
        if let Some(offset) = bad {
            let bytes = if offset < beginning.len() as u64 {
                beginning
            } else {
                end
            };
            let start = if offset < beginning.len() as u64 {
                0
            } else {
                *end_offset
            };
            let bad = &bytes[(offset - start) as usize..];
            return Err(not_added(path, offset, beginning, bad));
        }
        let file = Self {
            text: String::new(),
            encoding,
        };
        Ok(file.encode(text))
    }

    /// How many bytes the text was decoded from.
    pub(crate) fn byte_length(&self) -> usize {
        match self.encoding {
            Encoding::Utf8 => self.text.len(),
            _ => self.text.encode_utf16().count() * 2,
        }
    }

    /// Whether offsets in the text are offsets in the file.
    pub(crate) fn is_utf8(&self) -> bool {
        self.encoding == Encoding::Utf8
    }
}

/// The text, or the offset of the first bytes that are none.
fn from_utf16(bytes: &[u8], encoding: Encoding) -> Result<String, usize> {
    let unit = |pair: &[u8]| encoding.unit([pair[0], pair[1]]);
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err(bytes.len() - 1);
    }
    let mut units = 0;
    let mut text = String::with_capacity(bytes.len());
    for character in char::decode_utf16(pairs.map(unit)) {
        let character = character.map_err(|_| units * 2)?;
        units += character.len_utf16();
        text.push(character);
    }
    Ok(text)
}

/// Whether a text holds nothing but its byte order mark.
pub(crate) fn is_empty(text: &str) -> bool {
    text.strip_prefix(MARK).unwrap_or(text).is_empty()
}

/// Where the text of a file begins behind its byte order mark.
pub(super) fn behind_mark(text: &str) -> usize {
    if text.starts_with(MARK) {
        MARK.len_utf8()
    } else {
        0
    }
}

fn not_text(path: &str, offset: usize, bytes: &[u8]) -> Failure {
    let encoding = text::Encoding::detect(bytes);
    reading::not_text(path, encoding, offset as u64, bytes, &bytes[offset..])
        .hint("only text can be changed by its content; `write_file` replaces a whole file")
}

fn not_added(path: &str, offset: u64, beginning: &[u8], bad: &[u8]) -> Failure {
    let encoding = text::Encoding::detect(beginning);
    reading::not_text(path, encoding, offset, beginning, bad).hint(
        "text is added to text in UTF-8, or in UTF-16 with a byte order mark, only; if it is text \
         in another encoding, read it and write it as a whole with `write_file`, as UTF-8",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_is_encoded_to_the_same_bytes() {
        for bytes in [
            &b""[..],
            b"a\r\nb\0",
            b"\xef\xbb\xbfparam",
            b"\xff\xfe",
            b"\xff\xfeh\0\r\0\n\0\x3d\xd8\x00\xde",
            b"\xfe\xff\0h\xd8\x3d\xde\x00",
        ] {
            let encoded = Encoded::decode("f", bytes.to_vec()).unwrap();
            assert_eq!(encoded.encode(encoded.text.clone()), bytes);
            assert_eq!(encoded.byte_length(), bytes.len());
        }
    }

    #[test]
    fn the_first_bad_byte_is_named() {
        for (bytes, offset) in [
            (&b"abc\xff"[..], 3),
            (b"ab\xed\xa0\x80", 2),
            (b"\xff\xfea\0\x3d\xd8b\0", 4),
            (b"\xff\xfea", 2),
        ] {
            let failure = Encoded::decode("f", bytes.to_vec()).unwrap_err();
            assert_eq!(failure.code, "not-text");
            let expected = format!(r#"{{"offset":{offset},"#);
            assert!(
                failure.details.starts_with(&expected),
                "{}",
                failure.details
            );
        }
    }

    fn added(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
        let length = Ends::LENGTH as usize;
        let end_offset = match bytes.len() < length {
            true => bytes.len(),
            false => bytes.len() - length,
        };
        let ends = Ends {
            beginning: bytes[..bytes.len().min(length)].to_vec(),
            end: bytes[end_offset..].to_vec(),
            end_offset: end_offset as u64,
        };
        Encoded::added_to("f", &ends, "a\u{e9}".to_owned())
    }

    #[test]
    fn what_is_added_is_in_the_encoding_of_the_file() {
        let mut long_utf_16 = b"\xff\xfe\n\0".to_vec();
        long_utf_16.extend(b"\x3d\xd8\x00\xde".repeat(3000));
        for (bytes, expected) in [
            (&b""[..], "a\u{e9}".as_bytes()),
            (b"x", "a\u{e9}".as_bytes()),
            ("x€".repeat(5000).as_bytes(), "a\u{e9}".as_bytes()),
            ("🙂€".repeat(5000).as_bytes(), "a\u{e9}".as_bytes()),
            (b"\xff\xfe", b"a\0\xe9\0"),
            (b"\xfe\xff", b"\0a\0\xe9"),
            (&long_utf_16, b"a\0\xe9\0"),
            (&[&long_utf_16[..], b"a\0"].concat(), b"a\0\xe9\0"),
        ] {
            assert_eq!(added(bytes).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn nothing_is_added_to_what_is_no_text() {
        let long = "text\n".repeat(2000);
        let after = |end: &[u8]| [long.as_bytes(), end].concat();
        for (bytes, offset) in [
            (b"caf\xe9\n".to_vec(), 3),
            (b"caf\xe9".to_vec(), 3),
            (b"h\0i\0\n\0".to_vec(), 1),
            (b"\0h\0i".to_vec(), 0),
            (b"PK\x05\x06\0\0".to_vec(), 4),
            (b"\x89PNG\r\n\x1a\n".to_vec(), 0),
            ([&b"\x89PNG"[..], long.as_bytes()].concat(), 0),
            (after(b"caf\xe9\n"), 10_003),
            (after(b"\xe2\x82"), 10_000),
            (after(b"x\0"), 10_001),
            (b"\xff\xfea".to_vec(), 2),
            (b"\xff\xfea\0\x3d\xd8".to_vec(), 4),
            (b"\xff\xfe\0\0a\0\0\0".to_vec(), 2),
        ] {
            let failure = added(&bytes).unwrap_err();
            assert_eq!(failure.code, "not-text");
            let expected = format!(r#"{{"offset":{offset},"#);
            assert!(
                failure.details.starts_with(&expected),
                "{}",
                failure.details
            );
        }
    }
}
