//! `read_pptx`: the text of a presentation.

use super::schema;
use crate::files::open_for_reading;
use crate::ooxml::{Deck, read_deck};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool.
pub(crate) struct ReadPptx;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    notes: Option<bool>,
}

#[derive(Serialize)]
struct Fields<'a> {
    path: &'a str,
    #[serde(flatten)]
    deck: Deck,
}

impl Tool for ReadPptx {
    type Arguments = Arguments;

    const NAME: &'static str = "read_pptx";
    const TITLE: &'static str = "Read a presentation";
    const DESCRIPTION: &'static str = "Returns the text of a PowerPoint file (.pptx), slide by \
        slide in the order of the show: title, text with tables as tab-separated rows, speaker \
        notes, and whether the slide is hidden. What could not be read is listed in `warnings`. \
        Refuses old .ppt, password-protected and other documents (`unsupported-document`) and \
        damaged ones (`malformed-document`).";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({
                "path": schema::path("Presentation to read"),
                "notes": {
                    "type": "boolean",
                    "default": true,
                    "description": "Include speaker notes",
                },
            }),
            &["path"],
            json!({ "path": "slides/kickoff.pptx", "notes": false }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "path": schema::of("string"),
            "slides": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "index": schema::of("integer"),
                    "title": { "description": "string, or null without one" },
                    "text": schema::of("string"),
                    "notes": { "description": "string, or null without any" },
                    "hidden": schema::of("boolean"),
                },
                "required": ["index", "title", "text", "hidden"],
            }},
            "warnings": { "type": "array", "items": schema::of("string") },
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.path;
        let file = open_for_reading(path)?;
        let deck = read_deck(file.into_blocks(), arguments.notes.unwrap_or(true))?;
        Ok(Output::fields(&Fields { path, deck }))
    }
}
