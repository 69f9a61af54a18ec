//! The cells of a sheet (ECMA-376 part 1, 18.3), as many as there is room for.

use super::beside::Comment;
use super::collected::Collected;
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
/// Cells after which rows that are not asked for are passed over without a look at theirs: how
/// far the sheet reaches is then what it says itself.
const MAX_PASSED: u64 = 500_000;
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
    /// Ranges that are shown as one cell, whose value stands in the first one: those that reach
    /// into what is answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) merged: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) comments: Vec<Comment>,
    /// The text of text boxes and charts; left out when a range or a further part is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) drawings: Vec<String>,
    #[serde(skip)]
    pub(super) oddities: Oddities,
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
    pub(super) oddities: Oddities,
}

/// What a sheet has that no good one has, or that an answer does not show, and how often.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Oddities {
    /// Formulas that were saved without a value.
    pub(super) without_value: u64,
    /// Cells whose text is not among the strings of the workbook.
    without_string: u64,
    /// Cells that stand in a place where another one stands.
    repeated_cells: u64,
    /// Rows that have the number of another one.
    pub(super) repeated_rows: u64,
    /// Rows with a number that no sheet has.
    outside: u64,
}

impl Oddities {
    pub(super) fn add(&mut self, more: Self) {
        self.without_value += more.without_value;
        self.without_string += more.without_string;
        self.repeated_cells += more.repeated_cells;
        self.repeated_rows += more.repeated_rows;
        self.outside += more.outside;
    }

    /// In words, what there is of them.
    pub(super) fn warnings(&self, with_formulas: bool) -> Vec<String> {
        let without_value = if with_formulas { 0 } else { self.without_value };
        let all = [
            (
                without_value,
                "formulas were saved without a value; `read_xlsx` with `formulas: true` shows them",
            ),
            (
                self.without_string,
                "cells refer to a text that the workbook does not hold; they are shown as null",
            ),
            (
                self.repeated_cells,
                "cells stand where another one stands; the last one is shown",
            ),
            (
                self.repeated_rows,
                "rows have the number of another one; they are shown as one row",
            ),
            (
                self.outside,
                "rows have a number that no sheet has (1 to 1048576); they are left out",
            ),
        ];
        let some = all.iter().filter(|(count, _)| *count > 0);
        some.map(|(count, what)| format!("{count} {what}"))
            .collect()
    }
}

impl Row {
    fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.formulas.is_empty()
    }

    /// Takes in a further row of the same number.
    pub(super) fn merge(&mut self, more: Self) {
        self.cells.extend(more.cells);
        self.formulas.extend(more.formulas);
        self.oddities.add(more.oddities);
        self.oddities.repeated_rows += 1;
        self.settle();
    }

    /// Puts the cells in order. Of several in one place the last one stays.
    fn settle(&mut self) {
        self.oddities.repeated_cells += settle(&mut self.cells);
        settle(&mut self.formulas);
    }
}

/// Answers how many there were in the place of another one.
fn settle(cells: &mut Vec<(u32, Value)>) -> u64 {
    if cells.is_sorted_by(|one, next| one.0 < next.0) {
        return 0;
    }
    let count = cells.len();
    cells.reverse();
    cells.sort_by_key(|(column, _)| *column);
    cells.dedup_by_key(|(column, _)| *column);
    (count - cells.len()) as u64
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
    room: Room,
    /// Whether the room is of bytes of JSON, and not of what is held.
    by_json: bool,
    /// Cells that were looked at.
    seen: u64,
    /// The sheet that is being read, and the first row of it.
    position: Position,
    /// The first row that there was no room for.
    pub(super) next: Option<Position>,
}

/// How much more an answer holds.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) rows: usize,
    pub(super) cells: usize,
    pub(super) size: usize,
    /// Whether nothing is in the answer yet: a row too large for any is one by itself.
    pub(super) is_all: bool,
}

