//! `read_pptx`: the text of a presentation.

use super::schema;
use crate::files::open_for_reading;
use crate::ooxml::{Deck, DeckOptions, read_deck};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// The tool.
pub(crate) struct ReadPptx;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    slides: Option<String>,
    notes: Option<bool>,
    alt_text: Option<bool>,
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
    const DESCRIPTION: &'static str = "Returns the text of a PowerPoint file (.pptx) slide by \
        slide: title, text, tables as tab-separated rows, notes, comments, hidden or not. \
        `warnings` lists what could not be read. Refuses other formats (`unsupported-document`) \
        and damaged files (`malformed-document`).";
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
                "slides": { "type": "string", "description": "Such as `2-5,9`" },
                "notes": { "type": "boolean", "default": true },
                "alt_text": { "type": "boolean", "description": "Say what pictures show" },
            }),
            &["path"],
            json!({ "path": "slides/kickoff.pptx", "slides": "1-3" }),
        )
    }

    fn output_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": schema::of("string"),
                "slides": { "type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "index": schema::of("integer"),
                        "title": { "description": "string, or null without one" },
                        "text": schema::of("string"),
                        "notes": { "description": "string, or null without any" },
                        "hidden": schema::of("boolean"),
                        "comments": { "type": "array", "description": "of author and text" },
                    },
                    "required": ["index", "title", "text", "hidden"],
                }},
                "count": schema::of("integer"),
                "warnings": { "type": "array", "items": schema::of("string") },
            },
            "required": ["path", "slides", "warnings"],
        })
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.path;
        let ranges = arguments.slides.as_deref().map(ranges).transpose()?;
        let is_selected = |index: usize| {
            let mut ranges = ranges.iter().flatten();
            ranges.any(|range| range.contains(&index))
        };
        let options = DeckOptions {
            with_notes: arguments.notes.unwrap_or(true),
            with_alternatives: arguments.alt_text.unwrap_or(false),
            selection: ranges
                .is_some()
                .then_some(&is_selected as &dyn Fn(usize) -> bool),
        };
        let file = open_for_reading(path)?;
        let deck = read_deck(file.into_blocks(), &options)?;
        if let (Some(slides), true) = (&arguments.slides, deck.slides.is_empty()) {
            return Err(no_such_slide(slides, deck.count.unwrap_or_default()).into());
        }
        Ok(Output::fields(&Fields { path, deck }))
    }
}

/// Ranges such as `2-5,9`, of numbers from 1.
fn ranges(text: &str) -> Result<Vec<RangeInclusive<usize>>, Failure> {
    let range = |piece: &str| {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let first: usize = first.trim().parse().ok()?;
        let last: usize = last.trim().parse().ok()?;
        (1 <= first && first <= last).then_some(first..=last)
    };
    let ranges = text.split(',').map(range).collect();
    Option::ok_or_else(ranges, || {
        Failure::invalid_arguments(format!("`slides` is `{text}`, which names no slides"))
            .hint("give numbers and ranges from 1, such as `2-5,9`")
    })
}

fn no_such_slide(slides: &str, count: usize) -> Failure {
    Failure::invalid_arguments(format!(
        "`slides` is `{slides}`, and the presentation has {count} slides"
    ))
    .hint("leave out `slides` to read all of them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slides_are_named_by_numbers_and_ranges() {
        assert_eq!(ranges("2-5, 9"), Ok(vec![2..=5, 9..=9]));
        for text in ["", "0", "5-2", "a", "1,", "-3", "1-"] {
            assert_eq!(
                ranges(text).unwrap_err().code,
                "invalid-arguments",
                "{text}"
            );
        }
    }
}
