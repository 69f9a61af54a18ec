//! Presentations beside python-pptx.

use super::{Format, Reference, compare, items, strings};
use crate::ooxml::{DeckOptions, Error, read_deck};
use serde_json::Value;
use std::io::Cursor;

#[test]
fn presentations_are_read_as_well_as_by_python_pptx() {
    compare(&Format {
        folder: "pptx",
        reader: "python-pptx",
        reference,
        ours,
    });
}

fn ours(file: Cursor<&[u8]>) -> Result<Vec<String>, Error> {
    let options = DeckOptions {
        with_notes: true,
        ..DeckOptions::default()
    };
    let slides = read_deck(file, &options)?.slides.into_iter();
    let texts = slides.flat_map(|slide| [Some(slide.text()), slide.notes.flatten()]);
    Ok(texts.flatten().collect())
}

fn reference(expected: &Value) -> Reference {
    let mut reference = Reference::default();
    for slide in items(&expected["slides"]) {
        strings(&slide["notes"]).for_each(|note| reference.require(note));
        items(&slide["shapes"]).for_each(|shape| add_shape(shape, &mut reference));
        for branch in items(&slide["alternate_content"]).flat_map(items) {
            strings(&branch["paragraphs"]).for_each(|text| reference.allow(text));
        }
        for point in items(&slide["smartart"]).flat_map(|diagram| items(&diagram["points"])) {
            strings(point).for_each(|text| reference.allow(text));
        }
    }
    reference
}

fn add_shape(shape: &Value, reference: &mut Reference) {
    strings(&shape["paragraphs"]).for_each(|text| reference.require(text));
    for cell in items(&shape["table"]).flat_map(items) {
        // A cell that is merged into another one shows nothing of its own.
        match cell["spanned"] == true {
            true => strings(&cell["paragraphs"]).for_each(|text| reference.allow(text)),
            false => strings(&cell["paragraphs"]).for_each(|text| reference.require(text)),
        }
    }
    items(&shape["children"]).for_each(|child| add_shape(child, reference));
}
