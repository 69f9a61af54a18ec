//! `read_docx`: the text of a Word document.

use super::schema;
use crate::files::open_for_reading;
use crate::ooxml::{Document, DocumentOptions, read_docx};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool.
pub(crate) struct ReadDocx;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    changes: Option<bool>,
}

#[derive(Serialize)]
struct Fields<'a> {
    path: &'a str,
    #[serde(flatten)]
    document: Document,
}

impl Tool for ReadDocx {
    type Arguments = Arguments;

    const NAME: &'static str = "read_docx";
    const TITLE: &'static str = "Read a Word document";
    const DESCRIPTION: &'static str = "Returns the blocks of a Word file (.docx) in order: \
        headings with `level`, paragraphs, list items, tables as `rows`, text boxes; then \
        notes, comments, headers, footers. Tracked changes are accepted. Long ones: \
        `read_document`. Refuses as `read_pptx`.";
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
                "changes": {
                    "type": "boolean",
                    "description": "Mark tracked changes: `{++in++}`, `{--out--}`",
                },
            }),
            &["path"],
            json!({ "path": "contracts/lease.docx" }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "path": schema::of("string"),
            "blocks": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "type": schema::of("string"),
                    "level": schema::of("integer"),
                    "label": { "type": "string", "description": "the number before the text" },
                    "author": schema::of("string"),
                    "text": schema::of("string"),
                    "rows": { "type": "array", "description": "arrays of strings" },
                },
                "required": ["type"],
            }},
            "warnings": { "type": "array", "items": schema::of("string") },
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.path;
        let options = DocumentOptions {
            with_changes: arguments.changes.unwrap_or(false),
            ..DocumentOptions::default()
        };
        let file = open_for_reading(path)?;
        let document = read_docx(file.into_blocks(), options)?;
        Ok(Output::fields(&Fields { path, document }))
    }
}
