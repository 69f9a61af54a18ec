//! From the text of a patch to what it says.

use super::name::{name, without_prefixes};
use crate::tool::Failure;

/// Header lines of git that say nothing which is needed.
const SKIPPED: [&str; 5] = [
    "index ",
    "similarity index ",
    "dissimilarity index ",
    "Index: ",
    "====",
];

/// What a patch does to one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FilePatch<'a> {
    /// Absent for a new file.
    pub(crate) old: Option<String>,
    /// Absent for a deleted file.
    pub(crate) new: Option<String>,
    pub(crate) hunks: Vec<Hunk<'a>>,
}

/// A stretch of lines, old and new.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hunk<'a> {
    /// The line of the patch that holds its header, from 1.
    pub(crate) header: usize,
    /// The first old line, from 1; the line before where there are no old lines.
    pub(crate) old_start: usize,
    pub(crate) lines: Vec<Line<'a>>,
}

/// One line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) kind: Kind,
    /// Without sign and LF; a CR before the LF is a part of it.
    pub(crate) text: &'a str,
    /// False where the patch says that no newline follows.
    pub(crate) newline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Context,
    Removed,
    Added,
}

impl Line<'_> {
    pub(crate) fn is_old(&self) -> bool {
        self.kind != Kind::Added
    }
}

/// Reads a patch of one or more files.
///
/// # Errors
/// `invalid-arguments`, with the line of the patch.
pub(crate) fn parse(patch: &str) -> Result<Vec<FilePatch<'_>>, Failure> {
    let begin = patch
        .lines()
        .take(3)
        .position(|line| line.starts_with("*** Begin Patch"));
    read(patch).map_err(|failure| match begin {
        Some(line) => malformed(
            line + 1,
            "`*** Begin Patch` is another format, which is not read",
        ),
        None => failure,
    })
}

fn read(patch: &str) -> Result<Vec<FilePatch<'_>>, Failure> {
    let mut parser = Parser {
        lines: patch.lines_with_cr().collect(),
        at: 0,
        files: Vec::new(),
        section: Section::default(),
    };
    while parser.at < parser.lines.len() {
        parser.step()?;
    }
    parser.end_section()?;
    match parser.files.is_empty() {
        true => Err(malformed(1, "the patch names no file")),
        false => Ok(parser.files),
    }
}

trait LinesWithCr {
    fn lines_with_cr(&self) -> impl Iterator<Item = &str>;
}

impl LinesWithCr for str {
    /// Lines without their LF; unlike `lines`, with a CR before it.
    fn lines_with_cr(&self) -> impl Iterator<Item = &str> {
        self.split_inclusive('\n')
            .map(|line| line.strip_suffix('\n').unwrap_or(line))
    }
}

/// What the headers of a file say.
#[derive(Default)]
struct Section<'a> {
    /// From `diff --git`, which alone is too little to know the names by.
    git: Option<&'a str>,
    names: Option<(Option<String>, Option<String>)>,
    created: bool,
    deleted: bool,
    rename_from: Option<String>,
    rename_to: Option<String>,
    hunks: Vec<Hunk<'a>>,
    line: usize,
}

struct Parser<'a> {
    lines: Vec<&'a str>,
    at: usize,
    files: Vec<FilePatch<'a>>,
    section: Section<'a>,
}

impl<'a> Parser<'a> {
    fn step(&mut self) -> Result<(), Failure> {
        let line = self.lines[self.at];
        let text = line.trim_end_matches('\r');
        if let Some(names) = text.strip_prefix("diff --git ") {
            self.end_section()?;
            self.section.git = Some(names);
            self.section.line = self.at + 1;
        } else if text.starts_with("--- ") && self.next_starts_with("+++ ") {
            return self.names();
        } else if text == "@@" || text.starts_with("@@ ") {
            return self.hunk();
        } else {
            self.header(text)?;
        }
        self.at += 1;
        Ok(())
    }

    fn next_starts_with(&self, sign: &str) -> bool {
        self.lines
            .get(self.at + 1)
            .is_some_and(|line| line.starts_with(sign))
    }

