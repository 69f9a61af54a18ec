//! Where a text occurs in another.

use super::endings::{Unix, with_lf};
use memchr::memmem::Finder;
use std::ops::Range;

/// The places where a text occurs, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) ranges: Vec<Range<usize>>,
    /// Whether the text occurs as it was given, to the byte. Otherwise with other line
    /// endings.
    pub(super) exact: bool,
}

/// Which places are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    /// The first so many, those that overlap each other too.
    First(usize),
    /// All that are apart from each other, from the start on.
    Apart,
}

/// Finds `text`, which is not empty: exactly, and if it does not occur so, with its line
/// endings taken for those of the content.
pub(super) fn places(content: &str, text: &str, wanted: Wanted) -> Places {
    let exact = occurrences(content, text, wanted);
    let could_differ = text.contains('\n') && (content.contains("\r\n") || text.contains("\r\n"));
    if !exact.is_empty() || !could_differ {
        return Places {
            ranges: exact
                .into_iter()
                .map(|range| with_cr(content, range))
                .collect(),
            exact: true,
        };
    }
    let unix = Unix::of(content);
    let ranges = occurrences(&unix.text, &with_lf(text), wanted);
    Places {
        ranges: ranges
            .into_iter()
            .map(|range| unix.original(range))
            .collect(),
        exact: false,
    }
}

/// A place that begins with the LF of a CRLF begins with its CR: half a line ending is never
/// meant.
fn with_cr(content: &str, range: Range<usize>) -> Range<usize> {
    let splits = content[range.clone()].starts_with('\n') && content[..range.start].ends_with('\r');
    range.start - usize::from(splits)..range.end
}

fn occurrences(content: &str, text: &str, wanted: Wanted) -> Vec<Range<usize>> {
    let finder = Finder::new(text);
    let (most, step) = match wanted {
        // A place may begin inside another; none begins inside a character.
        Wanted::First(most) => (most, 1),
        Wanted::Apart => (usize::MAX, text.len()),
    };
    let mut from = 0;
    let next = || {
        let start = from + finder.find(&content.as_bytes()[from..])?;
        from = start + step;
        Some(start..start + text.len())
    };
    std::iter::from_fn(next).take(most).collect()
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::single_range_in_vec_init,
        reason = "a text that occurs once has one range"
    )]
    use super::*;

    fn found(content: &str, text: &str) -> (Vec<Range<usize>>, bool) {
        let Places { ranges, exact } = places(content, text, Wanted::First(9));
        (ranges, exact)
    }

    #[test]
    fn what_stands_there_exactly_comes_first() {
        assert_eq!(found("a\nb a\r\nb", "a\nb"), (vec![0..3], true));
        assert_eq!(found("a\r\nb", "a\nb"), (vec![0..4], false));
        assert_eq!(found("a\nb", "a\r\nb"), (vec![0..3], false));
        assert_eq!(found("a\r\nb\nc", "a\nb\nc"), (vec![0..6], false));
    }

    #[test]
    fn a_line_ending_is_found_whole() {
        assert_eq!(found("x\r\ny", "\ny").0, [1..4]);
        assert_eq!(found("x\r\ny\nz\r\n", "\n").0, [1..3, 4..5, 6..8]);
    }

    #[test]
    fn places_that_overlap_are_several() {
        assert_eq!(found("aaa", "aa").0, [0..2, 1..3]);
        let apart = places("aaaaa", "aa", Wanted::Apart).ranges;
        assert_eq!(apart, [0..2, 2..4]);
    }

    #[test]
    fn no_more_than_wanted_are_looked_for() {
        assert_eq!(places("aaaa", "a", Wanted::First(2)).ranges, [0..1, 1..2]);
    }

    #[test]
    fn a_lone_cr_is_no_line_ending() {
        assert_eq!(found("a\rb", "a\nb"), (vec![], true));
    }
}
