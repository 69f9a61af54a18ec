//! Tables in documents (ECMA-376 part 1, 17.4).

use super::body::{Body, DELETED, INSERTED, marked};
use crate::ooxml::Error;
use crate::ooxml::table::Rows;
use crate::ooxml::xml::{Element, Space, Xml};
use std::borrow::Cow;

/// Columns that one cell may span; Word has no more in a table.
const MAX_SPAN: usize = 63;

/// What a cell says of itself.
#[derive(Default)]
struct Cell {
    span: usize,
    is_continuation: bool,
    is_inserted: bool,
    is_deleted: bool,
}

/// What a row says of itself.
#[derive(Default)]
struct Row {
    /// Columns left out before the first cell.
    before: usize,
    is_inserted: bool,
    is_deleted: bool,
}

/// The rows of a table, each cell in the columns that it spans.
pub(super) fn rows(
    body: &mut Body<'_>,
    xml: &mut Xml<'_>,
    table: &Element<'_>,
) -> Result<Rows, Error> {
    let mut rows = Rows::new();
    walk(body, xml, table, &mut rows)?;
    Ok(rows)
}

/// Rows stand in the table, or in content controls and the like.
fn walk(
    body: &mut Body<'_>,
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    rows: &mut Rows,
) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Word, "tr") => rows.extend(row(body, xml, &child)?),
            (Space::Word, "del" | "moveFrom") if !body.with_changes() => {}
            (Space::Word, name @ ("ins" | "moveTo" | "del" | "moveFrom")) => {
                let first = rows.len();
                walk(body, xml, &child, rows)?;
                let is_inserted = matches!(name, "ins" | "moveTo");
                let further = rows[first..].iter_mut();
                further.for_each(|row| mark(body, row, is_inserted, !is_inserted));
            }
            (Space::Word, name) if !name.ends_with("Pr") => walk(body, xml, &child, rows)?,
            _ => {}
        }
    }
    Ok(())
}

fn row(
    body: &mut Body<'_>,
    xml: &mut Xml<'_>,
    element: &Element<'_>,
) -> Result<Option<Vec<Option<String>>>, Error> {
    let mut row = Row::default();
    let mut cells = Vec::new();
    walk_row(body, xml, element, &mut row, &mut cells)?;
    if row.is_deleted && !body.with_changes() {
        return Ok(None);
    }
    let mut whole = vec![None; row.before.min(MAX_SPAN)];
    body.count_cells(whole.len())?;
    mark(body, &mut cells, row.is_inserted, row.is_deleted);
    whole.append(&mut cells);
    Ok(Some(whole))
}

/// Marks cells as inserted or deleted, when that is asked for.
fn mark(body: &Body<'_>, cells: &mut [Option<String>], is_inserted: bool, is_deleted: bool) {
    if !body.with_changes() {
        return;
    }
    for cell in cells.iter_mut().flatten() {
        if is_inserted {
            *cell = marked(cell, INSERTED);
        }
        if is_deleted {
            *cell = marked(cell, DELETED);
        }
    }
}

fn walk_row(
    body: &mut Body<'_>,
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    row: &mut Row,
    cells: &mut Vec<Option<String>>,
) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Word, "trPr") => row.read(xml, &child)?,
            (Space::Word, "tc") => cell(body, xml, &child, cells)?,
            (Space::Word, name) if !name.ends_with("Pr") => {
                walk_row(body, xml, &child, row, cells)?;
            }
            _ => {}
        }
    }
    Ok(())
}

impl Row {
    fn read(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            let value = xml.attribute_in(&child, Space::Word, "val")?;
            match child.name() {
                (Space::Word, "gridBefore") => self.before = number(value),
                (Space::Word, "ins") => self.is_inserted = true,
                (Space::Word, "del") => self.is_deleted = true,
                _ => {}
            }
        }
        Ok(())
    }
}

fn cell(
    body: &mut Body<'_>,
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    cells: &mut Vec<Option<String>>,
) -> Result<(), Error> {
    // Properties come first (17.4.66), so that the text can be left unread.
    let mut cell = Cell::default();
    let mut text = Vec::new();
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Word, "tcPr") => cell.read(xml, &child)?,
            _ if cell.is_continuation => {}
            _ => text.extend(body.one(xml, &child)?),
        }
    }
    if cell.is_deleted && !body.with_changes() {
        return Ok(());
    }
    let further = cell.span.clamp(1, MAX_SPAN) - 1;
    body.count_cells(1 + further)?;
    let mut text = [(!cell.is_continuation).then(|| text.join("\n"))];
    mark(body, &mut text, cell.is_inserted, cell.is_deleted);
    cells.extend(text);
    cells.extend(std::iter::repeat_n(None, further));
    Ok(())
}

impl Cell {
    fn read(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            let value = xml.attribute_in(&child, Space::Word, "val")?;
            match child.name() {
                (Space::Word, "gridSpan") => self.span = number(value),
                (Space::Word, "vMerge" | "hMerge") => {
                    // Without a value the cell continues the one before it (17.4.84).
                    self.is_continuation |= value.is_none_or(|value| value != "restart");
                }
                (Space::Word, "cellIns") => self.is_inserted = true,
                (Space::Word, "cellDel") => self.is_deleted = true,
                _ => {}
            }
        }
        Ok(())
    }
}

fn number(value: Option<Cow<'_, str>>) -> usize {
    let number = value.and_then(|value| value.trim().parse().ok());
    number.unwrap_or_default()
}