    fn header(&mut self, text: &str) -> Result<(), Failure> {
        let number = self.at + 1;
        let section = &mut self.section;
        let in_git = section.git.is_some() && section.hunks.is_empty();
        if let Some(mode) = text.strip_prefix("new file mode ").filter(|_| in_git) {
            section.created = true;
            return regular(number, mode);
        }
        if text.starts_with("deleted file mode ") && in_git {
            section.deleted = true;
        } else if let Some(from) = text.strip_prefix("rename from ").filter(|_| in_git) {
            section.rename_from = Some(needed(number, from)?);
        } else if let Some(to) = text.strip_prefix("rename to ").filter(|_| in_git) {
            section.rename_to = Some(needed(number, to)?);
        } else if in_git && text.starts_with("old mode ") || text.starts_with("new mode ") {
            return Err(malformed(
                number,
                "the patch changes a mode, and no tool here sets modes",
            ));
        } else if text.starts_with("Binary files ") || text.starts_with("GIT binary patch") {
            return Err(malformed(number, "the patch changes a binary file"));
        } else if text.starts_with("copy from ") || text.starts_with("copy to ") {
            return Err(malformed(
                number,
                "the patch copies a file; use `copy_file` for that",
            ));
        } else if text.starts_with("```") && !self.is_ignored(text) {
            return Err(malformed(
                number,
                "this line is a fence of Markdown; give the diff without fences",
            ));
        } else if !self.is_ignored(text) {
            return Err(malformed(number, "this line is not part of a unified diff"));
        }
        Ok(())
    }

    /// Words before the first file, blank lines, and headers that say nothing needed.
    fn is_ignored(&self, text: &str) -> bool {
        let before_all = self.files.is_empty() && self.section.is_empty();
        let is_signature = text == "-- " || text == "--";
        before_all
            || text.trim().is_empty()
            || is_signature
            || SKIPPED.iter().any(|start| text.starts_with(start))
    }

    fn names(&mut self) -> Result<(), Failure> {
        let number = self.at + 1;
        let field = |at: usize| self.lines[at][4..].trim_end_matches('\r');
        let old = needed(number, field(self.at))?;
        let new = needed(number + 1, field(self.at + 1))?;
        let exists = |name: String| (name != "/dev/null").then_some(name);
        let names = without_prefixes(exists(old), exists(new));
        if !self.section.takes(&names) {
            self.end_section()?;
        }
        self.section.names = Some(names);
        self.section.line = number;
        self.at += 2;
        Ok(())
    }

    fn hunk(&mut self) -> Result<(), Failure> {
        let number = self.at + 1;
        if self.section.names.is_none() {
            return Err(malformed(
                number,
                "this hunk has no `---` and `+++` lines before it",
            ));
        }
        let Some((old_start, old_count, new_count)) = ranges(self.lines[self.at]) else {
            return Err(malformed(
                number,
                "this is not a hunk header such as `@@ -12,3 +12,4 @@`, with its line numbers",
            ));
        };
        self.at += 1;
        let mut hunk = Hunk {
            header: number,
            old_start,
            lines: Vec::new(),
        };
        let (mut old, mut new) = (0, 0);
        while let Some(line) = self.hunk_line(old < old_count || new < new_count)? {
            old += usize::from(line.is_old());
            new += usize::from(line.kind != Kind::Removed);
            hunk.lines.push(line);
        }
        if (old, new) != (old_count, new_count) {
            return Err(miscounted(number, &hunk, old, new));
        }
        self.section.hunks.push(hunk);
        Ok(())
    }

    /// The next line of a hunk, if it is one. While lines are `due`, a line that begins as
    /// a header of the next file is content.
    fn hunk_line(&mut self, due: bool) -> Result<Option<Line<'a>>, Failure> {
        let Some(line) = self.lines.get(self.at) else {
            return Ok(None);
        };
        let is_next_file = line.starts_with("--- ") && self.next_starts_with("+++ ");
        let kind = match line.as_bytes().first() {
            Some(b'+') => Kind::Added,
            Some(b'-') if !due && (is_next_file || line.trim_end() == "--") => return Ok(None),
            Some(b'-') => Kind::Removed,
            Some(b' ') => Kind::Context,
            // Editors take the space of an empty context line away.
            None | Some(b'\r') if due => Kind::Context,
            _ => return Ok(None),
        };
        self.at += 1;
        let ends_without_newline = self
            .lines
            .get(self.at)
            .is_some_and(|next| next.starts_with('\\'));
        self.at += usize::from(ends_without_newline);
        let text = if line.starts_with(['+', '-', ' ']) {
            &line[1..]
        } else {
            line
        };
        Ok(Some(Line {
            kind,
            text,
            newline: !ends_without_newline,
        }))
    }

    fn end_section(&mut self) -> Result<(), Failure> {
        let section = std::mem::take(&mut self.section);
        if !section.is_empty() {
            self.files.push(section.into_file()?);
        }
        Ok(())
    }
}

