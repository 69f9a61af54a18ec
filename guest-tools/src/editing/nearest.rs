//! What stands in a file that is nearest to a text which does not.

use super::diff::{clipped, lines};
use similar::{Algorithm, ChangeTag, capture_diff_slices};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Lines of the wanted text that are looked for, and shown.
const MOST_LINES: usize = 12;
/// How much of a line's three-letter pieces must be those of the wanted line, of 100.
const ALIKE: usize = 50;

/// The place that is nearest to a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Nearest {
    /// From 1.
    pub(super) line: usize,
    /// What differs: `-` as wanted, `+` as it stands there, with spaces visible.
    pub(super) diff: String,
}

/// Looks once through the content: for lines that are the same but for white space, and if
/// there are none, for the line that is most like the longest wanted one.
pub(super) fn nearest(content: &str, wanted: &str) -> Option<Nearest> {
    let wanted: Vec<&str> = lines(wanted).into_iter().take(MOST_LINES).collect();
    let start = by_same_lines(content, &wanted).or_else(|| by_alike_line(content, &wanted))?;
    let there: Vec<&str> = content
        .split_inclusive('\n')
        .skip(start)
        .take(wanted.len())
        .collect();
    Some(Nearest {
        line: start + 1,
        diff: visible_diff(&wanted, &there),
    })
}

/// Every line that is like a wanted one votes for where the first line would be.
fn by_same_lines(content: &str, wanted: &[&str]) -> Option<usize> {
    let mut numbers: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, line) in wanted.iter().enumerate() {
        let line = without_space(line);
        if !line.is_empty() {
            numbers.entry(line).or_default().push(number);
        }
    }
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, line) in content.split_inclusive('\n').enumerate() {
        for number in numbers.get(&without_space(line)).into_iter().flatten() {
            if let Some(start) = at.checked_sub(*number) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    // Of equals the first.
    let best = votes.iter().rev().max_by_key(|(_, count)| **count);
    best.map(|(start, _)| *start)
}

fn by_alike_line(content: &str, wanted: &[&str]) -> Option<usize> {
    let (number, longest) = wanted
        .iter()
        .enumerate()
        .max_by_key(|(_, line)| line.trim().len())?;
    let pieces = Pieces::of(longest.trim());
    let (at, likeness) = content
        .split_inclusive('\n')
        .map(|line| pieces.likeness(line.trim()))
        .enumerate()
        .max_by_key(|(at, likeness)| (*likeness, Reverse(*at)))?;
    (likeness >= ALIKE).then(|| at.saturating_sub(number))
}

/// The three-letter pieces of a line, as a set that may hold some more than it should.
struct Pieces {
    bits: [u64; 64],
    count: usize,
}

impl Pieces {
    fn of(line: &str) -> Self {
        let mut pieces = Self {
            bits: [0; 64],
            count: 0,
        };
        for window in line.as_bytes().windows(3) {
            let (word, bit) = place(window);
            pieces.bits[word] |= bit;
            pieces.count += 1;
        }
        pieces
    }

    /// From 0 to 100.
    fn likeness(&self, line: &str) -> usize {
        let windows = line.as_bytes().windows(3);
        let total = self.count.max(windows.len());
        if total == 0 {
            return 0;
        }
        let is_shared = |window: &&[u8]| {
            let (word, bit) = place(window);
            self.bits[word] & bit != 0
        };
        windows.filter(is_shared).count().min(self.count) * 100 / total
    }
}

fn place(window: &[u8]) -> (usize, u64) {
    let hash = window.iter().fold(0_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    ((hash >> 6 & 63) as usize, 1 << (hash & 63))
}

fn without_space(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

fn visible_diff(wanted: &[&str], there: &[&str]) -> String {
    let mut text = String::new();
    for change in capture_diff_slices(Algorithm::Myers, wanted, there)
        .iter()
        .flat_map(|operation| operation.iter_changes(wanted, there))
    {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = change.value();
        let content = line.strip_suffix('\n').unwrap_or(line);
        text.push(sign);
        match change.tag() {
            ChangeTag::Equal => text.push_str(&clipped(content)),
            _ => text.push_str(&visible(&clipped(content))),
        }
        text.push('\n');
    }
    text
}

/// White space as marks: what differs in it alone cannot be seen otherwise.
fn visible(line: &str) -> String {
    let mark = |c| match c {
        ' ' => '·',
        '\t' => '→',
        '\r' => '␍',
        '\u{a0}' => '⍽',
        '\u{feff}' => '◊',
        c => c,
    };
    line.chars().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_white_space_is_found_and_made_visible() {
        let content = "fn a() {\n}\n\nfn b() {\n\treturn 1;\n}\n";
        let nearest = nearest(content, "fn b() {\n    return 1;\n}").unwrap();
        assert_eq!(nearest.line, 4);
        let expected = " fn b() {\n-····return·1;\n-}\n+→return·1;\n+}\n";
        assert_eq!(nearest.diff, expected);
    }

    #[test]
    fn a_slip_is_found_by_the_likest_line() {
        let content = "alpha = 1\nthe_quick_brown_fox = jump\nomega = 2\n";
        let nearest = nearest(content, "the_quick_brawn_fox = jump").unwrap();
        assert_eq!(nearest.line, 2);
    }

    #[test]
    fn most_lines_in_common_win_and_of_equals_the_first() {
        let content = "}\nx\n}\na\nb\n}\n";
        assert_eq!(nearest(content, "a\nB\n}").unwrap().line, 4);
        assert_eq!(nearest("}\n}\n", "} ").unwrap().line, 1);
    }

    #[test]
    fn what_is_like_nothing_has_no_nearest_place() {
        assert_eq!(nearest("alpha\nbeta\n", "zzzzzzzz"), None);
        assert_eq!(nearest("", "a"), None);
    }
}
