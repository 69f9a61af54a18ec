//! Edits: old text for new text, all of them or none.

use super::Changes;
use super::encoding::{MARK, behind_mark};
use super::endings::{Kind, as_meant};
use super::matching::{Places, Wanted, places};
use super::nearest::nearest;
use super::slip::slip;
use crate::tool::Failure;
use memchr::memchr_iter;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;
use std::ops::Range;

/// Places of an ambiguous text that are named.
const MOST_PLACES: usize = 20;

/// One replacement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub(crate) struct Edit {
    pub(crate) old_text: String,
    pub(crate) new_text: String,
    #[serde(default)]
    pub(crate) replace_all: bool,
}

/// A text after its edits.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) changes: Changes,
    pub(crate) replacements: usize,
}

/// Applies the edits in their order; each sees what those before it left.
///
/// # Errors
/// `no-match`, `ambiguous-match`, and `invalid-arguments` for what cannot be meant.
pub(crate) fn edit(path: &str, text: &str, edits: &[Edit]) -> Result<Edited, Failure> {
    let mut edited = Edited {
        text: String::new(),
        changes: Changes::default(),
        replacements: 0,
    };
    let mut current = Cow::Borrowed(text);
    for (number, edit) in edits.iter().enumerate() {
        let asked = Asked {
            path,
            number,
            of: edits.len(),
            edit,
        };
        let places = asked.places(&current)?;
        edited.replacements += places.ranges.len();
        current = Cow::Owned(edited.apply(&current, edit, places));
    }
    edited.text = current.into_owned();
    Ok(edited)
}

impl Edited {
    fn apply(&mut self, text: &str, edit: &Edit, places: Places) -> String {
        let is_literal = places.exact && edit.old_text.contains('\r');
        let kind = Kind::of(text);
        let given = (edit.old_text.as_str(), edit.new_text.as_str());
        let mut next = String::with_capacity(text.len() + edit.new_text.len());
        let mut lengths: Vec<(Range<usize>, usize)> = Vec::with_capacity(places.ranges.len());
        let mut copied = 0;
        let mark = behind_mark(text);
        for mut range in places.ranges {
            let mut new = as_meant(given, kind, is_literal, text, &range);
            // The mark is not the edit's to take away or to double: without it UTF-16 is none.
            if range.start <= mark && mark > 0 {
                range.start = mark;
                new = Cow::Owned(new.strip_prefix(MARK).unwrap_or(&new).to_owned());
            }
            next.push_str(&text[copied..range.start]);
            next.push_str(&new);
            copied = range.end;
            lengths.push((range, new.len()));
        }
        next.push_str(&text[copied..]);
        self.changes.replaced(&lengths);
        next
    }
}

/// An edit, and how to speak of it.
struct Asked<'a> {
    path: &'a str,
    number: usize,
    of: usize,
    edit: &'a Edit,
}

