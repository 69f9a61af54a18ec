//! `read_file`: a file as text, whole or some lines of it; pictures and sounds as media.

use super::shared::Positive;
use crate::reading::{Facts, From, Part, Wish, chosen, read, unknown_encoding};
use crate::text::{Choice, LEAST_TEXT, Place, Style};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct ReadFile;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    /// First line; negative: from the end
    offset: Option<i64>,
    /// Lines
    limit: Option<Positive>,
    max_bytes: Option<MaxBytes>,
    /// From `next_cursor`
    cursor: Option<String>,
    line_numbers: Option<bool>,
    /// Characters to show of a line
    clip: Option<Positive>,
    /// Such as `windows-1252`, or `base64` for bytes
    encoding: Option<String>,
    default_encoding: Option<String>,
    errors: Option<Errors>,
    /// Add `sha256`
    hash: Option<bool>,
}

/// What to do with bytes that are not text.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(description = "")]
enum Errors {
    Strict,
    Replace,
}

/// Bytes of text, which no single character exceeds.
pub(super) type MaxBytes = Within<{ LEAST_TEXT as u64 }, { u64::MAX }>;

/// What was read.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    #[serde(flatten)]
    facts: Facts,
}

impl Tool for ReadFile {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read a file";
    const DESCRIPTION: &'static str = "Returns a file's text with size and version: all of it, or \
        `limit` lines from line `offset`. If `truncated`, go on with `cursor` or at \
        `next_offset`. Pictures and sounds come as media, Office files need `read_document`, \
        other bytes are refused (`not-text`).";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path":"notes/todo.txt","offset":1,"limit":100}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let reading = read(&arguments.path, &arguments.wish()?)?;
        let (path, facts) = (arguments.path, reading.facts);
        Ok(Output::with(Fields { path, facts }, reading.content))
    }
}

/// What a file is taken for of which nobody says what it is. The host gives the argument where
/// the operator set one.
///
/// # Errors
/// `unsupported-encoding`.
pub(crate) fn assumed(label: Option<&str>) -> Result<Choice, Failure> {
    match label {
        None => Ok(Choice::Detected),
        Some(label) => Choice::assumed(label).map_err(|_| unknown_encoding(label)),
    }
}

impl Arguments {
    fn wish(&self) -> Result<Wish, Failure> {
        Ok(Wish {
            choice: self.choice()?,
            replace: self.errors == Some(Errors::Replace),
            part: self.part()?,
            hash: self.hash.unwrap_or(false),
        })
    }

    /// What the caller says that the file is; else what it is taken for.
    fn choice(&self) -> Result<Choice, Failure> {
        let Some(label) = &self.encoding else {
            return assumed(self.default_encoding.as_deref());
        };
        let choice = chosen(Some(label))?;
        if choice == Choice::Base64 {
            self.refuse_lines_of_bytes()?;
        }
        Ok(choice)
    }

    /// Bytes have no lines, and nothing in them is wrong.
    fn refuse_lines_of_bytes(&self) -> Result<(), Failure> {
        let given = [
            ("offset", self.offset.is_some()),
            ("limit", self.limit.is_some()),
            ("line_numbers", self.line_numbers == Some(true)),
            ("clip", self.clip.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((name, _)) => Err(Failure::invalid_arguments(format!(
                "`{name}` is about lines, and `base64` has none"
            ))
            .hint("leave it out; `max_bytes` and `cursor` read bytes in parts")),
        }
    }

    fn part(&self) -> Result<Option<Part>, Failure> {
        let style = Style {
            numbers: self.line_numbers.unwrap_or(false),
            clip: self.clip.map(Into::into),
        };
        let part = Part {
            from: self.from()?,
            lines: self.limit.map(Into::into),
            most: self.max_bytes.map(Into::into),
            style,
        };
        let is_whole = (&self.cursor, self.offset) == (&None, None)
            && part.lines.is_none()
            && part.most.is_none()
            && style.is_plain();
        Ok((!is_whole).then_some(part))
    }

    fn from(&self) -> Result<From, Failure> {
        match (&self.cursor, self.offset) {
            (None, None) => Ok(From::Line(1)),
            (_, Some(0)) => Err(Failure::invalid_arguments("`offset` is 0")
                .hint("the first line is 1, and the last one -1")),
            (None, Some(offset)) if offset < 0 => Ok(From::Last(offset.unsigned_abs())),
            (None, Some(offset)) => Ok(From::Line(offset.unsigned_abs())),
            (Some(cursor), offset) => from_cursor(cursor, offset),
        }
    }
}

fn from_cursor(cursor: &str, offset: Option<i64>) -> Result<From, Failure> {
    let place: Place = cursor.parse().map_err(|_| {
        Failure::invalid_arguments(format!("`{cursor}` is no cursor"))
            .hint("pass on `next_cursor` as it was answered")
    })?;
    match offset {
        Some(offset) if place.line < 1 || offset < place.line => {
            Err(Failure::invalid_arguments(format!(
                "line {offset} does not lie behind the cursor, which is in line {}",
                place.line
            ))
            .hint("leave out `offset` to go on at the cursor, or leave out `cursor`"))
        }
        offset => Ok(From::Cursor(place, offset.map(i64::unsigned_abs))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(arguments: Arguments) -> Failure {
        arguments.wish().unwrap_err()
    }

    #[test]
    fn without_arguments_the_file_is_read_whole() {
        let wish = Arguments::default().wish().unwrap();
        assert!(wish.part.is_none() && !wish.hash && !wish.replace);
        // Whoever names a line is content with as much as one call may read.
        let first = Arguments {
            offset: Some(1),
            ..Arguments::default()
        };
        assert!(first.wish().unwrap().part.is_some());
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_does() {
        let none = Arguments::default;
        let text = |text: &str| Some(text.to_owned());
        for (arguments, message) in [
            (
                Arguments {
                    offset: Some(0),
                    ..none()
                },
                "`offset` is 0",
            ),
            (
                Arguments {
                    cursor: text("12"),
                    ..none()
                },
                "`12` is no cursor",
            ),
            (
                Arguments {
                    cursor: text("12:99"),
                    offset: Some(3),
                    ..none()
                },
                "line 3 does not lie behind the cursor, which is in line 12",
            ),
            (
                Arguments {
                    encoding: text("base64"),
                    limit: Positive::new(3),
                    ..none()
                },
                "`limit` is about lines, and `base64` has none",
            ),
        ] {
            let failure = refusal(arguments);
            assert_eq!(
                (failure.code, &*failure.message),
                ("invalid-arguments", message)
            );
            assert_ne!(failure.hint, "", "{message}");
        }
    }

    #[test]
    fn an_unknown_encoding_is_refused_with_known_ones() {
        let failure = refusal(Arguments {
            encoding: Some("klingon".to_owned()),
            ..Arguments::default()
        });
        assert_eq!(failure.code, "unsupported-encoding");
        assert!(failure.hint.contains("`windows-1252`"), "{}", failure.hint);
    }
}
