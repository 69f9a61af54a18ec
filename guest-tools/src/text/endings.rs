//! Which line endings a text has.

use memchr::{memchr, memchr_iter};

/// How often each kind of line ending occurs in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Endings {
    /// Line feeds, those of CRLF included.
    line_feeds: u64,
    carriage_returns: u64,
    pairs: u64,
    unterminated: bool,
}

impl Endings {
    /// Counts them all.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let line_feeds = memchr_iter(b'\n', bytes).count() as u64;
        let unterminated = !bytes.is_empty() && !bytes.ends_with(b"\n");
        // Most texts have none, and one look finds that out.
        let first = memchr(b'\r', bytes).unwrap_or(bytes.len());
        let (mut carriage_returns, mut pairs) = (0, 0);
        for at in memchr_iter(b'\r', &bytes[first..]) {
            carriage_returns += 1;
            pairs += u64::from(bytes.get(first + at + 1) == Some(&b'\n'));
        }
        Self {
            line_feeds,
            carriage_returns,
            pairs,
            unterminated,
        }
    }

    /// How many lines that are; the last one needs no ending.
    pub(crate) fn lines(self) -> u64 {
        self.line_feeds + u64::from(self.unterminated)
    }

    /// `lf`, `crlf`, `cr`, `mixed`, or `none`.
    pub(crate) fn name(self) -> &'static str {
        let line_feeds = self.line_feeds - self.pairs;
        let carriage_returns = self.carriage_returns - self.pairs;
        match (line_feeds, self.pairs, carriage_returns) {
            (0, 0, 0) => "none",
            (_, 0, 0) => "lf",
            (0, _, 0) => "crlf",
            (0, 0, _) => "cr",
            _ => "mixed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_named_and_lines_counted() {
        for (text, name, lines) in [
            ("", "none", 0),
            ("a", "none", 1),
            ("\n", "lf", 1),
            ("a\nb", "lf", 2),
            ("a\nb\n", "lf", 2),
            ("a\r\nb\r\n", "crlf", 2),
            ("a\rb", "cr", 1),
            ("a\r\nB\nc\rd\r\n", "mixed", 3),
            ("a\nb\r\n", "mixed", 2),
            ("\r\r\n", "mixed", 1),
            ("a\r", "cr", 1),
        ] {
            let endings = Endings::of(text);
            assert_eq!((endings.name(), endings.lines()), (name, lines), "{text:?}");
        }
    }
}
