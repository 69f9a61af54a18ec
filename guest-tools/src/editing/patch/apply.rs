//! Hunks upon a text: strictly, with no line that does not fit.

use super::parse::{FilePatch, Hunk, Kind, Line};
use crate::editing::Changes;
use crate::editing::encoding::{MARK, behind_mark};
use crate::editing::endings::as_there;
use crate::editing::nearest::nearest;
use crate::tool::Failure;
use serde_json::json;
use std::ops::Range;

/// Places of an ambiguous hunk that are named.
const MOST_PLACES: usize = 20;

/// A text after its hunks.
#[derive(Debug)]
pub(crate) struct Patched {
    pub(crate) text: String,
    pub(crate) changes: Changes,
    /// For each hunk, how many lines below its number it was applied.
    pub(crate) offsets: Vec<isize>,
}

/// How strictly line endings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endings {
    /// To the byte.
    Exact,
    /// A line with LF fits one with CRLF, and one that the file ends with.
    Any,
}

/// Where a hunk fits.
#[derive(Clone, Copy)]
struct Place {
    line: usize,
    endings: Endings,
}

/// Applies the hunks to a text: each at its line, or at the one other place where its old
/// lines stand.
///
/// # Errors
/// `no-match` and `ambiguous-match`, with the hunk.
pub(crate) fn apply(path: &str, text: &str, hunks: &[Hunk<'_>]) -> Result<Patched, Failure> {
    let file = File::new(path, text, names_mark(hunks));
    let mut replacements: Vec<(Range<usize>, String)> = Vec::new();
    let mut offsets = Vec::new();
    let (mut free_from, mut drift) = (0, 0);
    for (number, hunk) in hunks.iter().enumerate() {
        let old: Vec<Line<'_>> = hunk.lines.iter().copied().filter(Line::is_old).collect();
        let place = file.place(number, hunk, &old, free_from, drift)?;
        drift = place.line as isize - first_line(hunk, &old) as isize;
        offsets.push(drift);
        free_from = place.line + old.len();
        file.replace(hunk, place, &mut replacements);
    }
    let mut changes = Changes::default();
    let lengths: Vec<_> = replacements
        .iter()
        .map(|(at, new)| (at.clone(), new.len()))
        .collect();
    changes.replaced(&lengths);
    Ok(Patched {
        text: spliced(text, &replacements),
        changes,
        offsets,
    })
}

/// What a patch puts into a file that it creates.
///
/// # Errors
/// `invalid-arguments` when it speaks of old lines.
pub(crate) fn new_content(patch: &FilePatch<'_>) -> Result<String, Failure> {
    let lines = patch.hunks.iter().flat_map(|hunk| &hunk.lines);
    if lines.clone().any(Line::is_old) {
        let path = patch.new.as_deref().unwrap_or_default();
        return Err(Failure::invalid_arguments(format!(
            "the patch creates `{path}`, and has lines in it that are to be there already"
        ))
        .hint("name the file in the `---` line as well if it exists, else give `+` lines only"));
    }
    Ok(lines.map(with_newline).collect())
}

fn names_mark(hunks: &[Hunk<'_>]) -> bool {
    let mut old = hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .filter(|line| line.is_old());
    old.any(|line| line.text.starts_with(MARK))
}

fn with_newline(line: &Line<'_>) -> String {
    format!("{}{}", line.text, if line.newline { "\n" } else { "" })
}

fn spliced(text: &str, replacements: &[(Range<usize>, String)]) -> String {
    let mut next = String::with_capacity(text.len());
    let mut copied = 0;
    for (range, new) in replacements {
        next.push_str(&text[copied..range.start]);
        next.push_str(new);
        copied = range.end;
    }
    next.push_str(&text[copied..]);
    next
}

/// The line that a hunk names, from 0. Where there are no old lines, the header names the
/// line before.
fn first_line(hunk: &Hunk<'_>, old: &[Line<'_>]) -> usize {
    hunk.old_start.saturating_sub(usize::from(!old.is_empty()))
}

/// A text in lines.
struct File<'a> {
    path: &'a str,
    text: &'a str,
    /// Where each line begins, and the end of the last.
    starts: Vec<usize>,
}

