//! The content of a file to be searched, with as few calls as it takes.

use crate::files::{Descriptor, ErrorCode};
use crate::text::{Choice, Decoding, Encoding, LineFeed};
use crate::walk::Reason;
use memchr::memchr;

/// Read at first: most files are smaller, and the host hands out so much without a look at
/// the size.
const BLOCK: u64 = 64 * 1024;
/// A NUL in so many bytes says that a file is no text, as git takes it.
const SNIFFED: usize = 8000;
/// Larger files are not searched, whatever the host lets be read: content is held as a whole,
/// and twice where it has to be decoded.
const LARGEST: u64 = 64 * 1024 * 1024;

/// What reading a file for a search comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text in UTF-8, as far as it is text, without byte order mark.
    Text(Vec<u8>),
    /// No text, as far as it was read to see that.
    Binary(Vec<u8>),
    /// Nothing to search in.
    Not(Reason),
    /// The host lets nothing more be read in this call.
    NoMore,
}

/// What a file is read through.
pub(crate) trait File {
    fn read_at(&self, length: u64, offset: u64) -> Result<(Vec<u8>, bool), ErrorCode>;
    fn size(&self) -> Result<u64, ErrorCode>;
}

impl File for Descriptor {
    fn read_at(&self, length: u64, offset: u64) -> Result<(Vec<u8>, bool), ErrorCode> {
        self.read(length, offset)
    }

    fn size(&self) -> Result<u64, ErrorCode> {
        Ok(self.stat()?.size)
    }
}

/// Reads one file after the other, and remembers what the host refused: what is as large is
/// not asked for again, since each refusal is a line in the audit log.
pub(crate) struct Reader {
    /// What texts are in that do not say it themselves.
    choice: Choice,
    largest_read: u64,
    smallest_refused: u64,
}

impl Reader {
    pub(crate) fn of(choice: Choice) -> Self {
        Self {
            choice,
            largest_read: 0,
            smallest_refused: LARGEST + 1,
        }
    }

    /// # Errors
    /// The host's, except for limits.
    pub(crate) fn read(&mut self, file: &impl File) -> Result<Content, ErrorCode> {
        if self.smallest_refused <= BLOCK && file.size()? >= self.smallest_refused {
            return Ok(Content::Not(Reason::TooLarge));
        }
        match self.read_as_far_as_allowed(file) {
            Err(ErrorCode::Quota) => self.refused(file.size()?),
            answer => answer,
        }
    }

    /// Reads a file that the caller named: a limit on it is the answer.
    ///
    /// # Errors
    /// The host's.
    pub(crate) fn read_named(&mut self, file: &impl File) -> Result<Content, ErrorCode> {
        self.read_as_far_as_allowed(file)
    }

    fn read_as_far_as_allowed(&mut self, file: &impl File) -> Result<Content, ErrorCode> {
        let (mut bytes, mut at_end) = file.read_at(BLOCK, 0)?;
        let encoding = encoding_of(&bytes, self.choice);
        if is_binary(&bytes, encoding) {
            return Ok(Content::Binary(bytes));
        }
        if !at_end {
            let size = file.size()?;
            if size >= self.smallest_refused {
                return Ok(Content::Not(Reason::TooLarge));
            }
            bytes.reserve_exact(size.saturating_sub(bytes.len() as u64) as usize + 1);
        }
        while !at_end {
            // One byte more than there should be, so that the answer tells whether it was all.
            let left = (bytes.capacity() - bytes.len()).max(BLOCK as usize);
            let (more, end) = file.read_at(left as u64, bytes.len() as u64)?;
            at_end = end || more.is_empty();
            bytes.extend_from_slice(&more);
        }
        self.largest_read = self.largest_read.max(bytes.len() as u64);
        Ok(decoded(bytes, encoding))
    }

    fn refused(&mut self, size: u64) -> Result<Content, ErrorCode> {
        // As much was read before, so it is not this file that is too large.
        if size <= self.largest_read {
            return Ok(Content::NoMore);
        }
        self.smallest_refused = self.smallest_refused.min(size);
        Ok(Content::Not(Reason::TooLarge))
    }
}

/// What the caller says, or the mark, or else the text itself.
fn encoding_of(start: &[u8], choice: Choice) -> Encoding {
    match choice.overlooks(start).map(Choice::named) {
        Some(Ok(seems)) => seems.at_start_of(start),
        _ => choice.at_start_of(start),
    }
}

fn is_binary(start: &[u8], encoding: Encoding) -> bool {
    let has_nul = || memchr(0, &start[..start.len().min(SNIFFED)]).is_some();
    encoding.line_feed() == LineFeed::Byte && has_nul()
}

