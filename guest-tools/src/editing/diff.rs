//! A unified diff of what changed, for the answer: as long as fits, made from the changes
//! and not by comparing whole files.

use super::{Change, Changes};
use memchr::{memchr, memchr_iter, memrchr};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// Unchanged lines shown before and after a change, as `diff -u` has it.
const CONTEXT: usize = 3;
/// Bytes of a diff: enough to check an edit by, little enough for a model's context.
const MOST_BYTES: usize = 8 * 1024;
/// Bytes of one line that are shown.
const MOST_LINE_BYTES: usize = 400;
/// Lines of a change that are compared with each other; more are shown as all old, all new.
const MOST_COMPARED: usize = 2000;

/// What changed, in words of `diff -u`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Diff {
    pub(crate) text: String,
    /// Whether there is more than fits.
    pub(crate) truncated: bool,
}

/// Makes the diff of two texts that differ by `changes`.
pub(crate) fn unified(path: &str, old: &str, new: &str, changes: &Changes) -> Diff {
    let mut writer = Writer::new(path);
    let mut counted = Counted::default();
    let blocks = blocks(old, new, changes);
    let mut rest = blocks.as_slice();
    while !rest.is_empty() && !writer.truncated {
        let together = hunk_length(old, rest);
        let (hunk, others) = rest.split_at(together);
        rest = others;
        writer.hunk(old, new, hunk, &mut counted);
    }
    Diff {
        text: writer.text,
        truncated: writer.truncated,
    }
}

/// Changes widened to whole lines; those that share a line are one.
fn blocks(old: &str, new: &str, changes: &Changes) -> Vec<Change> {
    let mut blocks: Vec<Change> = Vec::new();
    for change in changes.iter() {
        let back = change.old.start - line_start(old, change.old.start);
        let (old_start, new_start) = (change.old.start - back, change.new.start - back);
        let ends_lines = at_line_start(old, change.old.end) && at_line_start(new, change.new.end);
        let forth = if ends_lines {
            0
        } else {
            line_end(old, change.old.end) - change.old.end
        };
        let (old_end, new_end) = (change.old.end + forth, change.new.end + forth);
        match blocks.last_mut().filter(|last| last.old.end > old_start) {
            Some(last) => {
                last.old.end = old_end.max(last.old.end);
                last.new.end = new_end.max(last.new.end);
            }
            None => blocks.push(Change {
                old: old_start..old_end,
                new: new_start..new_end,
            }),
        }
    }
    blocks
}

/// How many blocks from the first on are so near each other that they share a hunk.
fn hunk_length(old: &str, blocks: &[Change]) -> usize {
    let is_near = |pair: &[Change]| {
        let between = &old[pair[0].old.end..pair[1].old.start];
        memchr_iter(b'\n', between.as_bytes())
            .take(2 * CONTEXT + 1)
            .count()
            <= 2 * CONTEXT
    };
    1 + blocks.windows(2).take_while(|pair| is_near(pair)).count()
}

/// How far the lines of a text have been counted.
#[derive(Default)]
struct Counted {
    offset: usize,
    lines: usize,
    /// Lines that the new text has more, up to the hunk.
    added: isize,
}

impl Counted {
    /// The number of the line that begins at `offset`, from 0.
    fn line_at(&mut self, text: &str, offset: usize) -> usize {
        self.lines += count_lines(&text[self.offset..offset]);
        self.offset = offset;
        self.lines
    }
}

struct Writer {
    text: String,
    truncated: bool,
}

impl Writer {
    fn new(path: &str) -> Self {
        Self {
            text: format!("--- {path}\n+++ {path}\n"),
            truncated: false,
        }
    }

    fn hunk(&mut self, old: &str, new: &str, blocks: &[Change], counted: &mut Counted) {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
            return;
        };
        let start = lines_before(old, first.old.start, CONTEXT);
        let end = lines_after(old, last.old.end, CONTEXT);
        let context =
            count_lines(&old[start..first.old.start]) + count_lines(&old[last.old.end..end]);
        let between = blocks
            .windows(2)
            .map(|pair| &old[pair[0].old.end..pair[1].old.start]);
        let common = context + between.map(count_lines).sum::<usize>();
        let count = |text: &str, part: fn(&Change) -> Range<usize>| -> usize {
            common
                + blocks
                    .iter()
                    .map(|b| count_lines(&text[part(b)]))
                    .sum::<usize>()
        };
        let old_count = count(old, |block| block.old.clone());
        let new_count = count(new, |block| block.new.clone());
        let line = counted.line_at(old, start);
        let new_line = line.saturating_add_signed(counted.added);
        counted.added += new_count as isize - old_count as isize;
        let (old_range, new_range) = (
            shown_range(line, old_count),
            shown_range(new_line, new_count),
        );
        self.push(&format!("@@ -{old_range} +{new_range} @@\n"));
        self.body(old, new, blocks, start..end);
    }

    fn body(&mut self, old: &str, new: &str, blocks: &[Change], within: Range<usize>) {
        let mut at = within.start;
        for block in blocks {
            self.lines(' ', lines(&old[at..block.old.start]));
            self.compared(
                lines(&old[block.old.clone()]),
                lines(&new[block.new.clone()]),
            );
            at = block.old.end;
        }
        self.lines(' ', lines(&old[at..within.end]));
    }

    fn compared(&mut self, old: Vec<&str>, new: Vec<&str>) {
        if old.len() + new.len() > MOST_COMPARED {
            self.lines('-', old);
            self.lines('+', new);
            return;
        }
        for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (was, is) = (operation.old_range(), operation.new_range());
            if let DiffOp::Equal { .. } = operation {
                self.lines(' ', old[was].iter().copied());
            } else {
                self.lines('-', old[was].iter().copied());
                self.lines('+', new[is].iter().copied());
            }
        }
    }

    fn lines<'a>(&mut self, sign: char, lines: impl IntoIterator<Item = &'a str>) {
        for line in lines {
            if self.truncated {
                return;
            }
            let (content, end) = match line.strip_suffix('\n') {
                Some(content) => (content, "\n"),
                None => (line, "\n\\ No newline at end of file\n"),
            };
            self.push(&format!("{sign}{}{end}", clipped(content)));
        }
    }

    fn push(&mut self, text: &str) {
        self.truncated |= self.text.len() + text.len() > MOST_BYTES;
        if !self.truncated {
            self.text.push_str(text);
        }
    }
}

