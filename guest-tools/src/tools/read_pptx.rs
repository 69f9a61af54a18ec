//! `read_pptx`: the text of a presentation.

use crate::files::open;
use crate::ooxml::{Deck, DeckOptions, read_deck};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The tool.
pub(crate) struct ReadPptx;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    /// Such as `2-5,9`
    slides: Option<String>,
    #[schemars(extend("default" = true))]
    notes: Option<bool>,
    /// Say what pictures show
    alt_text: Option<bool>,
}

/// What was read.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    #[serde(flatten)]
    deck: Deck,
}

impl Tool for ReadPptx {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "read_pptx";
    const TITLE: &'static str = "Read a presentation";
    const DESCRIPTION: &'static str = "Returns the text of a PowerPoint file (.pptx) slide by \
        slide: title, text, tables as tab-separated rows, notes, comments, hidden or not. \
        `warnings` lists what could not be read.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path":"slides/kickoff.pptx","slides":"1-3"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let ranges = arguments.slides.as_deref().map(ranges).transpose()?;
        let is_selected = |index: usize| {
            let mut ranges = ranges.iter().flatten();
            ranges.any(|range| range.contains(&index))
        };
        let options = DeckOptions {
            with_notes: arguments.notes.unwrap_or(true),
            with_alternatives: arguments.alt_text.unwrap_or(false),
            with_links: false,
            selection: ranges
                .is_some()
                .then_some(&is_selected as &dyn Fn(usize) -> bool),
        };
        let path = arguments.path;
        let deck = read_deck(open(&path)?.into_blocks(), &options)?;
        if let (Some(slides), true) = (&arguments.slides, deck.slides.is_empty()) {
            return Err(no_such_slide(slides, deck.count.unwrap_or_default()).into());
        }
        Ok(Output::new(Fields { path, deck }))
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
