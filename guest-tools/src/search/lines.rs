//! From matches to lines: a line with matches is one hit, at its first match.

use super::Query;
use memchr::{memchr, memchr_iter, memrchr};
use std::ops::Range;

/// After so many matches that no line has alone, each line is tried by itself: a regex that
/// runs over many lines would be tried on all of them for each.
const PATIENCE: u32 = 16;

/// A line that has a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// From 1.
    pub(super) number: u64,
    /// Without its line end.
    pub(super) line: Range<usize>,
    /// The first match in it; its end may lie behind the line.
    pub(super) matched: Range<usize>,
}

/// Which hits of a text are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Those in lines behind this one.
    pub(crate) behind: u64,
    /// At most so many; when there are as many, nothing further is looked for.
    pub(crate) most: usize,
    /// Those among the first so many of the whole text; the others are counted.
    pub(crate) per_file: u64,
}

/// The hits in one text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    pub(super) kept: Vec<Hit>,
    /// The line of the hit before the first of them.
    pub(super) before: Option<u64>,
    /// How many there are beyond the first `per_file`.
    pub(crate) more: u64,
}

impl Hits {
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.more == 0
    }
}

/// Finds the hits in a window.
pub(crate) fn hits(query: &Query, text: &[u8], window: Window) -> Hits {
    let mut found = Hits::default();
    let mut search = Search {
        query,
        text,
        at: 0,
        failures: 0,
    };
    let (mut number, mut counted, mut total) = (1, 0, 0);
    while found.kept.len() < window.most
        && let Some((line, matched)) = search.next()
    {
        total += 1;
        if total > window.per_file {
            found.more += 1;
            continue;
        }
        number += memchr_iter(b'\n', &text[counted..line.start]).count() as u64;
        counted = line.start;
        if number <= window.behind {
            found.before = Some(number);
            continue;
        }
        found.kept.push(Hit {
            number,
            line,
            matched,
        });
    }
    found
}

struct Search<'a> {
    query: &'a Query,
    text: &'a [u8],
    /// The start of the line to go on with.
    at: usize,
    failures: u32,
}

impl Search<'_> {
    fn next(&mut self) -> Option<(Range<usize>, Range<usize>)> {
        while self.at < self.text.len() {
            if self.failures > PATIENCE {
                let line = line_at(self.text, self.at);
                self.at = next_line(self.text, line.end);
                if let Some(matched) = self.find_in(&line) {
                    return Some((line, matched));
                }
                continue;
            }
            let matched = self.query.find(self.text, self.at)?;
            let line = line_at(self.text, matched.start);
            if line.start >= self.text.len() {
                return None;
            }
            self.at = next_line(self.text, line.end.max(matched.end.saturating_sub(1)));
            if !self.query.is_by_line() || matched.end <= line.end {
                return Some((line, matched));
            }
            self.at = next_line(self.text, line.end);
            match self.find_in(&line) {
                Some(matched) => return Some((line, matched)),
                None => self.failures += 1,
            }
        }
        None
    }

    fn find_in(&self, line: &Range<usize>) -> Option<Range<usize>> {
        let found = self.query.find(&self.text[line.clone()], 0)?;
        Some(line.start + found.start..line.start + found.end)
    }
}

/// The line that `at` lies in, without its line end.
pub(super) fn line_at(text: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &text[..at]).map_or(0, |before| before + 1);
    let end = memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
    start..without_return(text, start, end)
}

/// Where the line behind the one that ends at `end` starts.
fn next_line(text: &[u8], end: usize) -> usize {
    memchr(b'\n', &text[end..]).map_or(text.len(), |length| end + length + 1)
}

/// The lines before `start`, last first, and those behind `end`.
pub(super) fn lines_before(text: &[u8], start: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = start;
    std::iter::from_fn(move || {
        let end = start.checked_sub(1)?;
        start = memrchr(b'\n', &text[..end]).map_or(0, |before| before + 1);
        Some(start..without_return(text, start, end))
    })
}

/// The lines behind the one that ends at `end`.
pub(super) fn lines_behind(text: &[u8], end: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = next_line(text, end);
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = start + memchr(b'\n', rest).unwrap_or(rest.len());
        let line = start..without_return(text, start, end);
        start = end + 1;
        Some(line)
    })
}

