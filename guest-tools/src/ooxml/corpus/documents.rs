//! Word documents beside python-docx.

use super::{Format, Reference, compare, items, strings};
use crate::ooxml::document::BlockKind;
use crate::ooxml::{DocumentOptions, Error, read_docx};
use serde_json::Value;
use std::io::Cursor;

/// What python-docx does not look at.
const BESIDE: [BlockKind; 4] = [
    BlockKind::TextBox,
    BlockKind::Footnote,
    BlockKind::Endnote,
    BlockKind::Comment,
];

#[test]
fn documents_are_read_as_well_as_by_python_docx() {
    compare(&Format {
        folder: "docx",
        reader: "python-docx",
        reference,
        ours,
    });
}

fn ours(file: Cursor<&[u8]>) -> Result<Vec<String>, Error> {
    let blocks = read_docx(file, DocumentOptions::default())?.blocks;
    let known = blocks.iter().filter(|block| !BESIDE.contains(&block.kind));
    Ok(known.map(|block| block.lines()).collect())
}

fn reference(expected: &Value) -> Reference {
    let mut reference = Reference::default();
    items(&expected["body"]).for_each(|block| add_block(block, &mut reference, true));
    for margin in items(&expected["headers_footers"]) {
        // Sections repeat them, and ours says each once.
        strings(&margin["paragraphs"]).for_each(|text| reference.allow(text));
    }
    reference
}

fn add_block(block: &Value, reference: &mut Reference, is_required: bool) {
    if let Some(text) = block["p"].as_str() {
        match is_required {
            true => reference.require(text),
            false => reference.allow(text),
        }
    }
    let rows: Vec<_> = items(&block["table"]).collect();
    for (index, row) in rows.iter().enumerate() {
        for (column, cell) in items(row).enumerate() {
            // A merged cell is repeated in all the places that it covers.
            let left = column.checked_sub(1).map(|column| &row[column]);
            let above = index.checked_sub(1).map(|index| &rows[index][column]);
            let is_repeated = [left, above].contains(&Some(cell));
            items(cell).for_each(|block| add_block(block, reference, is_required && !is_repeated));
        }
    }
}
