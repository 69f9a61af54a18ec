//! Line endings: what was written with LF for a text that has CRLF.

use memchr::{memchr, memchr_iter, memrchr};
use std::borrow::Cow;
use std::ops::Range;

/// The text with each CRLF as LF, and where the CRs stood.
pub(super) struct Unix {
    pub(super) text: String,
    /// For each CR that was taken out: the offset in `text` of the LF behind it.
    removed: Vec<usize>,
}

impl Unix {
    pub(super) fn of(text: &str) -> Self {
        let mut unix = String::with_capacity(text.len());
        let mut removed = Vec::new();
        let mut copied = 0;
        for cr in memchr_iter(b'\r', text.as_bytes()) {
            if text.as_bytes().get(cr + 1) == Some(&b'\n') {
                unix.push_str(&text[copied..cr]);
                removed.push(unix.len());
                copied = cr + 1;
            }
        }
        unix.push_str(&text[copied..]);
        Self {
            text: unix,
            removed,
        }
    }

    /// The range of the original text. A CR belongs to the LF behind it.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        let offset = |at: usize| at + self.removed.partition_point(|lf| *lf < at);
        offset(range.start)..offset(range.end)
    }
}

/// Text with LF for line endings.
pub(super) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The line endings of a text that has one kind of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Lf,
    CrLf,
}

impl Kind {
    /// Nothing for a text with both kinds, or with no line ending at all.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut endings = memchr_iter(b'\n', text.as_bytes()).map(|lf| is_crlf(text, lf));
        let first = endings.next()?;
        let kind = if first { Self::CrLf } else { Self::Lf };
        endings.all(|other| other == first).then_some(kind)
    }
}

/// The text of an edit, with the line endings of a file that has one kind of them: a file is
/// never left with two by how the text was sent. In any other file the text takes those of what
/// it replaces, and is `literal` where what it replaces was spelled out with its CRs.
///
/// Text that differs from the old in its line endings alone is meant to change them.
pub(super) fn as_meant<'a>(
    edit: (&str, &'a str),
    kind: Option<Kind>,
    literal: bool,
    text: &str,
    range: &Range<usize>,
) -> Cow<'a, str> {
    let (old, new) = edit;
    let changes_endings = old.contains('\n') && with_lf(old) == with_lf(new);
    match kind {
        _ if changes_endings => Cow::Borrowed(new),
        Some(Kind::Lf) => with_lf(new),
        Some(Kind::CrLf) if new.contains('\n') => Cow::Owned(with_lf(new).replace('\n', "\r\n")),
        None if !literal => as_there(new, text, range),
        _ => Cow::Borrowed(new),
    }
}

/// New text with the line endings of what it replaces: its first line ending becomes as the
/// first there, and so on, the last for all further ones. Where there is none, the endings
/// of the lines around count.
pub(super) fn as_there<'a>(new: &'a str, text: &str, range: &Range<usize>) -> Cow<'a, str> {
    if !new.contains('\n') {
        return Cow::Borrowed(new);
    }
    let mut there = endings_in(&text[range.clone()]);
    if there.is_empty() {
        there.extend(ending_around(text, range));
    }
    if !there.contains(&true) {
        return Cow::Borrowed(new);
    }
    let mut adapted = String::with_capacity(new.len() + there.len());
    for (number, line) in new.split_inclusive('\n').enumerate() {
        let is_crlf = there[number.min(there.len() - 1)];
        match line.strip_suffix('\n') {
            Some(line) if is_crlf && !line.ends_with('\r') => {
                adapted.push_str(line);
                adapted.push_str("\r\n");
            }
            _ => adapted.push_str(line),
        }
    }
    Cow::Owned(adapted)
}

/// For each line ending whether it is CRLF.
fn endings_in(text: &str) -> Vec<bool> {
    memchr_iter(b'\n', text.as_bytes())
        .map(|lf| is_crlf(text, lf))
        .collect()
}

fn ending_around(text: &str, range: &Range<usize>) -> Option<bool> {
    let bytes = text.as_bytes();
    let next = memchr(b'\n', &bytes[range.end..]).map(|at| range.end + at);
    let lf = next.or_else(|| memrchr(b'\n', &bytes[..range.start]))?;
    Some(is_crlf(text, lf))
}

fn is_crlf(text: &str, lf: usize) -> bool {
    lf > 0 && text.as_bytes()[lf - 1] == b'\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lead_back_to_the_original() {
        let unix = Unix::of("a\r\nb\nc\rd\r\n");
        assert_eq!(unix.text, "a\nb\nc\rd\n");
        assert_eq!(unix.original(0..1), 0..1);
        assert_eq!(unix.original(0..2), 0..3);
        assert_eq!(unix.original(1..3), 1..4, "a CR goes with its LF");
        assert_eq!(unix.original(2..5), 3..6);
        assert_eq!(unix.original(0..8), 0..10);
    }

    #[test]
    fn new_text_gets_the_endings_there() {
        for (text, range, new, adapted) in [
            ("a\r\nb\r\n", 0..1, "x\ny", "x\r\ny"),
            ("a\nb\r\n", 0..1, "x\ny", "x\ny"),
            ("a\r\nb", 3..4, "x\ny", "x\r\ny"),
            ("ab", 0..1, "x\ny", "x\ny"),
            ("a\r\nb\nc", 0..6, "x\ny\nz\nw", "x\r\ny\nz\nw"),
            ("a\r\nb", 0..3, "x\r\ny\n", "x\r\ny\r\n"),
            ("a\r\nb", 0..1, "x\r\n", "x\r\n"),
        ] {
            assert_eq!(as_there(new, text, &range), adapted, "{text:?} {range:?}");
        }
    }
}
