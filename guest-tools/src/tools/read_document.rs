//! `read_document`: a document of any kind as Markdown, in parts where it is long.

use super::schema;
use crate::files::open_for_reading;
use crate::ooxml::render;
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool.
pub(crate) struct ReadDocument;

/// Bytes of an answer when nothing is said about it: with its frame below the 256 KiB that a
/// result may have over MCP.
const BYTES: usize = 200_000;
/// The least that may be asked for: a character has up to four bytes.
const LEAST: u32 = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    max_bytes: Option<u32>,
    cursor: Option<String>,
}

#[derive(Serialize)]
struct Fields<'a> {
    path: &'a str,
    /// `pptx`, `docx` or `xlsx`, by what the file holds.
    r#type: &'static str,
    /// Bytes of the whole text.
    size: usize,
    warnings: Vec<String>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for ReadDocument {
    type Arguments = Arguments;

    const NAME: &'static str = "read_document";
    const TITLE: &'static str = "Read a document as Markdown";
    const DESCRIPTION: &'static str = "Returns a PowerPoint, Word or Excel file as Markdown: \
        headings, lists, tables, notes, comments. If `truncated`, pass `next_cursor` as \
        `cursor`. For parts use `read_pptx`, `read_docx`, `read_xlsx`. Refuses as `read_pptx`.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({
                "path": schema::path("Document to read"),
                "max_bytes": { "type": "integer", "minimum": LEAST, "default": BYTES },
                "cursor": schema::of("string"),
            }),
            &["path"],
            json!({ "path": "reports/q3.docx" }),
        )
    }

    fn output_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": schema::of("string"),
                "type": schema::of("string"),
                "size": schema::of("integer"),
                "warnings": { "type": "array", "items": schema::of("string") },
                "truncated": schema::of("boolean"),
                "next_cursor": schema::of("string"),
            },
            "required": ["path", "type", "size", "warnings", "truncated"],
        })
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.path;
        let most = most(arguments.max_bytes)?;
        let file = open_for_reading(path)?;
        let rendered = render(file.into_blocks())?;
        let text = rendered.text;
        let start = arguments.cursor.as_deref();
        let start = start.map_or(Ok(0), |cursor| position(cursor, &text))?;
        let end = cut(&text, start, most);
        let truncated = end < text.len();
        let fields = Fields {
            path,
            r#type: rendered.kind.ending(),
            size: text.len(),
            warnings: rendered.warnings,
            truncated,
            next_cursor: truncated.then(|| end.to_string()),
        };
        Ok(Output::text(&fields, text[start..end].to_owned()))
    }
}

fn most(given: Option<u32>) -> Result<usize, Failure> {
    match given {
        Some(given) if given < LEAST => Err(Failure::invalid_arguments(format!(
            "`max_bytes` is {given}"
        ))
        .hint(format!("give {LEAST} or more"))),
        given => Ok(given.map_or(BYTES, |given| given as usize)),
    }
}

/// Where to go on, if that is a place in this text.
fn position(cursor: &str, text: &str) -> Result<usize, Failure> {
    let position = cursor.parse().ok();
    let position = position.filter(|position| text.is_char_boundary(*position));
    position.ok_or_else(|| {
        Failure::invalid_arguments(format!(
            "`cursor` is `{cursor}`, which is no place in the text"
        ))
        .hint("pass `next_cursor` of the answer before; if the file has changed, start again")
    })
}

/// Where a part ends: behind a line, unless one line alone is too long.
fn cut(text: &str, start: usize, most: usize) -> usize {
    let end = start.saturating_add(most);
    if end >= text.len() {
        return text.len();
    }
    let end = text.floor_char_boundary(end);
    let line = text[start..end].rfind('\n');
    line.map_or(end, |line| start + line + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_behind_lines_and_make_up_the_whole() {
        let text = "# ä\n\nlong line ééé\nend";
        for most in 4..30 {
            let mut parts = Vec::new();
            let mut start = 0;
            while start < text.len() {
                let end = cut(text, start, most);
                assert!(end > start && end - start <= most);
                parts.push(&text[start..end]);
                start = end;
            }
            assert_eq!(parts.concat(), text);
        }
        assert_eq!(cut(text, 0, 8), 6);
    }

    #[test]
    fn other_cursors_are_refused() {
        for cursor in ["", "x", "3", "99"] {
            assert!(position(cursor, "# ä").is_err(), "{cursor}");
        }
        assert_eq!(position("2", "# ä"), Ok(2));
        assert!(most(Some(3)).is_err());
    }
}