impl<'a> Section<'a> {
    fn is_empty(&self) -> bool {
        self.git.is_none() && self.names.is_none()
    }

    /// Whether the names are those of the file that git's headers are about, rather than of
    /// the next file.
    fn takes(&self, names: &(Option<String>, Option<String>)) -> bool {
        if self.names.is_some() || !self.hunks.is_empty() {
            return false;
        }
        if self.rename_from.is_some() && self.rename_to.is_some() {
            return (&self.rename_from, &self.rename_to) == (&names.0, &names.1);
        }
        let one = self.git.and_then(one_name);
        let is_that = |name: &String| one.as_ref().is_none_or(|one| one == name);
        names.0.iter().chain(&names.1).all(is_that)
    }

    fn into_file(self) -> Result<FilePatch<'a>, Failure> {
        let line = self.line;
        let (old, new) = match (self.names, self.rename_from, self.rename_to) {
            (_, Some(from), Some(to)) => (Some(from), Some(to)),
            (Some((old, new)), None, None) => match (&old, &new) {
                (Some(from), Some(to)) if from != to => {
                    let what = format!(
                        "`{from}` and `{to}` are different files; a rename has lines `rename from` and `rename to`"
                    );
                    return Err(malformed(line, &what));
                }
                (None, None) => return Err(malformed(line, "both names are `/dev/null`")),
                _ => (old, new),
            },
            (None, None, None) if self.created || self.deleted => {
                let name = self.git.and_then(one_name);
                let name =
                    name.ok_or_else(|| malformed(line, "the name of the file is not clear"))?;
                (
                    Some(name.clone()).filter(|_| self.deleted),
                    Some(name).filter(|_| self.created),
                )
            }
            _ => {
                return Err(malformed(
                    line,
                    "this section says of no file what is to be done",
                ));
            }
        };
        Ok(FilePatch {
            old,
            new,
            hunks: self.hunks,
        })
    }
}

/// The one file of a `diff --git a/x b/x` line: both halves are the same.
fn one_name(names: &str) -> Option<String> {
    let half = names.len().checked_sub(1)? / 2;
    let (old, new) = (names.get(..half)?, names.get(half + 1..)?);
    let (old, new) = without_prefixes(name(old), name(new));
    (old == new).then_some(old).flatten()
}

fn regular(number: usize, mode: &str) -> Result<(), Failure> {
    match mode.starts_with("100") {
        true => Ok(()),
        false => Err(malformed(number, "the patch makes a link or a submodule")),
    }
}

fn needed(number: usize, field: &str) -> Result<String, Failure> {
    name(field)
        .filter(|name| !name.is_empty())
        .ok_or_else(|| malformed(number, "this line names no file"))
}

