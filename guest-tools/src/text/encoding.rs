//! Which encoding a text has: by its byte order mark, or as the caller names it.

use super::lines::LineFeed;
use encoding_rs::{REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

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
    fn unknown_labels_and_those_that_decode_nothing_are_refused() {
        for label in ["klingon", "", "utf-7", "hz-gb-2312", "iso-2022-kr"] {
            assert_eq!(Choice::named(label), Err(UnknownEncoding), "{label}");
        }
        assert_eq!(Choice::named("BASE64"), Ok(Choice::Base64));
    }
}
