//! Which encoding a text has: by its byte order mark, or as the caller names it.

use super::lines::LineFeed;
use super::unmarked::unmarked_utf_16;
use encoding_rs::{EncoderResult, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

/// The encoding of a file, and how many bytes its byte order mark takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    of_bytes: &'static encoding_rs::Encoding,
    /// Bytes of the mark at the start of the file; 0 without one.
    pub(crate) mark: u64,
}

/// What a caller may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// UTF-8, unless a mark says UTF-16.
    Detected,
    /// What a mark says, without one this.
    Assumed(&'static encoding_rs::Encoding),
    /// The bytes themselves.
    Base64,
    /// UTF-16 in the order that its mark says, without one little-endian.
    Utf16,
    /// One of the Encoding Standard's.
    Named(&'static encoding_rs::Encoding),
}

/// A label that names no encoding.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownEncoding;

/// Bytes that [`Choice::at_start_of`] wants to see: the longest mark, and what tells the mark
/// of UTF-32 from that of UTF-16.
pub(crate) const LONGEST_MARK: u64 = 4;

impl Choice {
    /// By the labels of the Encoding Standard, and `base64`.
    ///
    /// # Errors
    /// The label is not known, or is one that decodes nothing.
    pub(crate) fn named(label: &str) -> Result<Self, UnknownEncoding> {
        if label.eq_ignore_ascii_case("base64") {
            return Ok(Self::Base64);
        }
        if label.trim().eq_ignore_ascii_case("utf-16") {
            return Ok(Self::Utf16);
        }
        match encoding_rs::Encoding::for_label(label.as_bytes()) {
            Some(encoding) if encoding != REPLACEMENT => Ok(Self::Named(encoding)),
            _ => Err(UnknownEncoding),
        }
    }

    /// What a text without a mark is taken for.
    ///
    /// # Errors
    /// As [`Choice::named`]; `base64` is no encoding of texts.
    pub(crate) fn assumed(label: &str) -> Result<Self, UnknownEncoding> {
        match Self::named(label)? {
            Self::Named(encoding) => Ok(Self::Assumed(encoding)),
            Self::Utf16 => Ok(Self::Assumed(UTF_16LE)),
            _ => Err(UnknownEncoding),
        }
    }

    /// Whether nobody said what the file is.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Detected | Self::Assumed(_))
    }

    /// What a caller, or else the operator, says of a text.
    ///
    /// # Errors
    /// As [`Choice::named`] and [`Choice::assumed`]; bytes are no text.
    pub(crate) fn of_text(
        named: Option<&str>,
        assumed: Option<&str>,
    ) -> Result<Self, UnknownEncoding> {
        match (named, assumed) {
            (Some(label), _) => match Self::named(label)? {
                Self::Base64 => Err(UnknownEncoding),
                choice => Ok(choice),
            },
            (None, Some(label)) => Self::assumed(label),
            (None, None) => Ok(Self::Detected),
        }
    }

    /// The label of the UTF-16 that a file seems to be in of which neither its mark nor anybody
    /// says so.
    pub(crate) fn overlooks(self, head: &[u8]) -> Option<&'static str> {
        let encoding = self.at_start_of(head);
        let is_silent = self.is_open() && encoding.mark == 0;
        match is_silent && encoding.line_feed() == LineFeed::Byte {
            true => unmarked_utf_16(head),
            false => None,
        }
    }

    /// The encoding of a file that starts with these bytes.
    pub(crate) fn at_start_of(self, head: &[u8]) -> Encoding {
        let detected = Encoding::detect(head);
        match self {
            Self::Named(named) if named != detected.of_bytes => Encoding::unmarked(named),
            Self::Assumed(assumed) if detected.mark == 0 => Encoding::unmarked(assumed),
            Self::Utf16 if detected.of_bytes == UTF_8 => Encoding::unmarked(UTF_16LE),
            _ => detected,
        }
    }
}

