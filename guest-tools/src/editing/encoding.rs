//! Text files as text, and back to the same bytes.

use crate::files::Ends;
use crate::reading;
use crate::text::{Choice, Decoding, Encoding, LineFeed};
use crate::tool::Failure;
use memchr::memchr;

/// The byte order mark, as a character.
pub(super) const MARK: char = '\u{feff}';

/// A text, and how it becomes bytes again. What is not changed becomes the bytes it was: where
/// two spellings of bytes have the same text, that is seen to when it is decoded.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) text: String,
    encoding: Encoding,
    /// Of the bytes that the text was decoded from.
    byte_length: usize,
}

/// What a caller, or else the operator, says of the texts that are changed.
///
/// # Errors
/// `unsupported-encoding`.
pub(crate) fn choice(named: Option<&str>, assumed: Option<&str>) -> Result<Choice, Failure> {
    let label = named.or(assumed).unwrap_or_default();
    Choice::of_text(named, assumed).map_err(|_| reading::no_encoding_of_texts(label))
}

/// Where in a piece of a file there is something else than text: NUL is in no text, but in
/// UTF-16 that does not say so and in most binary files. A piece may begin inside a character,
/// and end inside one where it is not the `last`.
fn bad_in(encoding: Encoding, piece: &[u8], offset: u64, last: bool) -> Option<u64> {
    let is_whole = last && offset == 0;
    let bad = match encoding.line_feed() {
        LineFeed::Utf16Le => bad_utf16(piece, u16::from_le_bytes, offset, last),
        LineFeed::Utf16Be => bad_utf16(piece, u16::from_be_bytes, offset, last),
        LineFeed::Byte if encoding.is_utf_8() => bad_utf8(piece, offset > 0, last),
        // Where a character begins in a piece of the others is not to be seen.
        LineFeed::Byte if is_whole || encoding.is_single_byte() => bad_bytes(piece, encoding),
        LineFeed::Byte => memchr(0, piece),
    };
    bad.map(|bad| bad as u64)
}

fn bad_bytes(piece: &[u8], encoding: Encoding) -> Option<usize> {
    let decoded = strictly(encoding).decode(piece.to_vec(), usize::MAX, true);
    memchr(0, piece).or(decoded.err().map(|bad| bad.offset))
}