/// `start,count` as `diff -u` writes it: lines count from 1, an empty range names the line
/// before it.
fn shown_range(line: usize, count: usize) -> String {
    match count {
        0 => format!("{line},0"),
        1 => format!("{}", line + 1),
        _ => format!("{},{count}", line + 1),
    }
}

/// A line that is not too long to be shown.
pub(super) fn clipped(line: &str) -> String {
    if line.len() <= MOST_LINE_BYTES {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(MOST_LINE_BYTES);
    format!("{}…", &line[..end])
}

pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Lines in a text that begins with one; the last may lack its ending.
fn count_lines(text: &str) -> usize {
    let unfinished = !at_line_start(text, text.len());
    memchr_iter(b'\n', text.as_bytes()).count() + usize::from(unfinished)
}

fn at_line_start(text: &str, offset: usize) -> bool {
    offset == 0 || text.as_bytes()[offset - 1] == b'\n'
}

fn line_start(text: &str, offset: usize) -> usize {
    memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |lf| lf + 1)
}

fn line_end(text: &str, offset: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[offset..]).map_or(text.len(), |lf| offset + lf + 1)
}

fn lines_before(text: &str, offset: usize, count: usize) -> usize {
    (0..count).fold(offset, |at, _| line_start(text, at.saturating_sub(1)))
}

fn lines_after(text: &str, offset: usize, count: usize) -> usize {
    (0..count).fold(offset, |at, _| line_end(text, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, replacements: &[(Range<usize>, &str)]) -> String {
        let mut new = old.to_owned();
        for (range, text) in replacements.iter().rev() {
            new.replace_range(range.clone(), text);
        }
        let mut changes = Changes::default();
        let lengths = replacements
            .iter()
            .map(|(range, text)| (range.clone(), text.len()));
        changes.replaced(&lengths.collect::<Vec<_>>());
        unified("f", old, &new, &changes).text
    }

    #[test]
    fn a_changed_line_is_shown_with_three_around_it() {
        let text: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        let at = text.find('5').unwrap();
        assert_eq!(
            diff(&text, &[(at..at + 1, "five")]),
            "--- f\n+++ f\n@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n \
             line 6\n line 7\n line 8\n"
        );
    }

    #[test]
    fn inserted_and_removed_lines_are_shown_as_such() {
        assert_eq!(
            diff("a\nb\n", &[(2..2, "x\n")]),
            "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n+x\n b\n"
        );
        assert_eq!(
            diff("a\nb\n", &[(0..2, "")]),
            "--- f\n+++ f\n@@ -1,2 +1 @@\n-a\n b\n"
        );
        assert_eq!(
            diff("", &[(0..0, "x\n")]),
            "--- f\n+++ f\n@@ -0,0 +1 @@\n+x\n"
        );
    }

    #[test]
    fn a_missing_newline_at_the_end_is_said() {
        let said = "\\ No newline at end of file\n";
        assert_eq!(
            diff("a\nb", &[(2..3, "c")]),
            format!("--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n{said}+c\n{said}")
        );
    }

    #[test]
    fn only_lines_that_differ_are_shown_as_changed() {
        let shown = diff("a\nb\nc\n", &[(0..6, "a\nB\nc\n")]);
        assert_eq!(shown, "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    }

    #[test]
    fn far_changes_have_hunks_of_their_own_with_their_own_numbers() {
        let text: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let (first, last) = (text.find("2\n").unwrap(), text.find("19\n").unwrap());
        let shown = diff(&text, &[(first..first, "new\n"), (last..last + 3, "")]);
        assert!(shown.contains("@@ -1,4 +1,5 @@\n 1\n+new\n 2\n"), "{shown}");
        assert!(
            shown.contains("@@ -16,5 +17,4 @@\n 16\n 17\n 18\n-19\n 20\n"),
            "{shown}"
        );
    }

    #[test]
    fn changes_on_one_line_are_one() {
        let shown = diff("a b c\n", &[(0..1, "A"), (4..5, "C")]);
        assert_eq!(shown, "--- f\n+++ f\n@@ -1 +1 @@\n-a b c\n+A b C\n");
    }

    #[test]
    fn a_long_diff_ends_with_a_whole_line_and_says_so() {
        let mut changes = Changes::default();
        let (old, new) = ("a\n".repeat(5000), "b\n".repeat(5000));
        changes.replaced(&[(0..old.len(), new.len())]);
        let diff = unified("f", &old, &new, &changes);
        assert!(diff.truncated && diff.text.len() <= MOST_BYTES && diff.text.ends_with('\n'));
    }
}
