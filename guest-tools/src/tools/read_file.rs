//! `read_file`: a file as text, whole or some lines of it; pictures and sounds as media.

use super::schema;
use crate::arguments::nearest;
use crate::reading::{Facts, From, Part, Wish, read, unknown_encoding};
use crate::text::{Choice, LEAST_TEXT, Place, Style};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool.
pub(crate) struct ReadFile;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    offset: Option<i64>,
    limit: Option<i64>,
    max_bytes: Option<i64>,
    cursor: Option<String>,
    line_numbers: Option<bool>,
    clip: Option<i64>,
    encoding: Option<String>,
    errors: Option<String>,
    hash: Option<bool>,
}

#[derive(Serialize)]
struct Fields<'a> {
    path: &'a str,
    #[serde(flatten)]
    facts: Facts,
}

impl Tool for ReadFile {
    type Arguments = Arguments;

    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read a file";
    const DESCRIPTION: &'static str = "Returns the text of a file with size and version: all of \
        it, or `limit` lines from line `offset`. If `truncated`, pass `next_cursor` as `cursor` \
        or `next_offset` as `offset`. Pictures and sounds come as media; Office files need \
        `read_document`. Refuses directories (`not-a-file`), other bytes (`not-text`) and what \
        is over the read limit.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({
                "path": schema::path("File to read"),
                "offset": {
                    "type": "integer",
                    "description": "First line; negative: from the end",
                },
                "limit": { "type": "integer", "minimum": 1, "description": "Number of lines" },
                "max_bytes": { "type": "integer", "minimum": LEAST_TEXT },
                "cursor": schema::of("string"),
                "line_numbers": schema::of("boolean"),
                "clip": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Characters to show of a line",
                },
                "encoding": {
                    "type": "string",
                    "description": "Such as `windows-1252`, or `base64` for bytes",
                },
                "errors": { "type": "string", "enum": ["strict", "replace"] },
                "hash": { "type": "boolean", "description": "Add the file's `sha256`" },
            }),
            &["path"],
            json!({ "path": "notes/todo.txt", "offset": 1, "limit": 100 }),
        )
    }

    fn output_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": schema::of("string"),
                "root": schema::of("string"),
                "encoding": schema::of("string"),
                "size": schema::of("integer"),
                "version": schema::of("string"),
                "line_ending": {
                    "type": "string",
                    "enum": ["lf", "crlf", "cr", "mixed", "none"],
                },
                "bom": schema::of("boolean"),
                "lines": schema::of("integer"),
                "first_line": schema::of("integer"),
                "truncated": schema::of("boolean"),
                "next_offset": schema::of("integer"),
                "next_cursor": schema::of("string"),
                "sha256": schema::of("string"),
            },
            "required": ["path", "root", "encoding", "size", "version", "truncated"],
        })
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.path;
        let reading = read(path, &arguments.wish()?)?;
        let facts = reading.facts;
        Ok(Output::with(&Fields { path, facts }, reading.content))
    }
}

impl Arguments {
    fn wish(&self) -> Result<Wish, Failure> {
        Ok(Wish {
            choice: self.choice()?,
            replace: self.replace()?,
            part: self.part()?,
            hash: self.hash.unwrap_or(false),
        })
    }

    fn choice(&self) -> Result<Choice, Failure> {
        let Some(label) = &self.encoding else {
            return Ok(Choice::Detected);
        };
        let choice = Choice::named(label).map_err(|_| unknown_encoding(label))?;
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

    fn replace(&self) -> Result<bool, Failure> {
        match self.errors.as_deref() {
            None | Some("strict") => Ok(false),
            Some("replace") => Ok(true),
            Some(other) => {
                let near = nearest(other, ["strict", "replace"]).unwrap_or("replace");
                Err(
                    Failure::invalid_arguments(format!("`errors` is `{other}`")).hint(format!(
                        "give `strict`, the default, or `replace`; did you mean `{near}`?"
                    )),
                )
            }
        }
    }

    fn part(&self) -> Result<Option<Part>, Failure> {
        let style = Style {
            numbers: self.line_numbers.unwrap_or(false),
            clip: at_least(self.clip, 1, "clip")?.map(to_usize),
        };
        let part = Part {
            from: self.from()?,
            lines: at_least(self.limit, 1, "limit")?,
            most: most(self.max_bytes)?,
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

/// A limit on bytes of text, which no single character exceeds.
pub(super) fn most(max_bytes: Option<i64>) -> Result<Option<usize>, Failure> {
    let max_bytes = at_least(max_bytes, LEAST_TEXT as i64, "max_bytes")?;
    Ok(max_bytes.map(to_usize))
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn at_least(value: Option<i64>, least: i64, name: &str) -> Result<Option<u64>, Failure> {
    match value {
        Some(value) if value < least => {
            Err(Failure::invalid_arguments(format!("`{name}` is {value}"))
                .hint(format!("give at least {least}, or leave it out")))
        }
        value => Ok(value.map(i64::unsigned_abs)),
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
                    limit: Some(-1),
                    ..none()
                },
                "`limit` is -1",
            ),
            (
                Arguments {
                    limit: Some(0),
                    ..none()
                },
                "`limit` is 0",
            ),
            (
                Arguments {
                    max_bytes: Some(31),
                    ..none()
                },
                "`max_bytes` is 31",
            ),
            (
                Arguments {
                    clip: Some(0),
                    ..none()
                },
                "`clip` is 0",
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
                    errors: text("ignore"),
                    ..none()
                },
                "`errors` is `ignore`",
            ),
            (
                Arguments {
                    encoding: text("base64"),
                    limit: Some(3),
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
