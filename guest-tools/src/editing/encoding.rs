//! Text files as text, and back to the same bytes.

use crate::tool::Failure;
use crate::{reading, text};

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
    fn of(bytes: &[u8]) -> Self {
        match bytes.get(..2) {
            Some([0xff, 0xfe]) => Self::Utf16Le,
            Some([0xfe, 0xff]) => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }
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

    /// The bytes of a text in the encoding of a file that begins like this.
    pub(crate) fn in_encoding_of(beginning: &[u8], text: String) -> Vec<u8> {
        let encoding = Encoding::of(beginning);
        let file = Self {
            text: String::new(),
            encoding,
        };
        file.encode(text)
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
    let unit = |pair: &[u8]| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_le_bytes([pair[0], pair[1]]),
    };
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

fn not_text(path: &str, offset: usize, bytes: &[u8]) -> Failure {
    let encoding = text::Encoding::detect(bytes);
    reading::not_text(path, encoding, offset as u64, bytes, &bytes[offset..])
        .hint("only text can be changed by its content; `write_file` replaces a whole file")
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

    #[test]
    fn what_is_added_is_in_the_encoding_of_the_file() {
        let added = |beginning: &[u8]| Encoded::in_encoding_of(beginning, "a\u{e9}".to_owned());
        assert_eq!(added(b""), "a\u{e9}".as_bytes());
        assert_eq!(added(b"\xff\xfe"), b"a\0\xe9\0");
        assert_eq!(added(b"\xfe\xff"), b"\0a\0\xe9");
    }
}
