//! `read_docx`: the text of a Word document.

use super::shared::Positive;
use crate::files::open;
use crate::ooxml::{Block, Document, DocumentOptions, read_docx};
use crate::rows::PAGE_BYTES;
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Blocks that are answered when nothing is said about it.
const BLOCKS: usize = 10_000;

/// The tool.
pub(crate) struct ReadDocx;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    /// Mark tracked changes: `{++in++}`, `{--out--}`
    changes: Option<bool>,
    /// Blocks
    limit: Option<Positive>,
    /// From `next_cursor`
    cursor: Option<String>,
}

/// What was read.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    #[serde(flatten)]
    document: Document,
    /// Blocks of the whole document.
    count: usize,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for ReadDocx {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "read_docx";
    const TITLE: &'static str = "Read a Word document";
    const DESCRIPTION: &'static str = "Returns the blocks of a Word file (.docx) in order: \
        headings with `level`, paragraphs, list items, table `rows`, text boxes, `links`; then \
        notes, comments, headers, footers. Tracked changes are accepted.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path":"contracts/lease.docx"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let path = arguments.path;
        let options = DocumentOptions {
            with_changes: arguments.changes.unwrap_or(false),
            ..DocumentOptions::default()
        };
        let start = arguments.cursor.as_deref().map_or(Ok(0), position)?;
        let limit = arguments.limit.map_or(BLOCKS, usize::from);
        let mut document = read_docx(open(&path)?.into_blocks(), options)?;
        let count = document.blocks.len();
        if start > 0 && start >= count {
            return Err(no_place(&start.to_string()).into());
        }
        document.blocks.drain(..start);
        let fields = Fields {
            path,
            document,
            count,
            truncated: false,
            next_cursor: None,
        };
        if fields.document.blocks.len() <= limit
            && let Some(whole) = on_one_page(&fields)
        {
            return Ok(Output::written(whole));
        }
        let Fields {
            path, mut document, ..
        } = fields;
        let length = page(&document.blocks, limit);
        document.blocks.truncate(length);
        let next = start + length;
        let truncated = next < count;
        Ok(Output::new(Fields {
            path,
            document,
            count,
            truncated,
            next_cursor: truncated.then(|| next.to_string()),
        }))
    }
}

/// An answer that is no longer than a page with all that is around its blocks: most are, and need
/// not be written twice.
fn on_one_page(fields: &Fields) -> Option<String> {
    let texts = fields.document.blocks.iter().map(Block::length);
    if texts.sum::<usize>() > PAGE_BYTES {
        return None;
    }
    let whole = serde_json::to_string(fields).ok()?;
    (whole.len() <= PAGE_BYTES).then_some(whole)
}

/// How many blocks an answer has: so many, or as many as a page takes, and one in any case.
fn page(blocks: &[impl Serialize], limit: usize) -> usize {
    let mut room = PAGE_BYTES;
    let fits = |block: &&_| {
        let size = serde_json::to_vec(*block).map_or(0, |json| json.len() + 1);
        let left = room.checked_sub(size);
        room = left.unwrap_or_default();
        left.is_some()
    };
    let count = blocks.iter().take(limit).take_while(fits).count();
    count.max(blocks.len().min(1))
}

/// Where to go on: how many blocks were read.
fn position(cursor: &str) -> Result<usize, Failure> {
    cursor.parse().map_err(|_| no_place(cursor))
}

fn no_place(cursor: &str) -> Failure {
    Failure::invalid_arguments(format!("`cursor` is `{cursor}`, which no answer gave"))
        .hint("pass `next_cursor` of the answer before; if the file has changed, start again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_by_blocks_or_by_bytes_and_has_one_at_least() {
        let blocks = vec!["\"".repeat(1000); 500];
        assert_eq!(page(&blocks, 7), 7);
        let count = page(&blocks, usize::MAX);
        let json = serde_json::to_string(&blocks[..count]).unwrap();
        assert!(
            json.len() <= PAGE_BYTES && json.len() > PAGE_BYTES - 4000,
            "{count}"
        );
        assert_eq!(page(&["x".repeat(PAGE_BYTES), String::new()], 9), 1);
        assert_eq!(page(&[""; 0], 9), 0);
    }
}