fn without_return(text: &[u8], start: usize, end: usize) -> usize {
    match text[start..end].last() {
        Some(b'\r') => end - 1,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Wanted;
    use super::*;

    const ALL: Window = Window {
        behind: 0,
        most: usize::MAX,
        per_file: u64::MAX,
    };

    fn query(text: &str, regex: bool) -> Query {
        Query::new(Wanted {
            text,
            regex,
            ..Wanted::default()
        })
        .unwrap()
    }

    /// Line numbers and the first match of each.
    fn found(query: &Query, text: &str) -> Vec<(u64, String)> {
        let hits = hits(query, text.as_bytes(), ALL);
        let shown = |hit: &Hit| (hit.number, text[hit.matched.clone()].to_owned());
        hits.kept.iter().map(shown).collect()
    }

    fn numbers(text: &str, regex: bool, content: &str) -> Vec<u64> {
        let found = found(&query(text, regex), content);
        found.into_iter().map(|(number, _)| number).collect()
    }

    #[test]
    fn a_line_with_two_matches_is_one_hit() {
        assert_eq!(numbers("a", false, "a a\nb\r\n\na"), [1, 4]);
    }

    #[test]
    fn anchors_are_those_of_lines() {
        assert_eq!(numbers("^b$", true, "ab\nb\r\nb\nba"), [2, 3]);
        assert_eq!(numbers("^$", true, "a\n\nb\n"), [2]);
    }

    #[test]
    fn a_match_of_a_regex_does_not_run_over_the_end_of_its_line() {
        let text = "x = [\n1,\n]\ny = [2]\n";
        assert_eq!(
            found(&query(r"\[[^]]*\]", true), text),
            [(4, "[2]".to_owned())]
        );
        assert_eq!(
            found(&query(r"a\s+", true), "a\n\na b\n"),
            [(3, "a ".to_owned())]
        );
    }

    #[test]
    fn a_query_that_names_line_ends_runs_over_them() {
        assert_eq!(numbers("a\nb", false, "a\nb\na\r\nb\n"), [1, 3]);
        assert_eq!(numbers(r"a\nb", true, "a\nc\na\nb\n"), [3]);
    }

    /// The whole-text search is a short cut for trying each line, and answers the same.
    #[test]
    fn lines_are_found_as_if_each_was_tried_alone() {
        let words = ["a", "b", "", "ab", "a b", "[", "]", "x[y]", "\r", "ba "];
        let mut text = String::new();
        let mut seed: u32 = 7;
        for _ in 0..3000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(words[(seed >> 16) as usize % words.len()]);
            text.push_str(if seed & 0x100 == 0 { "\n" } else { "\r\n" });
        }
        for pattern in [
            r"\[[^\]]*\]",
            "(?s)a.*b",
            r"a\s",
            r"^\s*$",
            "b$",
            r"[^a]+a",
            "x*",
        ] {
            let query = query(pattern, true);
            let alone = text.split_inclusive('\n').enumerate().filter(|(_, line)| {
                let line = line.strip_suffix('\n').unwrap_or(line);
                let line = line.strip_suffix('\r').unwrap_or(line);
                query.find(line.as_bytes(), 0).is_some()
            });
            let alone: Vec<u64> = alone.map(|(index, _)| index as u64 + 1).collect();
            let all = hits(&query, text.as_bytes(), ALL);
            let all: Vec<u64> = all.kept.iter().map(|hit| hit.number).collect();
            assert_eq!(all, alone, "{pattern}");
        }
    }

    #[test]
    fn only_a_window_is_kept() {
        for (behind, most, per_file, numbers, before, more) in [
            (0, 9, 9, &[1, 2, 3, 4][..], None, 0),
            (0, 9, 3, &[1, 2, 3], None, 1),
            (0, 2, 3, &[1, 2], None, 0),
            (2, 9, 3, &[3], Some(2), 1),
            (2, 1, 9, &[3], Some(2), 0),
            (4, 9, 9, &[], Some(4), 0),
        ] {
            let window = Window {
                behind,
                most,
                per_file,
            };
            let hits = hits(&query("a", false), b"a\na\na\na\n", window);
            let kept: Vec<u64> = hits.kept.iter().map(|hit| hit.number).collect();
            assert_eq!((&*kept, hits.before, hits.more), (numbers, before, more));
        }
    }

    #[test]
    fn neighbours_are_whole_lines() {
        let text = b"one\ntwo\r\nthree\nfour";
        let line = line_at(text, 5);
        let show = |line: Range<usize>| String::from_utf8_lossy(&text[line]).into_owned();
        assert_eq!(show(line.clone()), "two");
        assert_eq!(
            lines_before(text, line.start).map(show).collect::<Vec<_>>(),
            ["one"]
        );
        assert_eq!(
            lines_behind(text, line.end).map(show).collect::<Vec<_>>(),
            ["three", "four"]
        );
        assert_eq!(lines_before(text, 0).count(), 0);
        assert_eq!(lines_behind(text, text.len()).count(), 0);
    }
}