fn decoded(mut bytes: Vec<u8>, encoding: Encoding) -> Content {
    bytes.drain(..encoding.mark as usize);
    let is_text = encoding.is_utf_8() || (encoding.has_ascii() && bytes.is_ascii());
    if is_text {
        return Content::Text(bytes);
    }
    let replace = false;
    match (Decoding { encoding, replace }).decode(bytes, usize::MAX, true) {
        Ok(decoded) => Content::Text(decoded.text.into_bytes()),
        Err(bad) => Content::Binary(bad.bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A file, how much of it the host lets be read, and the calls that were made.
    struct Fake {
        content: Vec<u8>,
        limit: u64,
        calls: RefCell<Vec<u64>>,
    }

    impl Fake {
        fn new(content: impl Into<Vec<u8>>, limit: u64) -> Self {
            Self {
                content: content.into(),
                limit,
                calls: RefCell::default(),
            }
        }
    }

    impl File for Fake {
        fn read_at(&self, length: u64, offset: u64) -> Result<(Vec<u8>, bool), ErrorCode> {
            self.calls.borrow_mut().push(offset);
            let rest = &self.content[offset as usize..];
            let bytes = &rest[..rest.len().min(length as usize)];
            if offset + bytes.len() as u64 > self.limit {
                return Err(ErrorCode::Quota);
            }
            Ok((bytes.to_vec(), (bytes.len() as u64) < length))
        }

        fn size(&self) -> Result<u64, ErrorCode> {
            Ok(self.content.len() as u64)
        }
    }

    fn fresh() -> Reader {
        Reader::of(Choice::Detected)
    }

    fn read(content: impl Into<Vec<u8>>) -> Content {
        fresh().read(&Fake::new(content, u64::MAX)).unwrap()
    }

    #[test]
    fn a_small_file_is_one_call_and_a_larger_one_two() {
        for (size, calls) in [(0, 1), (4096, 1), (65_535, 1), (65_536, 2), (5_000_000, 2)] {
            let file = Fake::new(vec![b'a'; size], u64::MAX);
            let content = fresh().read(&file).unwrap();
            assert_eq!(content, Content::Text(vec![b'a'; size]));
            assert_eq!(file.calls.borrow().len(), calls, "{size}");
        }
    }

    #[test]
    fn encodings_with_a_mark_are_read() {
        let text = |text: &str| Content::Text(text.into());
        assert_eq!(read(b"\xef\xbb\xbfparam"), text("param"));
        assert_eq!(read(b"\xff\xfeh\0\xe4\0"), text("h\u{e4}"));
        assert_eq!(read(b"\xfe\xff\0h\0\xe4"), text("h\u{e4}"));
        for odd in [&b"\xff\xfe\x00\xd8"[..], b"\xff\xfeh\0x"] {
            assert_eq!(read(odd), Content::Binary(odd[2..].to_vec()));
        }
    }

    #[test]
    fn texts_without_a_mark_are_read_as_they_seem_or_as_they_are_said_to_be() {
        let read = |choice: Choice, bytes: &[u8]| {
            let file = Fake::new(bytes, u64::MAX);
            Reader::of(choice).read(&file).unwrap()
        };
        let text = |text: &str| Content::Text(text.into());
        let latin = Choice::assumed("latin1").unwrap();
        assert_eq!(read(Choice::Detected, b"h\0\xe4\0\n\0"), text("h\u{e4}\n"));
        assert_eq!(read(latin, b"h\0\xe4\0\n\0"), text("h\u{e4}\n"));
        assert_eq!(read(latin, b"caf\xe9"), text("caf\u{e9}"));
        assert_eq!(read(latin, b"plain"), text("plain"));
        assert_eq!(read(latin, b"\xef\xbb\xbfcaf\xc3\xa9"), text("caf\u{e9}"));
        let utf_16 = Choice::named("utf-16be").unwrap();
        assert_eq!(read(utf_16, b"\x65\xe5\x67\x2c"), text("\u{65e5}\u{672c}"));
        let shift_jis = Choice::assumed("shift_jis").unwrap();
        assert_eq!(
            read(shift_jis, b"a\xff"),
            Content::Binary(b"a\xff".to_vec())
        );
        assert_eq!(read(latin, b"a\0b"), Content::Binary(b"a\0b".to_vec()));
    }

    #[test]
    fn a_nul_near_the_start_makes_a_file_binary() {
        assert_eq!(read(b"a\0b"), Content::Binary(b"a\0b".to_vec()));
        let late = [vec![b'a'; SNIFFED], vec![0]].concat();
        assert_eq!(read(late.clone()), Content::Text(late));
        let large = Fake::new(vec![0; 1_000_000], u64::MAX);
        fresh().read(&large).unwrap();
        assert_eq!(large.calls.borrow().len(), 1);
    }

    #[test]
    fn what_is_too_large_is_asked_for_once() {
        let mut reader = fresh();
        for limit in [100, 100_000] {
            let asked: usize = (0..5)
                .map(|_| {
                    let file = Fake::new(vec![b'a'; limit * 2], limit as u64);
                    let content = reader.read(&file).unwrap();
                    assert_eq!(content, Content::Not(Reason::TooLarge));
                    let refused = |offset: &&u64| **offset + BLOCK > limit as u64;
                    file.calls.borrow().iter().filter(refused).count()
                })
                .sum();
            assert!(asked <= 1, "{limit}: {asked}");
            let small = Fake::new("a", limit as u64);
            assert_eq!(reader.read(&small), Ok(Content::Text(b"a".to_vec())));
            reader = fresh();
        }
    }

    #[test]
    fn a_refusal_of_what_was_read_before_ends_the_search() {
        let mut reader = fresh();
        reader.read(&Fake::new(vec![b'a'; 1000], 1000)).unwrap();
        let refused = reader.read(&Fake::new(vec![b'a'; 10], 0));
        assert_eq!(refused, Ok(Content::NoMore));
    }
}