/// Old start, old count and new count of `@@ -a,b +c,d @@`.
fn ranges(header: &str) -> Option<(usize, usize, usize)> {
    let (ranges, _) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let (old_start, old_count) = range(old)?;
    let (_, new_count) = range(new)?;
    Some((old_start, old_count, new_count))
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

fn miscounted(number: usize, hunk: &Hunk<'_>, old: usize, new: usize) -> Failure {
    let what =
        format!("this hunk has {old} old and {new} new lines, and its header says otherwise");
    let start = hunk.old_start;
    malformed(number, &what).hint(format!(
        "correct the counts: `@@ -{start},{old} +…,{new} @@`; every line of a hunk begins with \
         a space, `-` or `+`"
    ))
}

fn malformed(line: usize, what: &str) -> Failure {
    Failure::invalid_arguments(format!("line {line} of the patch: {what}")).hint(
        "give a unified diff as `diff -u` or `git diff` write it: `--- a/FILE`, `+++ b/FILE`, \
         `@@ -12,3 +12,4 @@`, lines with a space, `-` or `+` before them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(patch: &str) -> Vec<(Option<String>, Option<String>, usize)> {
        let files = parse(patch).unwrap();
        files
            .into_iter()
            .map(|file| (file.old, file.new, file.hunks.len()))
            .collect()
    }

    fn named(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[test]
    fn several_files_are_told_apart() {
        let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -5,0 +6 @@\n+c\n\
            --- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n";
        assert_eq!(
            names(patch),
            [
                (named("x"), named("x"), 2),
                (None, named("new"), 1),
                (named("old"), None, 1),
            ]
        );
    }

    #[test]
    fn git_says_renames_and_empty_files_in_headers() {
        let patch = "Some words.\n\ndiff --git a/x y b/z\nsimilarity index 100%\nrename from x y\nrename to z\n\
            diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n\
            diff --git a/d b/d\ndeleted file mode 100644\n";
        assert_eq!(
            names(patch),
            [
                (named("x y"), named("z"), 0),
                (None, named("e"), 0),
                (named("d"), None, 0),
            ]
        );
    }

    #[test]
    fn headers_without_names_end_where_other_names_stand() {
        let patch = "diff --git a/from b/to\nrename from from\nrename to to\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        let renamed = (named("from"), named("to"), 0);
        assert_eq!(names(patch), [renamed, (named("x"), named("x"), 1)]);
        let patch =
            "diff --git a/e b/e\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        let created = (None, named("e"), 0);
        assert_eq!(names(patch), [created, (named("x"), named("x"), 1)]);
        let patch = "diff --git a/from b/to\nrename from from\nrename to to\n--- a/from\n+++ b/to\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(names(patch), [(named("from"), named("to"), 1)]);
    }

    #[test]
    fn removed_lines_that_look_like_headers_are_content() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a\n+++ b\n-y\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n";
        let files = parse(patch).unwrap();
        assert_eq!(files[0].hunks[0].lines[0].text, "-- a");
        assert_eq!(files.len(), 2);
    }

    #[test]
    fn empty_context_lines_may_have_lost_their_space() {
        let files = parse("--- x\n+++ x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n").unwrap();
        let line = files[0].hunks[0].lines[1];
        assert_eq!((line.kind, line.text), (Kind::Context, ""));
    }

    #[test]
    fn a_missing_newline_is_said_of_the_line_before() {
        let files =
            parse("--- x\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n").unwrap();
        let newlines: Vec<bool> = files[0].hunks[0]
            .lines
            .iter()
            .map(|line| line.newline)
            .collect();
        assert_eq!(newlines, [false, true]);
    }

    #[test]
    fn what_is_no_patch_is_refused_with_its_line() {
        for (patch, message) in [
            ("", "line 1 of the patch: the patch names no file"),
            (
                "*** Begin Patch\n",
                "line 1 of the patch: `*** Begin Patch` is another format",
            ),
            (
                "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch\n",
                "line 1 of the patch: `*** Begin Patch` is another format",
            ),
            (
                "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n",
                "line 7 of the patch: this line is a fence",
            ),
            (
                "--- a/x\n+++ b/x\n@@\n-a\n+b\n",
                "line 3 of the patch: this is not a hunk header",
            ),
            (
                "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n",
                "line 3 of the patch: this hunk has 1 old",
            ),
            (
                "--- a/x\n+++ b/x\n@@ what @@\n",
                "line 3 of the patch: this is not a hunk header",
            ),
            (
                "@@ -1 +1 @@\n-a\n+b\n",
                "line 1 of the patch: this hunk has no `---`",
            ),
            (
                "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
                "line 1 of the patch: `x` and `y` are",
            ),
            (
                "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nwords\n",
                "line 6 of the patch: this line is",
            ),
            (
                "diff --git a/x b/x\nold mode 100644\n",
                "line 2 of the patch: the patch changes a mode",
            ),
            (
                "diff --git a/l b/l\nnew file mode 120000\n",
                "line 2 of the patch: the patch makes a",
            ),
        ] {
            let failure = parse(patch).unwrap_err();
            assert_eq!(failure.code, "invalid-arguments");
            assert!(failure.message.starts_with(message), "{}", failure.message);
        }
    }
}
