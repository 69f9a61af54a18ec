//! `read_document`: a document of any kind as Markdown, in parts where it is long.

use crate::files::open;
use crate::ooxml::render;
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct ReadDocument;

/// Bytes of an answer when nothing is said about it: with its frame below the 256 KiB that a
/// result may have over MCP, for which it is no longer as JSON either.
const BYTES: usize = 200_000;
/// The least that may be asked for: a character has up to four bytes.
const LEAST: u64 = 4;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    #[schemars(extend("default" = BYTES))]
    max_bytes: Option<Within<LEAST, { u64::MAX }>>,
    /// From `next_cursor`
    cursor: Option<String>,
}

/// What was read.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
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
    type Fields = Fields;

    const NAME: &'static str = "read_document";
    const TITLE: &'static str = "Read a document";
    const DESCRIPTION: &'static str = "Returns a PowerPoint, Word or Excel file as Markdown: \
        headings, lists, tables, notes, comments. For parts use `read_pptx`, `read_docx`, \
        `read_xlsx`.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path":"reports/q3.docx"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let path = arguments.path;
        let most = arguments.max_bytes.map(usize::from);
        let rendered = render(open(&path)?.into_blocks())?;
        let text = rendered.text;
        let start = arguments.cursor.as_deref();
        let start = start.map_or(Ok(0), |cursor| position(cursor, &text))?;
        let most = most.unwrap_or_else(|| length_of_json(&text[start..], BYTES));
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
        Ok(Output::text(fields, &text[start..end]))
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

/// How much of a text takes so many bytes as JSON, quoted and escaped.
fn length_of_json(text: &str, most: usize) -> usize {
    let mut room = most;
    let mut fits = |byte: &u8| {
        let size = match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
            0..b' ' => 6,
            _ => 1,
        };
        let left = room.checked_sub(size);
        room = left.unwrap_or_default();
        left.is_some()
    };
    text.bytes()
        .take_while(|byte| fits(byte))
        .count()
        .max(LEAST as usize)
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
    fn what_json_escapes_counts_as_it_is_written() {
        for text in ["a\n\"b\\\u{1}ä".repeat(50_000), "x".repeat(300_000)] {
            let length = length_of_json(&text, BYTES);
            let part = text.get(..text.floor_char_boundary(length)).unwrap();
            let json = serde_json::to_string(part).unwrap().len() - 2;
            assert!(json <= BYTES && json > BYTES - 10, "{json}");
        }
        assert_eq!(length_of_json("abc", BYTES), 4);
    }

    #[test]
    fn other_cursors_are_refused() {
        for cursor in ["", "x", "3", "99"] {
            assert!(position(cursor, "# ä").is_err(), "{cursor}");
        }
        assert_eq!(position("2", "# ä"), Ok(2));
    }
}