impl<'a> File<'a> {
    /// A byte order mark belongs to no line, unless the patch has it in one.
    fn new(path: &'a str, text: &'a str, has_mark: bool) -> Self {
        let start = if has_mark { 0 } else { behind_mark(text) };
        let mut starts = vec![start];
        for line in text[start..].split_inclusive('\n') {
            starts.push(starts[starts.len() - 1] + line.len());
        }
        Self { path, text, starts }
    }

    fn line_count(&self) -> usize {
        self.starts.len() - 1
    }

    fn line(&self, number: usize) -> &'a str {
        &self.text[self.starts[number]..self.starts[number + 1]]
    }

    fn place(
        &self,
        number: usize,
        hunk: &Hunk<'_>,
        old: &[Line<'_>],
        free_from: usize,
        drift: isize,
    ) -> Result<Place, Failure> {
        let named = first_line(hunk, old);
        let likely = [named, named.saturating_add_signed(drift)];
        for line in likely.into_iter().filter(|line| *line >= free_from) {
            for endings in [Endings::Exact, Endings::Any] {
                if self.fits(old, line, endings) {
                    return Ok(Place { line, endings });
                }
            }
        }
        if old.is_empty() {
            return Err(self.no_match(number, hunk, old));
        }
        for endings in [Endings::Exact, Endings::Any] {
            let fits = |line: &usize| self.fits(old, *line, endings);
            let lines = free_from..self.line_count();
            let found: Vec<usize> = lines.filter(fits).take(MOST_PLACES).collect();
            match found[..] {
                [] => {}
                [line] => return Ok(Place { line, endings }),
                _ => return Err(self.ambiguous(number, hunk, &found)),
            }
        }
        Err(self.no_match(number, hunk, old))
    }

    fn fits(&self, old: &[Line<'_>], at: usize, endings: Endings) -> bool {
        at + old.len() <= self.line_count()
            && old.iter().enumerate().all(|(number, wanted)| {
                let line = self.line(at + number);
                let newline = line.ends_with('\n');
                let text = line.strip_suffix('\n').unwrap_or(line);
                match endings {
                    Endings::Exact => text == wanted.text && newline == wanted.newline,
                    Endings::Any => {
                        without_cr(text) == without_cr(wanted.text) && (wanted.newline || !newline)
                    }
                }
            })
    }

    /// Each run of removed and added lines is one replacement; context stays as it is.
    fn replace(&self, hunk: &Hunk<'_>, place: Place, into: &mut Vec<(Range<usize>, String)>) {
        let mut line = place.line;
        let runs = hunk
            .lines
            .chunk_by(|a, b| (a.kind == Kind::Context) == (b.kind == Kind::Context));
        for run in runs {
            let old = run.iter().filter(|line| line.is_old()).count();
            if run[0].kind != Kind::Context {
                let range = self.starts[line]..self.starts[line + old];
                let added: Vec<_> = run.iter().filter(|line| line.kind == Kind::Added).collect();
                let mut new = self.new_text(&added, &range, place.endings, hunk);
                // A mark behind the one that stays would be a second.
                if range.start == behind_mark(self.text) && range.start > 0 {
                    new = new.trim_start_matches(MARK).to_owned();
                }
                into.push((range, new));
            }
            line += old;
        }
    }

    fn new_text(
        &self,
        added: &[&Line<'_>],
        range: &Range<usize>,
        endings: Endings,
        hunk: &Hunk<'_>,
    ) -> String {
        // Lines that nothing old is compared with take the endings of the file.
        let is_literal = endings == Endings::Exact && hunk.lines.iter().any(Line::is_old);
        if is_literal {
            return added.iter().map(|line| with_newline(line)).collect();
        }
        let lines = added
            .iter()
            .map(|line| format!("{}\n", without_cr(line.text)));
        let mut new = as_there(&lines.collect::<String>(), self.text, range).into_owned();
        let at_open_end = range.end == self.text.len() && !self.text.ends_with('\n');
        let unfinished = added.last().is_some_and(|line| !line.newline);
        if (at_open_end && self.line_count() > 0) || unfinished {
            let length = new
                .strip_suffix('\n')
                .map_or(new.len(), |new| without_cr(new).len());
            let ending = new.split_off(length);
            if at_open_end && range.is_empty() && !added.is_empty() {
                new.insert_str(0, &ending);
            }
        }
        new
    }

    fn no_match(&self, number: usize, hunk: &Hunk<'_>, old: &[Line<'_>]) -> Failure {
        let what = self.what(number, hunk);
        let wanted: String = old.iter().map(with_newline).collect();
        let failure = Failure::new(
            "no-match",
            format!("{what} does not fit: its old lines are not in the file"),
        );
        match nearest(self.text, &wanted) {
            Some(near) => failure
                .hint(
                    "`nearest.diff` shows what the hunk has (`-`) and what stands there (`+`): \
                     correct the hunk by it; nothing was changed",
                )
                .details(&json!({
                    "path": self.path, "hunk": number + 1, "line": hunk.header,
                    "nearest": { "line": near.line, "diff": near.diff },
                })),
            None => failure
                .hint("read the file again and make the patch anew; nothing was changed")
                .details(&json!({ "path": self.path, "hunk": number + 1, "line": hunk.header })),
        }
    }

    fn ambiguous(&self, number: usize, hunk: &Hunk<'_>, found: &[usize]) -> Failure {
        let lines: Vec<usize> = found.iter().map(|line| line + 1).collect();
        let what = self.what(number, hunk);
        Failure::new(
            "ambiguous-match",
            format!(
                "{what} does not fit at line {}, and fits at several others",
                hunk.old_start
            ),
        )
        .hint("correct the line number in its header, or add lines around it; nothing was changed")
        .details(
            &json!({ "path": self.path, "hunk": number + 1, "line": hunk.header, "lines": lines }),
        )
    }

    fn what(&self, number: usize, hunk: &Hunk<'_>) -> String {
        format!(
            "hunk {} of `{}` (line {} of the patch)",
            number + 1,
            self.path,
            hunk.header
        )
    }
}

fn without_cr(text: &str) -> &str {
    text.strip_suffix('\r').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn patched(text: &str, hunks: &str) -> Result<(String, Vec<isize>), Failure> {
        let patch = format!("--- f\n+++ f\n{hunks}");
        let files = parse(&patch)?;
        let patched = apply("f", text, &files[0].hunks)?;
        Ok((patched.text, patched.offsets))
    }

    #[test]
    fn hunks_are_applied_at_their_lines() {
        let hunks = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4 +4,2 @@\n d\n+e\n";
        let expected = ("A\nb\nc\nd\ne\n".to_owned(), vec![0, 0]);
        assert_eq!(patched("a\nb\nc\nd\n", hunks), Ok(expected));
    }

    #[test]
    fn a_hunk_is_found_where_only_one_place_fits() {
        let expected = ("x\ny\nA\nb\n".to_owned(), vec![2]);
        assert_eq!(
            patched("x\ny\na\nb\n", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n"),
            Ok(expected)
        );
        let failure = patched("x\na\nb\na\nb\n", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n").unwrap_err();
        assert_eq!(failure.code, "ambiguous-match");
        assert!(
            failure.details.contains("\"lines\":[2,4]"),
            "{}",
            failure.details
        );
    }

    #[test]
    fn a_hunk_that_does_not_fit_is_named() {
        let failure =
            patched("a\nb\n", "@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-c c c\n+C\n").unwrap_err();
        assert_eq!(failure.code, "no-match");
        assert!(
            failure
                .message
                .starts_with("hunk 2 of `f` (line 6 of the patch) does not fit")
        );
        assert!(
            failure
                .details
                .starts_with(r#"{"path":"f","hunk":2,"line":6"#)
        );
    }

    #[test]
    fn line_endings_of_the_file_stay_and_are_taken_over() {
        for (text, hunks, expected) in [
            (
                "a\r\nb\r\n",
                "@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n",
                "a\r\nB\r\nc\r\n",
            ),
            (
                "a\r\nb\r\n",
                "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n",
                "a\r\nB\r\n",
            ),
            ("a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nB\n"),
            (
                "a\r\nb\nc\n",
                "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
                "a\r\nB\nc\n",
            ),
            (
                "a\r\nb\r\n",
                "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n",
                "a\nb\r\n",
            ),
            ("a\r\n", "@@ -1,0 +2 @@\n+b\n", "a\r\nb\r\n"),
        ] {
            assert_eq!(
                patched(text, hunks).map(|(text, _)| text).as_deref(),
                Ok(expected),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_end_of_the_file_stays_as_it_was_unless_the_patch_says_otherwise() {
        let none = "\\ No newline at end of file\n";
        for (text, hunks, expected) in [
            ("a\nb", "@@ -2 +2 @@\n-b\n+c\n".to_owned(), "a\nc"),
            ("a\nb", "@@ -2 +2,2 @@\n b\n+c\n".to_owned(), "a\nb\nc"),
            ("a\nb", format!("@@ -2 +2 @@\n-b\n{none}+b\n"), "a\nb\n"),
            ("a\nb\n", format!("@@ -2 +2 @@\n-b\n+b\n{none}"), "a\nb"),
            (
                "a\nb",
                format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{none}"),
                "A\nb",
            ),
            (
                "a\r\nb",
                "@@ -2 +2,2 @@\n b\n+c\n".to_owned(),
                "a\r\nb\r\nc",
            ),
            ("", "@@ -0,0 +1 @@\n+a\n".to_owned(), "a\n"),
        ] {
            let answer = patched(text, &hunks).map(|(text, _)| text);
            assert_eq!(answer.as_deref(), Ok(expected), "{text:?} {hunks:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_before_the_first_line() {
        let change = "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n";
        for (text, hunks, expected) in [
            ("\u{feff}one\ntwo\n", change, "\u{feff}ONE\ntwo\n"),
            ("\u{feff}one\r\ntwo\r\n", change, "\u{feff}ONE\r\ntwo\r\n"),
            (
                "\u{feff}one\ntwo\n",
                "@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
                "\u{feff}one\n2\n",
            ),
            ("\u{feff}one\n", "@@ -0,0 +1 @@\n+x\n", "\u{feff}x\none\n"),
            (
                "\u{feff}one\n",
                "@@ -1 +1 @@\n-one\n+\u{feff}x\n",
                "\u{feff}x\n",
            ),
            ("\u{feff}", "@@ -0,0 +1 @@\n+x\n", "\u{feff}x\n"),
            ("\u{feff}one\n", "@@ -1 +0,0 @@\n-one\n", "\u{feff}"),
            (
                "\u{feff}one\n",
                "@@ -1 +1 @@\n-\u{feff}one\n+\u{feff}x\n",
                "\u{feff}x\n",
            ),
            (
                "\u{feff}one\n",
                "@@ -1 +1 @@\n-\u{feff}one\n+one\n",
                "one\n",
            ),
        ] {
            let answer = patched(text, hunks).map(|(text, _)| text);
            assert_eq!(answer.as_deref(), Ok(expected), "{text:?} {hunks:?}");
        }
    }

    #[test]
    fn hunks_never_overlap() {
        let hunks = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2 +2 @@\n-b\n+B\n";
        assert_eq!(patched("a\nb\n", hunks).unwrap_err().code, "no-match");
    }

    #[test]
    fn a_created_file_has_added_lines_only() {
        let files =
            parse("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\r\n+b\n\\ No newline\n").unwrap();
        assert_eq!(new_content(&files[0]).as_deref(), Ok("a\r\nb"));
        let files = parse("--- /dev/null\n+++ b/f\n@@ -1 +1,2 @@\n a\n+b\n").unwrap();
        assert_eq!(
            new_content(&files[0]).unwrap_err().code,
            "invalid-arguments"
        );
    }
}
