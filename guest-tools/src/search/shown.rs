//! How hits are shown: bounded, and in characters that are safe to print.

use super::lines::{Hit, Hits, lines_before, lines_behind};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::ops::Range;

/// Characters of a line that are shown; most lines of text and code are shorter.
const LINE: usize = 240;
/// Of those, characters before the match in a longer line.
const LEAD: usize = 80;
/// The most bytes that a character takes.
const CHARACTER_BYTES: usize = 4;
/// Stands where a line was cut.
const CUT: &str = "\u{2026}";

/// A hit as results carry it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Row {
    /// From 1.
    pub(crate) line: u64,
    /// From 1, in characters.
    column: u64,
    text: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    clipped: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

/// Hits, each with up to `context` lines around it. A line that is shown with one hit is not
/// shown again with the next.
pub(crate) fn rows<'a>(
    hits: &'a Hits,
    text: &'a [u8],
    context: usize,
) -> impl Iterator<Item = Row> + 'a {
    hits.kept.iter().enumerate().map(move |(index, hit)| {
        let last = match index {
            0 => hits.before,
            index => Some(hits.kept[index - 1].number),
        };
        let next = hits.kept.get(index + 1).map(|next| next.number);
        row(hit, text, context, last, next)
    })
}

impl Row {
    /// About how many bytes it takes in a result.
    pub(crate) fn bytes(&self) -> usize {
        let around = self.before.iter().chain(&self.after);
        around.map(String::len).sum::<usize>() + self.text.len()
    }
}

fn row(hit: &Hit, text: &[u8], context: usize, last: Option<u64>, next: Option<u64>) -> Row {
    let context = context as u64;
    // Up to where the hit before showed its own.
    let shown = last.map_or(0, |last| (last + context).min(hit.number - 1));
    let room_before = (hit.number - 1 - shown).min(context) as usize;
    let room_after = next.map_or(context, |next| (next - hit.number - 1).min(context)) as usize;
    let plain = |line: Range<usize>| clip(&text[line], 0).0;
    let mut before: Vec<String> = lines_before(text, hit.line.start)
        .take(room_before)
        .map(plain)
        .collect();
    before.reverse();
    let at = hit.matched.start.min(hit.line.end) - hit.line.start;
    let line = &text[hit.line.clone()];
    let (shown_text, clipped) = clip(line, at);
    Row {
        line: hit.number,
        column: characters(&line[..at]) + 1,
        text: shown_text,
        clipped,
        before,
        after: lines_behind(text, hit.line.end)
            .take(room_after)
            .map(plain)
            .collect(),
    }
}

fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| !is_inner(**byte)).count() as u64
}

/// Whether a byte of UTF-8 goes on with a character.
fn is_inner(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// A line of at most [`LINE`] characters around `at`, and whether it was cut.
fn clip(line: &[u8], at: usize) -> (String, bool) {
    if line.len() <= LINE {
        return (printable(line), false);
    }
    let start = match characters(&line[..at.min(LINE * CHARACTER_BYTES)]) as usize {
        count if count <= LEAD => 0,
        _ => back(line, at, LEAD),
    };
    let end = forward(line, start, LINE);
    let mut text = String::new();
    if start > 0 {
        text.push_str(CUT);
    }
    text.push_str(&printable(&line[start..end]));
    if end < line.len() {
        text.push_str(CUT);
    }
    (text, start > 0 || end < line.len())
}

/// The index `count` characters before `at`.
fn back(line: &[u8], at: usize, count: usize) -> usize {
    let starts = (0..at).rev().filter(|index| !is_inner(line[*index]));
    starts.take(count).last().unwrap_or(at)
}

/// The index `count` characters behind `start`.
fn forward(line: &[u8], start: usize, count: usize) -> usize {
    let mut starts = (start..line.len()).filter(|index| !is_inner(line[*index]));
    starts.nth(count).unwrap_or(line.len())
}

/// Text with what is no printable character in the notation of its bytes: `\x1b`, `\xff`.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\t' => text.push('\t'),
                '\0'..='\u{1f}' | '\u{7f}' => escape(&mut text, character as u8),
                '\u{80}'..='\u{9f}' => {
                    let mut buffer = [0; CHARACTER_BYTES];
                    let bytes = character.encode_utf8(&mut buffer).as_bytes();
                    bytes.iter().for_each(|byte| escape(&mut text, *byte));
                }
                other => text.push(other),
            }
        }
        chunk
            .invalid()
            .iter()
            .for_each(|byte| escape(&mut text, *byte));
    }
    text
}

fn escape(text: &mut String, byte: u8) {
    write!(text, "\\x{byte:02x}").expect("a `String` takes all text");
}

#[cfg(test)]
mod tests {
    use super::super::{Query, Wanted, Window, hits};
    use super::*;

    fn shown(query: &str, text: &[u8], context: usize, behind: u64) -> Vec<Row> {
        let wanted = Wanted {
            text: query,
            ..Wanted::default()
        };
        let window = Window {
            behind,
            most: 100,
            per_file: 100,
        };
        let hits = hits(&Query::new(wanted).unwrap(), text, window);
        rows(&hits, text, context).collect()
    }

    #[test]
    fn columns_count_characters_from_one() {
        let rows = shown("x", "\u{e4}\u{1f642}x\nx".as_bytes(), 0, 0);
        assert_eq!((rows[0].line, rows[0].column), (1, 3));
        assert_eq!((rows[1].line, rows[1].column), (2, 1));
    }

    #[test]
    fn no_line_is_shown_twice() {
        let text = b"1\n2 x\n3\n4\n5 x\n6 x\n7\n";
        let rows = shown("x", text, 2, 0);
        let around: Vec<_> = rows
            .iter()
            .map(|row| (row.before.join(","), row.after.join(",")))
            .collect();
        let expected = [("1", "3,4"), ("", ""), ("", "7")];
        let expected = expected.map(|(before, after)| (before.to_owned(), after.to_owned()));
        assert_eq!(around, expected);
    }

    #[test]
    fn rows_behind_a_line_are_those_of_the_whole() {
        let text = b"x\nx\n\nx\n\n\n\nx\n";
        let whole = shown("x", text, 2, 0);
        for behind in 0..9 {
            let rest: Vec<_> = whole.iter().filter(|row| row.line > behind).collect();
            let rows = shown("x", text, 2, behind);
            assert_eq!(format!("{rest:?}"), format!("{rows:?}"));
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        for (before, after) in [
            (0, 4_000_000),
            (79, 1000),
            (2_000_000, 2_000_000),
            (5000, 3),
        ] {
            let line = format!(
                "{}NEEDLE{}",
                "\u{e4}".repeat(before),
                "\u{1f642}".repeat(after)
            );
            let row = &shown("NEEDLE", line.as_bytes(), 0, 0)[0];
            assert!(row.clipped);
            assert!(row.text.contains("NEEDLE"), "{}", row.text);
            assert!(row.text.chars().count() <= LINE + 2);
            assert!(!row.text.contains('\\'), "{}", row.text);
            assert_eq!(row.column, before as u64 + 1);
        }
        let row = &shown("a", "a".repeat(LINE).as_bytes(), 0, 0)[0];
        assert!(!row.clipped);
    }

    #[test]
    fn what_cannot_be_printed_is_shown_as_bytes() {
        let rows = shown("TOKEN", b"\x1b[2J\tTOKEN\x00\xff\xc2\x85\x7f", 0, 0);
        assert_eq!(rows[0].text, "\\x1b[2J\tTOKEN\\x00\\xff\\xc2\\x85\\x7f");
    }
}
