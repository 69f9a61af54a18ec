//! Formulas that several cells share (ECMA-376 part 1, 18.3.1.40): written once, and read from
//! each cell with the references moved as far as the cell is from the first.

use super::place::{Place, letters};
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, check};
use std::collections::HashMap;

/// Shared formulas of one sheet.
const MAX_SHARED: u64 = 100_000;
/// Columns and rows of a sheet.
const MOST: [i64; 2] = [16_384, 1_048_576];
/// What a reference becomes that would lie outside the sheet.
const OUTSIDE: &str = "#REF!";

/// The shared formulas of a sheet, by their indices.
#[derive(Default)]
pub(super) struct Shared {
    formulas: HashMap<String, (Place, String)>,
}

/// The formula of a cell, if it has one or shares one. Without what is shared, it is not wanted,
/// and only said to be there.
pub(super) fn read(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    place: Place,
    shared: Option<&mut Shared>,
) -> Result<Option<String>, Error> {
    let index = xml.attribute(element, "si")?;
    let mut own = String::new();
    xml.text(element, &mut own)?;
    let formula = match (index, shared) {
        (index, None) => (index.is_some() || !own.is_empty()).then(String::new),
        (Some(index), Some(shared)) => shared.formula(&index, place, &own)?,
        (None, _) => Some(own).filter(|own| !own.is_empty()),
    };
    Ok(formula.map(|formula| format!("={formula}")))
}

impl Shared {
    /// Remembers what a cell that is not wanted shares with others, which may be.
    pub(super) fn note(
        &mut self,
        xml: &mut Xml<'_>,
        cell: &Element<'_>,
        place: Place,
    ) -> Result<(), Error> {
        while let Some(child) = xml.child(cell)? {
            let index = match child.name() {
                (Space::Sheet, "f") => xml.attribute(&child, "si")?,
                _ => None,
            };
            if let Some(index) = index {
                let mut own = String::new();
                xml.text(&child, &mut own)?;
                if !own.is_empty() {
                    self.formula(&index, place, &own)?;
                }
            }
        }
        Ok(())
    }

    /// The formula of a cell that shares one: its own text is the one for all.
    fn formula(&mut self, index: &str, place: Place, own: &str) -> Result<Option<String>, Error> {
        if !own.is_empty() {
            check(
                "shared formulas",
                MAX_SHARED,
                self.formulas.len() as u64 + 1,
            )?;
            let formula = (place, own.to_owned());
            self.formulas.insert(index.to_owned(), formula);
            return Ok(Some(own.to_owned()));
        }
        let shared = self.formulas.get(index);
        Ok(shared.map(|(first, formula)| moved(formula, *first, place)))
    }
}

/// A formula as it reads in another cell.
fn moved(formula: &str, from: Place, to: Place) -> String {
    let by = [
        i64::from(to.column) - i64::from(from.column),
        i64::from(to.row) - i64::from(from.row),
    ];
    let mut text = String::with_capacity(formula.len());
    let mut rest = formula;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => quoted(rest, first),
            '[' => bracketed(rest),
            first if is_of_word(first) => word(rest),
            first => first.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        match reference(piece, text.ends_with(':') || after.starts_with(':')) {
            // The name of a function, of a sheet or of a table is none.
            Some(reference) if !after.starts_with(['(', '!', '[']) => reference.push(by, &mut text),
            _ => text.push_str(piece),
        }
        rest = after;
    }
    text
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '\\')
}

fn word(text: &str) -> usize {
    let end = text.find(|c| !is_of_word(c));
    end.unwrap_or(text.len())
}

/// Up to the closing quote; a doubled one begins what goes on.
fn quoted(text: &str, quote: char) -> usize {
    let end = text[1..].find(quote);
    end.map_or(text.len(), |end| end + 2)
}

/// The name of another workbook, or of a column of a table.
fn bracketed(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Column and row of a reference, each with whether it stays where it is.
struct Reference {
    parts: [Option<(bool, i64)>; 2],
}

/// Reads `B7`, `$B$7`; and `B` or `7` where they are an end of a range.
fn reference(word: &str, is_end: bool) -> Option<Reference> {
    let (column, rest) = column(word)?;
    let row = match rest {
        "" => None,
        rest => Some(row(rest)?),
    };
    let is_whole = column.is_some() && row.is_some();
    (is_whole || is_end && (column.is_some() || row.is_some())).then_some(Reference {
        parts: [column, row],
    })
}

/// A column, and what follows it; none where a row stands at once.
fn column(word: &str) -> Option<(Option<(bool, i64)>, &str)> {
    let (stays, name) = stays(word);
    let length = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    if length == 0 {
        return Some((None, word));
    }
    let digits = name[..length].bytes().map(|byte| i64::from(byte & 31));
    let number = (length <= 3).then(|| digits.fold(0, |number, digit| number * 26 + digit))?;
    (number <= MOST[0]).then_some((Some((stays, number)), &name[length..]))
}

fn row(word: &str) -> Option<(bool, i64)> {
    let (stays, digits) = stays(word);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    (1..=MOST[1]).contains(&number).then_some((stays, number))
}

fn stays(word: &str) -> (bool, &str) {
    match word.strip_prefix('$') {
        Some(rest) => (true, rest),
        None => (false, word),
    }
}

impl Reference {
    fn push(&self, by: [i64; 2], text: &mut String) {
        let mut name = String::new();
        for (axis, part) in self.parts.iter().enumerate() {
            let Some((stays, number)) = part else {
                continue;
            };
            let number = if *stays { *number } else { number + by[axis] };
            if !(1..=MOST[axis]).contains(&number) {
                text.push_str(OUTSIDE);
                return;
            }
            name.push_str(if *stays { "$" } else { "" });
            let number = u32::try_from(number).unwrap_or_default();
            name.push_str(&match axis {
                0 => letters(number),
                _ => number.to_string(),
            });
        }
        text.push_str(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_move_with_their_cell() {
        let place = |text: &str| Place::parse(text).unwrap();
        for (formula, expected) in [
            ("A1+B2*2", "B3+C4*2"),
            ("$A1+A$1+$A$1", "$A3+B$1+$A$1"),
            ("SUM(A1:C3)", "SUM(B3:D5)"),
            ("SUM(A:A)+SUM($2:2)", "SUM(B:B)+SUM($2:4)"),
            ("Sheet1!A1&'A1 b''s'!A1", "Sheet1!B3&'A1 b''s'!B3"),
            (
                "\"A1\"&A1&\"say \"\"A1\"\"\"",
                "\"A1\"&B3&\"say \"\"A1\"\"\"",
            ),
            ("LOG10(A1)+T1[A1]+[1]S!A1", "LOG10(B3)+T1[A1]+[1]S!B3"),
            ("RATE_A1+ABCD1+A1B+1.5+1E5", "RATE_A1+ABCD1+A1B+1.5+1E5"),
            ("XFD1+A1048575", "#REF!+#REF!"),
            ("ä1+A1", "ä1+B3"),
        ] {
            assert_eq!(moved(formula, place("A1"), place("B3")), expected);
        }
        assert_eq!(moved("A1", place("B2"), place("A1")), OUTSIDE);
        assert_eq!(moved("'open A1", place("A1"), place("B2")), "'open A1");
    }
}
