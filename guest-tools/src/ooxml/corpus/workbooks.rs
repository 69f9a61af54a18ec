//! Workbooks beside openpyxl.

use super::{Format, Reference, compare, items};
use crate::ooxml::workbook::{Row, Sheet, letters};
use crate::ooxml::{Error, WorkbookError, WorkbookOptions, read_xlsx};
use serde_json::Value;
use std::io::Cursor;

#[test]
fn workbooks_are_read_as_well_as_by_openpyxl() {
    compare(&Format {
        folder: "xlsx",
        reader: "openpyxl",
        reference,
        ours,
    });
}

fn ours(file: Cursor<&[u8]>) -> Result<Vec<String>, Error> {
    let book = read_xlsx(file, &WorkbookOptions::default()).map_err(|error| match error {
        WorkbookError::Document(error) => error,
        WorkbookError::NoSuchSheet(_) => unreachable!("no sheet was asked for"),
    })?;
    let sheets = book.sheets.iter();
    Ok(sheets.flat_map(lines_of_sheet).collect())
}

fn lines_of_sheet(sheet: &Sheet) -> Vec<String> {
    let head = format!("{} is {}", sheet.name, sheet.visibility);
    let cells = sheet.rows.iter().flat_map(|row: &Row| {
        row.cells.iter().map(|(column, value)| {
            let place = format!("{}{}", letters(*column), row.row);
            line(&sheet.name, &place, &value.text())
        })
    });
    std::iter::once(head).chain(cells).collect()
}

fn reference(expected: &Value) -> Reference {
    let mut reference = Reference::default();
    for sheet in items(&expected["sheets"]) {
        let name = sheet["name"].as_str().unwrap();
        let state = sheet["state"].as_str().unwrap();
        reference.require(&format!("{name} is {state}"));
        for (place, value) in sheet["cells"].as_object().into_iter().flatten() {
            reference.require(&line(name, place, &text(value)));
        }
    }
    reference
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => if *flag { "TRUE" } else { "FALSE" }.to_owned(),
        Value::Number(number) => number.as_f64().unwrap().to_string(),
        Value::Object(object) => match object.get("iso") {
            Some(iso) => iso.as_str().unwrap().to_owned(),
            None => format!("{} seconds", object["seconds"]),
        },
        other => other.to_string(),
    }
}

/// A cell on one line. Midnight and further digits are written differently.
fn line(sheet: &str, place: &str, value: &str) -> String {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let value = value.trim_end_matches("T00:00:00");
    // The parser of the reference may be off by the last of seventeen digits.
    let rounded = value.parse::<f64>().map(|number| format!("{number:.12e}"));
    let value = rounded.as_deref().unwrap_or(value);
    let value = match value.split_once('.') {
        Some((_, rest)) if value.contains(':') && rest.bytes().all(|b| b.is_ascii_digit()) => {
            value.trim_end_matches('0')
        }
        _ => value,
    };
    format!("{sheet}!{place} = {value}")
}