impl Encoding {
    /// UTF-8 with or without a mark, or UTF-16 with one.
    pub(crate) fn detect(head: &[u8]) -> Self {
        let marked = |of_bytes, mark| Self { of_bytes, mark };
        match head {
            [0xef, 0xbb, 0xbf, ..] => marked(UTF_8, 3),
            // The mark of UTF-32, which starts with that of UTF-16.
            [0xff, 0xfe, 0, 0, ..] => Self::unmarked(UTF_8),
            [0xff, 0xfe, ..] => marked(UTF_16LE, 2),
            [0xfe, 0xff, ..] => marked(UTF_16BE, 2),
            _ => Self::unmarked(UTF_8),
        }
    }

    fn unmarked(of_bytes: &'static encoding_rs::Encoding) -> Self {
        Self { of_bytes, mark: 0 }
    }

    /// The name as results carry it.
    pub(crate) fn name(self) -> String {
        self.of_bytes.name().to_ascii_lowercase()
    }

    /// Whether the bytes are the text, and need only be checked.
    pub(crate) fn is_utf_8(self) -> bool {
        self.of_bytes == UTF_8
    }

    /// Where the text starts that is shown: the mark of UTF-8 is a character of it, so that
    /// what is read is what was written.
    pub(crate) fn start(self) -> u64 {
        if self.is_utf_8() { 0 } else { self.mark }
    }

    /// How its line feeds look. In every encoding but UTF-16 they are one byte, which is part
    /// of no other character.
    pub(crate) fn line_feed(self) -> LineFeed {
        match self.of_bytes {
            encoding if encoding == UTF_16LE => LineFeed::Utf16Le,
            encoding if encoding == UTF_16BE => LineFeed::Utf16Be,
            _ => LineFeed::Byte,
        }
    }

    /// Whether a character can only be read by whoever has read the line before it.
    pub(crate) fn has_shifts(self) -> bool {
        self.of_bytes == encoding_rs::ISO_2022_JP
    }

    /// Whether ASCII is what it looks like, byte for byte.
    pub(crate) fn has_ascii(self) -> bool {
        self.of_bytes.is_ascii_compatible()
    }

    /// Whether every byte is a character.
    pub(crate) fn is_single_byte(self) -> bool {
        self.of_bytes.is_single_byte()
    }

    /// The bytes of a text, or the first character that the encoding does not have.
    pub(crate) fn encode(self, text: String) -> Result<Vec<u8>, char> {
        match self.line_feed() {
            LineFeed::Byte if self.is_utf_8() => Ok(text.into_bytes()),
            LineFeed::Byte => self.encode_bytes(&text),
            LineFeed::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            LineFeed::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        }
    }