impl Asked<'_> {
    fn places(&self, text: &str) -> Result<Places, Failure> {
        let Edit {
            old_text, new_text, ..
        } = self.edit;
        if old_text.is_empty() {
            return Err(self.empty());
        }
        if old_text == new_text {
            return Err(self.changes_nothing());
        }
        let wanted = match self.edit.replace_all {
            true => Wanted::Apart,
            false => Wanted::First(MOST_PLACES + 1),
        };
        let places = places(text, old_text, wanted);
        match places.ranges.len() {
            0 => Err(self.no_match(text)),
            1 if text.starts_with(MARK) && old_text.strip_prefix(MARK) == Some(new_text) => {
                Err(self.takes_mark())
            }
            2.. if !self.edit.replace_all => Err(self.ambiguous(text, &places.ranges)),
            _ => Ok(places),
        }
    }

    /// `old_text`, and of which edit where there are several.
    fn old_text(&self) -> String {
        match self.of {
            1 => "`old_text`".to_owned(),
            _ => format!("`old_text` of edit {}", self.number + 1),
        }
    }

    fn empty(&self) -> Failure {
        Failure::invalid_arguments(format!("{} is empty", self.old_text())).hint(
            "to insert, give the text beside the place as `old_text` and repeat it in \
             `new_text`; to add at the end, use `append_file`; to fill an empty file, `write_file`",
        )
    }

    fn changes_nothing(&self) -> Failure {
        let message = format!("{} and `new_text` are the same", self.old_text());
        Failure::invalid_arguments(message).hint("leave out edits that change nothing")
    }

    fn takes_mark(&self) -> Failure {
        let message = format!("{} differs by the byte order mark alone", self.old_text());
        Failure::invalid_arguments(message).hint(
            "the mark is kept by every edit: leave it out of `old_text`; `write_file` writes the \
             file without it",
        )
    }

    fn no_match(&self, text: &str) -> Failure {
        let message = format!("{} is not in `{}`", self.old_text(), self.path);
        let (edit, after) = (self.number + 1, self.number > 0);
        let seen = if after {
            ", as the edits before it left it"
        } else {
            ""
        };
        if let Some(slip) = slip(text, &self.edit.old_text) {
            return Failure::new("no-match", format!("{message}{seen}: {}", slip.what))
                .hint(slip.hint)
                .details(&json!({ "edit": edit }));
        }
        match nearest(text, &self.edit.old_text) {
            None => Failure::new(
                "no-match",
                format!("{message}{seen}, nor is anything like it"),
            )
            .hint("read the file again and copy the text to be replaced from it")
            .details(&json!({ "edit": edit })),
            Some(near) => Failure::new(
                "no-match",
                format!("{message}{seen}; the nearest place is line {}", near.line),
            )
            .hint(
                "`nearest.diff` shows what was given (`-`) and what stands there (`+`), with \
                 `·` for a space, `→` for a tab, `␍` for a CR, `⍽` for a no-break space, \
                 `◊` for a byte order mark: correct `old_text` by it",
            )
            .details(&json!({
                "edit": edit,
                "nearest": { "line": near.line, "diff": near.diff },
            })),
        }
    }

    fn ambiguous(&self, text: &str, ranges: &[Range<usize>]) -> Failure {
        let (count, named) = match ranges.len() {
            count if count > MOST_PLACES => (format!("more than {MOST_PLACES}"), MOST_PLACES),
            count => (count.to_string(), count),
        };
        let lines = lines_of(text, &ranges[..named]);
        let shown: Vec<String> = lines.iter().map(usize::to_string).collect();
        let message = format!(
            "{} occurs {count} times in `{}`: in lines {}",
            self.old_text(),
            self.path,
            shown.join(", ")
        );
        Failure::new("ambiguous-match", message)
            .hint(
                "add lines around it to `old_text` until it occurs once, or give \
                 `replace_all: true`",
            )
            .details(&json!({ "edit": self.number + 1, "lines": lines }))
    }
}

