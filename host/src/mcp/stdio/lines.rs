//! Splitting a stream of bytes into lines, with an end to how long one may be.

use std::io::BufRead;

/// Most bytes of one line. The largest content that a call may write by default, in the
/// longest JSON spelling that programs produce, fits.
pub(super) const MAX_LINE: usize = 16 << 20;
/// What is kept of a line that is too long: enough to find its id at either end.
const KEPT: usize = 1 << 10;

/// One line of input, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A whole line.
    Whole(Vec<u8>),
    /// The first and the last bytes of a line that was too long.
    TooLong { first: Vec<u8>, last: Vec<u8> },
}

/// Bytes that have come and are not yet a line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// What was read last, and how much of it has been looked at.
    chunk: Vec<u8>,
    taken: usize,
    /// The beginning of a line whose end was not in its chunk.
    partial: Vec<u8>,
    /// The last bytes of a line whose beginning is all that is kept in `partial`.
    last: Option<Vec<u8>>,
}

impl Lines {
    /// Where the next bytes go. What was in it is gone: a reader that is given up before it
    /// has read must not leave lines that were taken.
    pub(super) fn chunk(&mut self) -> &mut Vec<u8> {
        self.chunk.clear();
        self.taken = 0;
        &mut self.chunk
    }

    /// The next line, if it has come whole.
    pub(super) fn next(&mut self) -> Option<Line> {
        let rest = &self.chunk[self.taken..];
        // Counting in memory cannot fail.
        let length = { rest }.skip_until(b'\n').unwrap_or(0);
        let piece = &rest[..length];
        self.taken += length;
        let Some(end) = piece.strip_suffix(b"\n") else {
            let piece = piece.to_vec();
            self.keep(&piece);
            return None;
        };
        if self.partial.is_empty() && self.last.is_none() {
            return Some(Line::Whole(end.to_vec()));
        }
        let end = end.to_vec();
        self.keep(&end);
        let first = std::mem::take(&mut self.partial);
        Some(match self.last.take() {
            None => Line::Whole(first),
            Some(last) => Line::TooLong { first, last },
        })
    }

    /// What the input ended with after its last whole line.
    pub(super) fn rest(&mut self) -> Option<Line> {
        let first = std::mem::take(&mut self.partial);
        match self.last.take() {
            Some(last) => Some(Line::TooLong { first, last }),
            None => (!first.is_empty()).then_some(Line::Whole(first)),
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if self.last.is_none() && self.partial.len() + piece.len() > MAX_LINE {
            let tail = self.partial.len().saturating_sub(KEPT);
            self.last = Some(self.partial.split_off(tail.max(KEPT)));
            self.partial.truncate(KEPT);
            self.partial.shrink_to_fit();
        }
        match &mut self.last {
            None => self.partial.extend_from_slice(piece),
            Some(last) => {
                last.extend_from_slice(piece);
                last.drain(..last.len().saturating_sub(KEPT));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(pieces: &[&[u8]]) -> Vec<Line> {
        let mut lines = Lines::default();
        let mut all = Vec::new();
        for piece in pieces {
            *lines.chunk() = piece.to_vec();
            while let Some(line) = lines.next() {
                all.push(line);
            }
        }
        all
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let whole = |text: &str| Line::Whole(text.into());
        let expected = [whole("ab"), whole(""), whole("c")];
        assert_eq!(fed(&[b"ab\n\nc\nhalf"]), expected);
        assert_eq!(fed(&[b"a", b"b", b"\n", b"\nc", b"\nhalf"]), expected);
    }

    #[test]
    fn what_follows_the_last_line_is_there_at_the_end_once() {
        let mut lines = Lines::default();
        *lines.chunk() = b"a\nhalf".to_vec();
        assert_eq!(lines.next(), Some(Line::Whole(b"a".to_vec())));
        assert_eq!(lines.next(), None);
        assert_eq!(lines.rest(), Some(Line::Whole(b"half".to_vec())));
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn a_line_is_taken_once_also_when_nothing_follows() {
        let mut lines = Lines::default();
        *lines.chunk() = b"once\n".to_vec();
        assert_eq!(lines.next(), Some(Line::Whole(b"once".to_vec())));
        lines.chunk();
        assert_eq!(lines.next(), None);
    }

    #[test]
    fn of_a_line_that_is_too_long_both_ends_are_kept_and_the_next_is_whole() {
        let piece = vec![b'x'; 1 << 20];
        let mut pieces: Vec<&[u8]> = vec![b"begin"];
        pieces.extend((0..40).map(|_| piece.as_slice()));
        pieces.push(b"end\nnext\n");
        let lines = fed(&pieces);
        let Line::TooLong { first, last } = &lines[0] else {
            panic!("it was kept whole")
        };
        assert!(first.starts_with(b"begin") && last.ends_with(b"end"));
        assert!(first.len() <= KEPT && last.len() <= KEPT);
        assert_eq!(lines[1], Line::Whole(b"next".to_vec()));
    }
}