fn strictly(encoding: Encoding) -> Decoding {
    let replace = false;
    Decoding { encoding, replace }
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

/// How two bytes are one unit.
type Unit = fn([u8; 2]) -> u16;

fn bad_utf16(piece: &[u8], unit: Unit, offset: u64, last: bool) -> Option<usize> {
    // Pairs begin at even offsets.
    let odd = (offset % 2) as usize;
    let pairs = piece.get(odd..)?;
    let first = pairs.first_chunk().map(|pair| unit(*pair));
    let is_second = offset > 0 && first.is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
    let skipped = odd + if is_second { 2 } else { 0 };
    let piece = &piece[skipped..];
    let bad = match from_utf16(piece, unit) {
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
    /// Takes UTF-8, UTF-16 that begins with a byte order mark, and what the choice says. The
    /// mark stays a part of the text.
    ///
    /// # Errors
    /// `not-text`; also where the encoding would not give back the same bytes.
    pub(crate) fn decode(path: &str, bytes: Vec<u8>, choice: Choice) -> Result<Self, Failure> {
        if let Some(label) = choice.overlooks(&bytes) {
            return Err(reading::utf_16_without_mark(path, label, &bytes, ""));
        }
        let encoding = choice.at_start_of(&bytes);
        let byte_length = bytes.len();
        let original = if encoding.is_utf_8() {
            Vec::new()
        } else {
            bytes.clone()
        };
        let text = match strictly(encoding).decode(bytes, usize::MAX, true) {
            Ok(decoded) => decoded.text,
            Err(bad) => return Err(not_text(path, encoding, bad.offset, &bad.bytes)),
        };
        let same = |text: &str| {
            encoding
                .encode(text.to_owned())
                .is_ok_and(|it| it == original)
        };
        if !encoding.is_utf_8() && !same(&text) {
            return Err(not_the_same(path, encoding));
        }
        Ok(Self {
            text,
            encoding,
            byte_length,
        })
    }

    /// The bytes of another text in this encoding.
    ///
    /// # Errors
    /// `unsupported-encoding` for a character that it does not have.
    pub(crate) fn encode(&self, path: &str, text: String) -> Result<Vec<u8>, Failure> {
        let encoded = self.encoding.encode(text);
        encoded.map_err(|character| no_such_character(path, self.encoding, character))
    }

    /// The bytes of a text that is added to a file with these ends, in the file's encoding. A
    /// file without text, or that does not show it, is in UTF-8 unless the caller names another.
    ///
    /// # Errors
    /// `not-text` where what stands there is no text, as far as it is known; as
    /// [`Encoded::encode`].
    pub(crate) fn added_to(
        path: &str,
        ends: &Ends,
        text: String,
        choice: Choice,
    ) -> Result<Vec<u8>, Failure> {
        let Ends {
            beginning,
            end,
            end_offset,
        } = ends;
        let choice = match beginning.is_empty() && choice.is_open() {
            true => Choice::Detected,
            false => choice,
        };
        if let Some(label) = choice.overlooks(beginning) {
            return Err(reading::utf_16_without_mark(path, label, beginning, ""));
        }
        let encoding = choice.at_start_of(beginning);
        let is_whole = end.is_empty() && beginning.len() < Ends::LENGTH as usize;
        let bad = bad_in(encoding, beginning, 0, is_whole)
            .or_else(|| Some(end_offset + bad_in(encoding, end, *end_offset, true)?));
        if let Some(offset) = bad {
            let in_beginning = offset < beginning.len() as u64;
            let (bytes, start) = match in_beginning {
                true => (beginning, 0),
                false => (end, *end_offset),
            };
            let bad = &bytes[(offset - start) as usize..];
            return Err(not_added(path, encoding, offset, beginning, bad));
        }
        let encoded = encoding.encode(text);
        encoded.map_err(|character| no_such_character(path, encoding, character))
    }

    /// How many bytes the text was decoded from.
    pub(crate) fn byte_length(&self) -> usize {
        self.byte_length
    }

    /// Whether offsets in the text are offsets in the file.
    pub(crate) fn is_utf8(&self) -> bool {
        self.encoding.is_utf_8()
    }
}

/// The text, or the offset of the first bytes that are none.
fn from_utf16(bytes: &[u8], unit: Unit) -> Result<String, usize> {
    let unit = |pair: &[u8]| unit([pair[0], pair[1]]);
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

fn not_text(path: &str, encoding: Encoding, offset: usize, bytes: &[u8]) -> Failure {
    let failure = reading::not_text(path, encoding, offset as u64, bytes, &bytes[offset..]);
    failure.hint(format!(
        "only text can be changed by its content: {ENCODING}; `write_file` replaces a whole file"
    ))
}

fn not_added(path: &str, encoding: Encoding, offset: u64, start: &[u8], bad: &[u8]) -> Failure {
    let failure = reading::not_text(path, encoding, offset, start, bad);
    failure.hint(format!("text is added to text only: {ENCODING}"))
}

/// What to do with a text that is not UTF-8.
const ENCODING: &str = "where it is text, give its `encoding`, such as `windows-1252`";

fn not_the_same(path: &str, encoding: Encoding) -> Failure {
    let name = encoding.name();
    Failure::new(
        "not-text",
        format!("`{path}` is no plain `{name}`: written again, other bytes of it would change"),
    )
    .hint("give another `encoding`, or read it and write it as a whole with `write_file`, as UTF-8")
}

fn no_such_character(path: &str, encoding: Encoding, character: char) -> Failure {
    let name = encoding.name();
    Failure::new(
        "unsupported-encoding",
        format!("`{path}` is `{name}`, which does not have `{character}`"),
    )
    .hint("leave that character out, or write the whole file with `write_file`, as UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Result<Encoded, Failure> {
        Encoded::decode("f", bytes.to_vec(), Choice::Detected)
    }

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
            let encoded = decoded(bytes).unwrap();
            assert_eq!(encoded.encode("f", encoded.text.clone()).unwrap(), bytes);
            assert_eq!(encoded.byte_length(), bytes.len());
        }
    }

    fn assert_not_text_at(failure: &Failure, offset: usize) {
        assert_eq!(failure.code, "not-text");
        let expected = format!(r#"{{"offset":{offset},"#);
        let details = &failure.details;
        assert!(details.starts_with(&expected), "{details}");
    }

    #[test]
    fn the_first_bad_byte_is_named() {
        for (bytes, offset) in [
            (&b"abc\xff"[..], 3),
            (b"ab\xed\xa0\x80", 2),
            (b"\xff\xfea\0\x3d\xd8b\0", 4),
            (b"\xff\xfea", 2),
        ] {
            let failure = decoded(bytes).unwrap_err();
            assert_not_text_at(&failure, offset);
        }
    }

    fn added(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
        added_in(bytes, Choice::Detected)
    }

    fn added_in(bytes: &[u8], choice: Choice) -> Result<Vec<u8>, Failure> {
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
        Encoded::added_to("f", &ends, "a\u{e9}".to_owned(), choice)
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
            (b"\xff\xfe\0\0a\0\0\0".to_vec(), 0),
        ] {
            let failure = added(&bytes).unwrap_err();
            assert_not_text_at(&failure, offset);
        }
    }

    #[test]
    fn other_encodings_are_changed_where_they_are_named_or_assumed() {
        let latin = |assumed| match assumed {
            true => choice(None, Some("latin1")).unwrap(),
            false => choice(Some("latin1"), None).unwrap(),
        };
        for assumed in [false, true] {
            let encoded = Encoded::decode("f", b"caf\xe9\r\n".to_vec(), latin(assumed)).unwrap();
            assert_eq!(
                (&*encoded.text, encoded.is_utf8()),
                ("caf\u{e9}\r\n", false)
            );
            let bytes = encoded.encode("f", "th\u{e9} \u{20ac}".to_owned());
            assert_eq!(bytes.unwrap(), b"th\xe9 \x80");
            let failure = encoded.encode("f", "\u{1f642}".to_owned()).unwrap_err();
            assert_eq!(failure.code, "unsupported-encoding");
            let long = b"caf\xe9\n".repeat(3000);
            assert_eq!(added_in(&long, latin(assumed)).unwrap(), b"a\xe9");
        }
        // What is made is UTF-8 unless the call says otherwise.
        assert_eq!(added_in(b"", latin(true)).unwrap(), "a\u{e9}".as_bytes());
        assert_eq!(added_in(b"", latin(false)).unwrap(), b"a\xe9");
        assert!(choice(Some("base64"), None).is_err());
    }

    #[test]
    fn bytes_that_would_not_come_back_are_left_alone() {
        // Two of the places that Shift_JIS has for one character.
        let shift_jis = choice(Some("shift_jis"), None).unwrap();
        let failure = Encoded::decode("f", b"\xed\x40".to_vec(), shift_jis).unwrap_err();
        assert!(
            failure.message.contains("other bytes"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn utf_16_without_a_mark_is_told_its_encoding() {
        let bytes = b"h\0i\0\n\0";
        for failure in [decoded(bytes).unwrap_err(), added(bytes).unwrap_err()] {
            assert_eq!(failure.hint, "give `encoding: \"utf-16le\"`");
        }
        let named = || choice(Some("utf-16le"), None).unwrap();
        assert_eq!(
            Encoded::decode("f", bytes.to_vec(), named()).unwrap().text,
            "hi\n"
        );
        assert_eq!(added_in(bytes, named()).unwrap(), b"a\0\xe9\0");
    }
}