/// The numbers, from 1, of the lines in which the ranges begin.
fn lines_of(text: &str, ranges: &[Range<usize>]) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let number = |range: &Range<usize>| {
        line += memchr_iter(b'\n', &text.as_bytes()[counted..range.start]).count();
        counted = range.start;
        line
    };
    ranges.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(pairs: &[(&str, &str)]) -> Vec<Edit> {
        let edit = |(old, new): &(&str, &str)| Edit {
            old_text: (*old).to_owned(),
            new_text: (*new).to_owned(),
            replace_all: false,
        };
        pairs.iter().map(edit).collect()
    }

    fn edited(text: &str, pairs: &[(&str, &str)]) -> Result<String, Failure> {
        edit("f", text, &edits(pairs)).map(|edited| edited.text)
    }

    #[test]
    fn the_text_is_replaced_and_nothing_else() {
        for (text, old, new, expected) in [
            ("a b c", "b", "B", "a B c"),
            ("a\r\nb\nc\rd\r\n", "b", "B", "a\r\nB\nc\rd\r\n"),
            (
                "one\r\ntwo\r\nthree",
                "one\ntwo",
                "ONE\nTWO",
                "ONE\r\nTWO\r\nthree",
            ),
            ("done", "done", "$& $1 \\1 \\n", "$& $1 \\1 \\n"),
            ("\u{feff}param", "param", "x", "\u{feff}x"),
            ("x\r\n", "x", "y\nz", "y\r\nz\r\n"),
            ("a\r\nb", "a\r\nb", "a\nb", "a\nb"),
            ("a\nb\n", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n"),
            ("last", "last", "", ""),
        ] {
            assert_eq!(
                edited(text, &[(old, new)]).as_deref(),
                Ok(expected),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_byte_order_mark_is_kept_and_not_doubled() {
        for (old, new, expected) in [
            ("\u{feff}one", "ONE", "\u{feff}ONE two"),
            ("\u{feff}one", "\u{feff}ONE", "\u{feff}ONE two"),
            ("one", "\u{feff}ONE", "\u{feff}ONE two"),
            ("\u{feff}", "x", "\u{feff}xone two"),
            ("two", "\u{feff}2", "\u{feff}one \u{feff}2"),
        ] {
            let edited = edited("\u{feff}one two", &[(old, new)]);
            assert_eq!(edited.as_deref(), Ok(expected), "{old:?} {new:?}");
        }
        let failure = edited("\u{feff}one two", &[("\u{feff}one", "one")]).unwrap_err();
        assert_eq!(failure.code, "invalid-arguments");
        assert!(failure.message.contains("byte order mark"));
    }

    #[test]
    fn a_file_with_one_kind_of_line_endings_keeps_it() {
        for (text, old, new, expected) in [
            ("a\r\nb\r\n", "a\r\n", "x\ny\r\n", "x\r\ny\r\nb\r\n"),
            ("a\r\nb\r\n", "a\r\n", "x\ny\n", "x\r\ny\r\nb\r\n"),
            ("one\ntwo\n", "one\r\ntwo", "1\r\n2", "1\n2\n"),
            ("a\nb\n", "a", "x\r\ny", "x\ny\nb\n"),
            ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
            // Where there are both, what is spelled out is meant.
            ("a\r\nb\n", "a\r\n", "x\ny\r\n", "x\ny\r\nb\n"),
            ("ab", "a", "x\r\ny\n", "x\r\ny\nb"),
        ] {
            let edited = edited(text, &[(old, new)]);
            assert_eq!(edited.as_deref(), Ok(expected), "{text:?} {old:?}");
        }
    }

    #[test]
    fn all_line_endings_are_changed_where_nothing_else_is() {
        for (text, old, new, expected) in [
            ("a\r\nb\r\n", "\r\n", "\n", "a\nb\n"),
            ("a\nb\n", "\n", "\r\n", "a\r\nb\r\n"),
        ] {
            let mut all = edits(&[(old, new)]);
            all[0].replace_all = true;
            assert_eq!(edit("f", text, &all).unwrap().text, expected);
        }
    }

    #[test]
    fn an_edit_sees_those_before_it() {
        assert_eq!(edited("a", &[("a", "b"), ("b", "c")]).as_deref(), Ok("c"));
        let failure = edited("a b", &[("a", "x"), ("a", "y")]).unwrap_err();
        assert_eq!(failure.code, "no-match");
        assert!(
            failure
                .message
                .starts_with("`old_text` of edit 2 is not in `f`, as the edits")
        );
    }

    #[test]
    fn all_places_are_replaced_on_request() {
        let mut all = edits(&[("a", "xx")]);
        all[0].replace_all = true;
        let edited = edit("f", "a-a-a", &all).unwrap();
        assert_eq!((&*edited.text, edited.replacements), ("xx-xx-xx", 3));
    }

    #[test]
    fn several_places_are_named_by_their_lines() {
        let failure = edited("a\nb\na\n", &[("a", "x")]).unwrap_err();
        assert_eq!(failure.code, "ambiguous-match");
        assert_eq!(
            failure.message,
            "`old_text` occurs 2 times in `f`: in lines 1, 3"
        );
        assert_eq!(failure.details, r#"{"edit":1,"lines":[1,3]}"#);
        let many = edited(&"a\n".repeat(1000), &[("a", "x")]).unwrap_err();
        assert!(
            many.message
                .starts_with("`old_text` occurs more than 20 times")
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (old, new) in [("", "x"), ("a", "a")] {
            let failure = edited("abc", &[(old, new)]).unwrap_err();
            assert_eq!(failure.code, "invalid-arguments");
            assert!(!failure.hint.is_empty());
        }
    }

    #[test]
    fn no_match_shows_the_nearest_place() {
        let failure = edited("x\n\ty = 1\n", &[("    y = 1", "z")]).unwrap_err();
        assert_eq!(failure.code, "no-match");
        assert_eq!(
            failure.message,
            "`old_text` is not in `f`; the nearest place is line 2"
        );
        assert_eq!(
            failure.details,
            "{\"edit\":1,\"nearest\":{\"line\":2,\"diff\":\"-····y·=·1\\n+→y·=·1\\n\"}}"
        );
    }
}
