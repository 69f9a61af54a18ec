//! The cells of a sheet (ECMA-376 part 1, 18.3), as many as there is room for.

use super::beside::Comment;
use super::dates::iso;
use super::formats::Formats;
use super::formulas::{self, Shared};
use super::links::{self, Hyperlink};
use super::place::{Place, Range, letters};
use super::strings::{Strings, rich_text, unescaped};
use super::value::Value;
use super::{Position, WorkbookOptions};
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, check};
use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Cells that one answer holds; what is left comes with the next one.
const MAX_ANSWERED: usize = 200_000;
/// Bytes of text that one answer holds.
const MAX_SIZE: usize = 8 * 1024 * 1024;
/// Cells that one call looks at.
const MAX_CELLS: u64 = 4_000_000;
/// Merged ranges of one sheet that are told of.
const MAX_MERGED: u64 = 10_000;

/// Looks at whether a merged range covers a cell. Ranges that do not overlap, as Excel's never
/// do, need few.
const MAX_LOOKS: u64 = 5_000_000;

/// A sheet, or the rows of it that were asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    /// `visible`, `hidden` or `veryHidden` (18.18.68).
    pub(crate) visibility: String,
    /// From the first cell to the last one, of the whole sheet; nothing without any.
    pub(crate) dimension: Option<String>,
    pub(crate) rows: Vec<Row>,
    /// Ranges that are shown as one cell, whose value stands in the first one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) merged: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) comments: Vec<Comment>,
    /// The text of text boxes and charts; left out when a range or a further part is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) drawings: Vec<String>,
    /// Formulas that were saved without a value.
    #[serde(skip)]
    pub(super) without_value: u64,
    /// What leads somewhere, until that is written into the values.
    #[serde(skip)]
    pub(super) hyperlinks: Vec<Hyperlink>,
}

/// A row that holds anything.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Row {
    pub(crate) row: u32,
    #[serde(serialize_with = "by_column")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(crate) cells: Vec<(u32, Value)>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_column")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(crate) formulas: Vec<(u32, Value)>,
    #[serde(skip)]
    without_value: u64,
}

impl Row {
    fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.formulas.is_empty()
    }
}

