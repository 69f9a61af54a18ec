//! Where lines end in bytes that are not decoded yet.

use memchr::{memchr, memchr_iter, memrchr};

/// How a line feed looks in an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineFeed {
    /// One byte, which is part of no other character.
    Byte,
    /// Two bytes, at an even place of the file.
    Utf16Le,
    /// Two bytes, at an even place of the file.
    Utf16Be,
}

impl LineFeed {
    /// Bytes of one.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Utf16Le | Self::Utf16Be => 2,
        }
    }

    /// How many there are.
    pub(crate) fn count(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Byte => memchr_iter(b'\n', bytes).count() as u64,
            _ => units(bytes).filter(|unit| self.is(unit)).count() as u64,
        }
    }

    /// The place behind the next one.
    pub(crate) fn end_of_next(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Byte => memchr(b'\n', bytes).map(|at| at + 1),
            _ => units(bytes)
                .position(|unit| self.is(unit))
                .map(|at| at * 2 + 2),
        }
    }

    /// The place behind so many of them, or the end if there are fewer; those that were found
    /// are taken off the number.
    pub(crate) fn end_of_lines(self, bytes: &[u8], left: &mut u64) -> usize {
        let mut end = 0;
        while *left > 0 {
            match self.end_of_next(&bytes[end..]) {
                Some(length) => end += length,
                None => return bytes.len(),
            }
            *left -= 1;
        }
        end
    }

    /// The place behind the last one.
    pub(crate) fn end_of_last(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Byte => memrchr(b'\n', bytes).map(|at| at + 1),
            _ => units(bytes)
                .rposition(|unit| self.is(unit))
                .map(|at| at * 2 + 2),
        }
    }

    /// Whether the bytes start with one.
    pub(crate) fn starts(self, bytes: &[u8]) -> bool {
        self.end_of_next(&bytes[..bytes.len().min(self.width())])
            .is_some()
    }

    /// Whether the bytes end with one. They start where a character does.
    pub(crate) fn ends(self, bytes: &[u8]) -> bool {
        let whole = bytes.len() - bytes.len() % self.width();
        whole == bytes.len() && self.end_of_last(bytes) == Some(bytes.len())
    }

    fn is(self, unit: &[u8]) -> bool {
        match self {
            Self::Byte => unit == b"\n",
            Self::Utf16Le => unit == b"\n\0",
            Self::Utf16Be => unit == b"\0\n",
        }
    }
}

fn units(bytes: &[u8]) -> std::slice::ChunksExact<'_, u8> {
    bytes.chunks_exact(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_feeds_are_found_in_bytes() {
        let byte = LineFeed::Byte;
        assert_eq!(byte.count(b"a\nb\r\n\n"), 3);
        assert_eq!(byte.end_of_next(b"a\nb\n"), Some(2));
        assert_eq!(byte.end_of_last(b"a\nb\nc"), Some(4));
        assert_eq!(byte.end_of_next(b"abc"), None);
        assert!(byte.ends(b"a\n") && !byte.ends(b"a") && !byte.ends(b""));
        assert!(byte.starts(b"\na") && !byte.starts(b"") && !byte.starts(b"a\n"));
    }

    /// U+0A0A and U+0A00 hold the byte of a line feed and are none.
    #[test]
    fn in_utf_16_only_whole_units_count() {
        let le = LineFeed::Utf16Le;
        assert_eq!(le.count(b"a\0\n\0\n\n\0\n"), 1);
        assert_eq!(le.end_of_next(b"\0\n\n\0"), Some(4));
        assert_eq!(le.end_of_next(b"\0\n\0\n"), None);
        let be = LineFeed::Utf16Be;
        assert_eq!(be.count(b"\0a\0\n\n\n\n\0"), 1);
        assert_eq!(be.end_of_last(b"\0\n\0a"), Some(2));
        assert!(be.ends(b"\0\n") && !be.ends(b"\0\n\0"));
    }
}