    fn encode_bytes(self, text: &str) -> Result<Vec<u8>, char> {
        let mut encoder = self.of_bytes.new_encoder();
        let mut bytes = Vec::new();
        let mut rest = text;
        loop {
            let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len());
            bytes.reserve(room.unwrap_or(rest.len()));
            let (result, read) =
                encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
            rest = &rest[read..];
            match result {
                EncoderResult::InputEmpty => return Ok(bytes),
                EncoderResult::OutputFull => {}
                EncoderResult::Unmappable(character) => return Err(character),
            }
        }
    }

    pub(super) fn decoder(self) -> encoding_rs::Decoder {
        self.of_bytes.new_decoder_without_bom_handling()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_decide_and_utf_8_is_taken_without() {
        for (head, name, mark) in [
            (&b"plain"[..], "utf-8", 0),
            (b"", "utf-8", 0),
            (b"\xef\xbb\xbfa", "utf-8", 3),
            (b"\xff\xfea\0", "utf-16le", 2),
            (b"\xff\xfe", "utf-16le", 2),
            (b"\xfe\xff\0a", "utf-16be", 2),
            (b"\xff\xfe\0\0a\0\0\0", "utf-8", 0),
        ] {
            let encoding = Choice::Detected.at_start_of(head);
            assert_eq!((&*encoding.name(), encoding.mark), (name, mark), "{head:?}");
        }
    }

    #[test]
    fn a_named_encoding_has_its_mark_and_no_other() {
        for (label, head, name, mark) in [
            ("latin1", &b"\xef\xbb\xbf"[..], "windows-1252", 0),
            ("utf-8", b"\xff\xfea\0", "utf-8", 0),
            ("utf-16le", b"\xff\xfea\0", "utf-16le", 2),
            ("utf-16le", b"a\0", "utf-16le", 0),
            ("utf-16", b"\xfe\xff\0a", "utf-16be", 2),
            ("UTF-16", b"a\0", "utf-16le", 0),
        ] {
            let encoding = Choice::named(label).unwrap().at_start_of(head);
            assert_eq!((&*encoding.name(), encoding.mark), (name, mark), "{label}");
        }
    }

    #[test]
    fn a_mark_counts_more_than_what_is_assumed() {
        for (label, head, name, mark) in [
            ("latin1", &b"caf\xe9"[..], "windows-1252", 0),
            ("latin1", b"\xef\xbb\xbfa", "utf-8", 3),
            ("latin1", b"\xff\xfea\0", "utf-16le", 2),
            ("utf-16", b"a\0", "utf-16le", 0),
            ("utf-8", b"\xfe\xff\0a", "utf-16be", 2),
        ] {
            let encoding = Choice::assumed(label).unwrap().at_start_of(head);
            assert_eq!((&*encoding.name(), encoding.mark), (name, mark), "{label}");
        }
        for label in ["base64", "klingon", ""] {
            assert_eq!(Choice::assumed(label), Err(UnknownEncoding), "{label}");
        }
    }

    #[test]
    fn a_text_becomes_the_bytes_that_it_was() {
        for (label, bytes) in [
            ("windows-1252", &b"caf\xe9 \x80"[..]),
            ("shift_jis", b"\x93\xfa\x96{"),
            ("utf-16be", b"\0h\0\xe9"),
            ("utf-8", b"caf\xc3\xa9"),
        ] {
            let encoding = Choice::named(label).unwrap().at_start_of(bytes);
            let text = encoding.of_bytes.decode_without_bom_handling(bytes).0;
            assert_eq!(
                encoding.encode(text.into_owned()),
                Ok(bytes.to_vec()),
                "{label}"
            );
        }
        let latin = Choice::named("latin1").unwrap().at_start_of(b"");
        assert_eq!(latin.encode("a\u{1f642}b".to_owned()), Err('\u{1f642}'));
    }

    #[test]
    fn what_a_caller_says_comes_before_what_the_operator_says() {
        let of = |named, assumed| Choice::of_text(named, assumed);
        assert_eq!(of(Some("gbk"), Some("latin1")), Choice::named("gbk"));
        assert_eq!(of(None, Some("latin1")), Choice::assumed("latin1"));
        assert_eq!(of(None, None), Ok(Choice::Detected));
        assert_eq!(of(Some("base64"), None), Err(UnknownEncoding));
    }

    #[test]
    fn utf_16_without_a_mark_is_noticed_where_nobody_says_what_it_is() {
        let head = b"h\0i\0\n\0";
        let overlooked = |choice: Result<Choice, _>| choice.unwrap().overlooks(head);
        assert_eq!(Choice::Detected.overlooks(head), Some("utf-16le"));
        assert_eq!(overlooked(Choice::assumed("latin1")), Some("utf-16le"));
        assert_eq!(overlooked(Choice::assumed("utf-16")), None);
        assert_eq!(overlooked(Choice::named("utf-8")), None);
    }

    #[test]
    fn unknown_labels_and_those_that_decode_nothing_are_refused() {
        for label in ["klingon", "", "utf-7", "hz-gb-2312", "iso-2022-kr"] {
            assert_eq!(Choice::named(label), Err(UnknownEncoding), "{label}");
        }
        assert_eq!(Choice::named("BASE64"), Ok(Choice::Base64));
    }
}
