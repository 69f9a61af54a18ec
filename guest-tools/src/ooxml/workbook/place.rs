//! Where cells are: `B7`, and ranges of them.

use std::fmt::Write;

/// Columns and rows of a sheet (Excel's own limits).
const MAX_COLUMN: u32 = 16_384;
const MAX_ROW: u32 = 1_048_576;

/// A cell by column and row, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) column: u32,
    pub(crate) row: u32,
}

/// A rectangle of cells, its ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: Place,
    pub(crate) last: Place,
}

impl Default for Range {
    /// The whole sheet.
    fn default() -> Self {
        Self {
            first: Place { column: 1, row: 1 },
            last: Place {
                column: MAX_COLUMN,
                row: MAX_ROW,
            },
        }
    }
}

impl Place {
    /// Parses `B7`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (column, row) = split(text)?;
        let (column, row) = (column?, row?);
        Some(Self { column, row })
    }
}

impl Range {
    /// Parses `B2:D10`, `B2`, `A:C` or `2:5`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.replace('$', "");
        let (first, last) = text.split_once(':').unwrap_or((&text, &text));
        let (first_column, first_row) = split(first)?;
        let (last_column, last_row) = split(last)?;
        let is_alike = first_column.is_some() == last_column.is_some()
            && first_row.is_some() == last_row.is_some();
        let whole = Self::default();
        let range = Self {
            first: Place {
                column: first_column.unwrap_or(whole.first.column),
                row: first_row.unwrap_or(whole.first.row),
            },
            last: Place {
                column: last_column.unwrap_or(whole.last.column),
                row: last_row.unwrap_or(whole.last.row),
            },
        };
        let is_ordered =
            range.first.column <= range.last.column && range.first.row <= range.last.row;
        (is_alike && is_ordered).then_some(range)
    }

    /// Whether a sheet has a row of this number.
    pub(super) fn is_row(number: u32) -> bool {
        (1..=MAX_ROW).contains(&number)
    }

    pub(super) fn contains(&self, place: Place) -> bool {
        let columns = self.first.column..=self.last.column;
        let rows = self.first.row..=self.last.row;
        columns.contains(&place.column) && rows.contains(&place.row)
    }

    /// Grows to hold a cell.
    pub(super) fn include(&mut self, place: Place) {
        self.first.column = self.first.column.min(place.column);
        self.first.row = self.first.row.min(place.row);
        self.last.column = self.last.column.max(place.column);
        self.last.row = self.last.row.max(place.row);
    }

    /// Such as `A1:C3`.
    pub(super) fn name(&self) -> String {
        let mut name = letters(self.first.column);
        let last = letters(self.last.column);
        let _ = write!(name, "{}:{last}{}", self.first.row, self.last.row);
        name
    }
}

/// The letters of a column, from 1.
pub(crate) fn letters(mut column: u32) -> String {
    let mut letters = Vec::new();
    while column > 0 {
        column -= 1;
        letters.push(char::from(b'A' + (column % 26) as u8));
        column /= 26;
    }
    letters.iter().rev().collect()
}

/// Column and row, of which one may be missing. What is more than a sheet has is nothing.
fn split(text: &str) -> Option<(Option<u32>, Option<u32>)> {
    let text = text.trim();
    let digits = text
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(text.len());
    let (letters, digits) = text.split_at(digits);
    let column = match letters {
        "" => None,
        letters => Some(column(letters)?),
    };
    let row = match digits {
        "" => None,
        digits => Some(
            digits
                .parse()
                .ok()
                .filter(|row| (1..=MAX_ROW).contains(row))?,
        ),
    };
    (column.is_some() || row.is_some()).then_some((column, row))
}

fn column(letters: &str) -> Option<u32> {
    let digit = |letter: u8| {
        letter
            .is_ascii_alphabetic()
            .then(|| letter.to_ascii_uppercase() - b'A')
    };
    let column = letters.bytes().try_fold(0_u32, |column, letter| {
        column
            .checked_mul(26)?
            .checked_add(u32::from(digit(letter)?) + 1)
    });
    column.filter(|column| *column <= MAX_COLUMN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<String> {
        Range::parse(text).map(|range| range.name())
    }

    #[test]
    fn ranges_are_cells_columns_or_rows() {
        for (text, expected) in [
            ("B2:D10", Some("B2:D10")),
            ("$b$2:d10", Some("B2:D10")),
            ("C3", Some("C3:C3")),
            ("A:C", Some("A1:C1048576")),
            ("2:5", Some("A2:XFD5")),
            ("XFD1048576", Some("XFD1048576:XFD1048576")),
            ("XFE1", None),
            ("A0", None),
            ("A1048577", None),
            ("D2:B2", None),
            ("A1:B", None),
            ("", None),
            (":", None),
            ("A1B", None),
            ("Ä1", None),
            ("AAAAAAAAAAAAAAA1", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn columns_have_letters() {
        for (column, expected) in [
            (1, "A"),
            (26, "Z"),
            (27, "AA"),
            (703, "AAA"),
            (16_384, "XFD"),
        ] {
            assert_eq!(letters(column), expected);
        }
    }
}