fn by_column<S: Serializer>(cells: &[(u32, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(cells.len()))?;
    for (column, value) in cells {
        map.serialize_entry(&letters(*column), value)?;
    }
    map.end()
}

/// What the sheets of a workbook share.
pub(super) struct Book {
    pub(super) strings: Strings,
    pub(super) formats: Formats,
    pub(super) dates_from_1904: bool,
}

/// What is answered: a range of each sheet, from a row on, while there is room.
pub(super) struct Window {
    range: Range,
    with_formulas: bool,
    pub(super) with_links: bool,
    rows_left: usize,
    cells_left: usize,
    size_left: usize,
    /// Cells that were looked at.
    seen: u64,
    /// The sheet that is being read, and the first row of it.
    position: Position,
    /// The first row that there was no room for.
    pub(super) next: Option<Position>,
}

impl Window {
    pub(super) fn new(options: &WorkbookOptions<'_>) -> Self {
        Self {
            range: options.range,
            with_formulas: options.with_formulas,
            with_links: options.with_links,
            rows_left: options.limit,
            cells_left: MAX_ANSWERED,
            size_left: MAX_SIZE,
            seen: 0,
            position: options.start,
            next: None,
        }
    }

    /// Goes on with a sheet, from its first row unless it is the one to start in.
    pub(super) fn enter(&mut self, sheet: usize, options: &WorkbookOptions<'_>) {
        let is_first = sheet == options.start.sheet;
        let row = if is_first { options.start.row } else { 0 };
        self.position = Position { sheet, row };
    }

    pub(super) fn is_closed(&self) -> bool {
        self.next.is_some()
    }

    /// Whether a sheet is read from its start, and all its columns and rows.
    pub(super) fn is_whole_sheet(&self) -> bool {
        self.position.row == 0 && self.range == Range::default()
    }

    /// Whether a cell is among the rows that this answer holds.
    pub(super) fn covers(&self, place: Place) -> bool {
        let end = self.next.map_or(u32::MAX, |next| next.row);
        let rows = self.position.row..end;
        rows.contains(&place.row) && self.range.contains(place)
    }

    fn wants(&self, place: Place) -> bool {
        !self.is_closed() && place.row >= self.position.row && self.range.contains(place)
    }

    /// Takes a row in, or closes when there is no room for it.
    fn take(&mut self, row: &Row) -> bool {
        let values = row.cells.iter().chain(&row.formulas);
        let size: usize = values.map(|(_, value)| value.size()).sum();
        let left = (
            self.rows_left.checked_sub(1),
            self.cells_left.checked_sub(row.cells.len()),
            self.size_left.checked_sub(size),
        );
        // A row too large for any answer is an answer by itself.
        let is_first = self.cells_left == MAX_ANSWERED && self.size_left == MAX_SIZE;
        match left {
            (Some(rows), Some(cells), Some(size)) => {
                (self.rows_left, self.cells_left, self.size_left) = (rows, cells, size);
                true
            }
            (Some(rows), ..) if is_first => {
                (self.rows_left, self.cells_left, self.size_left) = (rows, 0, 0);
                true
            }
            _ => {
                let sheet = self.position.sheet;
                self.next = Some(Position {
                    sheet,
                    row: row.row,
                });
                false
            }
        }
    }
}

impl Sheet {
    pub(super) fn new(name: &str, visibility: &str) -> Self {
        Self {
            name: name.to_owned(),
            visibility: visibility.to_owned(),
            dimension: None,
            rows: Vec::new(),
            merged: Vec::new(),
            comments: Vec::new(),
            drawings: Vec::new(),
            without_value: 0,
            hyperlinks: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.comments.is_empty() && self.drawings.is_empty()
    }

    /// Reads the cells of a worksheet.
    pub(super) fn read(
        &mut self,
        xml: &mut Xml<'_>,
        root: &Element<'_>,
        book: &Book,
        window: &mut Window,
    ) -> Result<(), Error> {
        let mut used = None;
        let mut merged = Vec::new();
        while let Some(child) = xml.child(root)? {
            match child.name() {
                (Space::Sheet, "sheetData") => self.rows(xml, &child, book, window, &mut used)?,
                (Space::Sheet, "mergeCells") => merged = merged_ranges(xml, &child)?,
                (Space::Sheet, "hyperlinks") if window.with_links => {
                    self.hyperlinks = links::read(xml, &child)?;
                }
                _ => {}
            }
        }
        self.dimension = used.map(|used: Range| used.name());
        self.rows.sort_by_key(|row| row.row);
        self.uncover(&merged)?;
        self.rows.retain(|row| !row.is_empty());
        self.merged = merged.iter().map(Range::name).collect();
        Ok(())
    }

    /// Removes what stands under merged cells, where nobody sees it.
    fn uncover(&mut self, merged: &[Range]) -> Result<(), Error> {
        let mut waiting: Vec<_> = merged.to_vec();
        // The last one is the next that begins.
        waiting.sort_by_key(|range| std::cmp::Reverse(range.first.row));
        let mut here: Vec<Range> = Vec::new();
        let mut looks = 0;
        for row in &mut self.rows {
            while let Some(range) = waiting.pop_if(|range| range.first.row <= row.row) {
                here.push(range);
            }
            here.retain(|range| range.last.row >= row.row);
            looks += (here.len() * row.cells.len()) as u64;
            check("cells of merged ranges", MAX_LOOKS, looks)?;
            let number = row.row;
            row.cells.retain(|(column, _)| {
                let place = Place {
                    column: *column,
                    row: number,
                };
                let covers = |range: &Range| range.contains(place) && range.first != place;
                !here.iter().any(covers)
            });
        }
        Ok(())
    }

    fn rows(
        &mut self,
        xml: &mut Xml<'_>,
        data: &Element<'_>,
        book: &Book,
        window: &mut Window,
        used: &mut Option<Range>,
    ) -> Result<(), Error> {
        let mut number = 0;
        let mut shared = Shared::default();
        while let Some(child) = xml.child(data)? {
            if child.name() != (Space::Sheet, "row") {
                continue;
            }
            let given = xml.attribute(&child, "r")?;
            let given = given.and_then(|given| given.trim().parse().ok());
            number = given.unwrap_or(number + 1);
            let row = read_row(xml, &child, number, book, window, used, &mut shared)?;
            self.without_value += row.without_value;
            if !row.is_empty() && window.take(&row) {
                self.rows.push(row);
            }
        }
        Ok(())
    }
}

fn read_row(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    number: u32,
    book: &Book,
    window: &mut Window,
    used: &mut Option<Range>,
    shared: &mut Shared,
) -> Result<Row, Error> {
    let mut row = Row {
        row: number,
        cells: Vec::new(),
        formulas: Vec::new(),
        without_value: 0,
    };
    let mut column = 0;
    while let Some(child) = xml.child(element)? {
        if child.name() != (Space::Sheet, "c") {
            continue;
        }
        window.seen += 1;
        check("cells", MAX_CELLS, window.seen)?;
        let cell = Cell::of(xml, &child)?;
        // A cell need not say where it is (18.3.1.4).
        column = cell.place.map_or(column + 1, |place| place.column);
        let place = Place {
            column,
            row: number,
        };
        let range = Range {
            first: place,
            last: place,
        };
        used.get_or_insert(range).include(place);
        if !window.wants(place) {
            if window.with_formulas && !window.is_closed() {
                shared.note(xml, &child, place)?;
            }
        } else {
            let shared = window.with_formulas.then_some(&mut *shared);
            let (value, formula) = cell.read(xml, &child, place, book, shared)?;
            row.without_value += u64::from(value.is_none() && formula.is_some());
            // A shared string may stand in any number of cells.
            xml.count_text(value.as_ref().map_or(0, Value::size))?;
            row.cells.extend(value.map(|value| (column, value)));
            let formula = formula.filter(|_| window.with_formulas);
            // So may a shared formula.
            xml.count_text(formula.as_ref().map_or(0, String::len))?;
            row.formulas
                .extend(formula.map(|formula| (column, Value::Text(formula))));
        }
    }
    row.cells.sort_by_key(|(column, _)| *column);
    Ok(row)
}

fn merged_ranges(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Vec<Range>, Error> {
    let mut ranges = Vec::new();
    while let Some(child) = xml.child(element)? {
        if child.name() == (Space::Sheet, "mergeCell") {
            check("merged ranges", MAX_MERGED, ranges.len() as u64 + 1)?;
            let range = xml.attribute(&child, "ref")?;
            ranges.extend(range.as_deref().and_then(Range::parse));
        }
    }
    Ok(ranges)
}

/// What the tag of a cell says.
#[derive(Default)]
struct Cell {
    place: Option<Place>,
    style: usize,
    kind: Option<String>,
}

impl Cell {
    fn of(xml: &Xml<'_>, element: &Element<'_>) -> Result<Self, Error> {
        let mut cell = Self::default();
        xml.attributes(element, |name, value| match name {
            "r" => cell.place = Place::parse(value),
            "s" => cell.style = value.trim().parse().unwrap_or_default(),
            "t" => cell.kind = Some(value.to_owned()),
            _ => {}
        })?;
        Ok(cell)
    }

    /// Its value, and its formula.
    fn read(
        &self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        place: Place,
        book: &Book,
        mut shared: Option<&mut Shared>,
    ) -> Result<(Option<Value>, Option<String>), Error> {
        let mut value = String::new();
        let mut inline = String::new();
        let mut formula = None;
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Sheet, "v") => xml.text(&child, &mut value)?,
                (Space::Sheet, "is") => rich_text(xml, &child, &mut inline)?,
                (Space::Sheet, "f") => {
                    formula = formulas::read(xml, &child, place, shared.as_deref_mut())?;
                }
                _ => {}
            }
        }
        Ok((self.value(&value, &inline, book), formula))
    }

    /// The value by the type of the cell (18.18.11, `ST_CellType`).
    fn value(&self, value: &str, inline: &str, book: &Book) -> Option<Value> {
        let text = |text: &str| (!text.is_empty()).then(|| Value::Text(text.to_owned()));
        match self.kind.as_deref() {
            Some("s") => text(book.strings.get(value.trim().parse().ok()?)?),
            Some("inlineStr") => text(&unescaped(if inline.is_empty() { value } else { inline })),
            Some("str") => text(&unescaped(value)),
            Some("b") => match value.trim() {
                "" => None,
                value => Some(Value::Flag(value == "1" || value == "true")),
            },
            Some("e" | "d") => text(value.trim()),
            _ => self.number(value.trim(), book).or_else(|| text(inline)),
        }
    }

    fn number(&self, value: &str, book: &Book) -> Option<Value> {
        let number = value
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite());
        let Some(number) = number else {
            return (!value.is_empty()).then(|| Value::Text(value.to_owned()));
        };
        let date = match book.formats.meaning(self.style) {
            super::dates::Meaning::Number => None,
            meaning => iso(number, meaning, book.dates_from_1904),
        };
        Some(date.map_or(Value::Number(number), Value::Text))
    }
}