impl Window {
    pub(super) fn new(options: &WorkbookOptions<'_>) -> Self {
        Self {
            range: options.range,
            with_formulas: options.with_formulas,
            with_links: options.with_links,
            room: Room {
                rows: options.limit,
                cells: MAX_ANSWERED,
                size: options.page_bytes.unwrap_or(MAX_SIZE),
                is_all: true,
            },
            by_json: options.page_bytes.is_some(),
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

    /// Whether a range has a cell among the rows that this answer holds.
    fn touches(&self, range: &Range) -> bool {
        let (first, last) = (range.first, range.last);
        let (within, end) = (&self.range, self.next.map(|next| next.row));
        let (top, left) = (self.position.row.max(within.first.row), within.first.column);
        let (bottom, right) = (within.last.row, within.last.column);
        let is_before_end = end.is_none_or(|end| first.row < end);
        let rows = top <= last.row && first.row <= bottom && is_before_end;
        rows && left <= last.column && first.column <= right
    }

    fn has_row(&self, row: u32) -> bool {
        row >= self.position.row && (self.range.first.row..=self.range.last.row).contains(&row)
    }

    /// Bytes that a row takes of the room.
    pub(super) fn size(&self, row: &Row) -> usize {
        if self.by_json {
            return serde_json::to_vec(row).map_or(usize::MAX, |json| json.len() + 1);
        }
        let values = row.cells.iter().chain(&row.formulas);
        values.map(|(_, value)| value.size()).sum()
    }

    /// Takes the rows of a sheet in, and closes when there were more.
    fn take(&mut self, collected: Collected, into: &mut Sheet) {
        self.room = collected.room_left();
        let sheet = self.position.sheet;
        self.next = collected.end().map(|row| Position { sheet, row });
        for row in collected.into_rows() {
            into.oddities.add(row.oddities);
            into.rows.push(row);
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
            oddities: Oddities::default(),
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
        let mut told = None;
        let mut merged = Vec::new();
        while let Some(child) = xml.child(root)? {
            match child.name() {
                (Space::Sheet, "dimension") => told = xml.attribute(&child, "ref")?,
                (Space::Sheet, "sheetData") => self.rows(xml, &child, book, window, &mut used)?,
                (Space::Sheet, "mergeCells") => merged = merged_ranges(xml, &child)?,
                (Space::Sheet, "hyperlinks") if window.with_links => {
                    self.hyperlinks = links::read(xml, &child)?;
                }
                _ => {}
            }
        }
        if window.seen > MAX_PASSED
            && let Some(told) = told.as_deref().and_then(Range::parse)
        {
            let used = used.get_or_insert(told);
            used.include(told.first);
            used.include(told.last);
        }
        self.dimension = used.map(|used: Range| used.name());
        self.uncover(&merged)?;
        self.rows.retain(|row| !row.is_empty());
        let shown = merged.iter().filter(|range| window.touches(range));
        self.merged = shown.map(Range::name).collect();
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
        let mut number: u32 = 0;
        let mut shared = Shared::default();
        let mut collected = Collected::new(window.room);
        while let Some(child) = xml.child(data)? {
            if child.name() != (Space::Sheet, "row") {
                continue;
            }
            let given = xml.attribute(&child, "r")?;
            let given = given.and_then(|given| given.trim().parse().ok());
            let here = given.unwrap_or(number.saturating_add(1));
            if !Range::is_row(here) {
                self.oddities.outside += 1;
                continue;
            }
            number = here;
            let is_wanted = window.has_row(number) && collected.has_room_for(number);
            if !is_wanted && window.seen > MAX_PASSED && !window.with_formulas {
                continue;
            }
            let row = read_row(
                xml,
                &child,
                number,
                is_wanted,
                book,
                window,
                used,
                &mut shared,
            )?;
            if row.is_empty() {
                self.oddities.add(row.oddities);
            } else {
                let size = window.size(&row);
                collected.add(row, size);
            }
        }
        window.take(collected, self);
        Ok(())
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "a row is read with all that is known of its sheet"
)]
fn read_row(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    number: u32,
    is_wanted: bool,
    book: &Book,
    window: &mut Window,
    used: &mut Option<Range>,
    shared: &mut Shared,
) -> Result<Row, Error> {
    let mut row = Row {
        row: number,
        cells: Vec::new(),
        formulas: Vec::new(),
        oddities: Oddities::default(),
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
        if Range::default().contains(place) {
            used.get_or_insert(range).include(place);
        }
        if !is_wanted || !window.range.contains(place) {
            if window.with_formulas {
                shared.note(xml, &child, place)?;
            }
        } else {
            let shared = window.with_formulas.then_some(&mut *shared);
            let (value, formula) = cell.read(xml, &child, place, book, shared)?;
            row.oddities.without_value += u64::from(value.is_none() && formula.is_some());
            row.oddities.without_string += u64::from(value == Some(Value::Missing));
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
    row.settle();
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
            Some("s") => match value.trim() {
                "" => None,
                index => {
                    let string = index.parse().ok().and_then(|index| book.strings.get(index));
                    string.map_or(Some(Value::Missing), text)
                }
            },
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
