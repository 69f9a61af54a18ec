//! Number formats (ECMA-376 part 1, 18.8.30 and 18.8.31): which numbers are dates.

use super::dates::Meaning;
use crate::ooxml::Error;
use crate::ooxml::xml::{Element, Space, Xml};
use std::collections::HashMap;

/// What numbers mean by the style of their cell.
#[derive(Default)]
pub(super) struct Formats {
    meanings: Vec<Meaning>,
}

impl Formats {
    pub(super) fn parse(part: &str, text: &str) -> Result<Self, Error> {
        let mut xml = Xml::new(part, text);
        let root = xml.root()?;
        let mut codes = HashMap::new();
        let mut ids = Vec::new();
        while let Some(child) = xml.child(&root)? {
            match child.name() {
                (Space::Sheet, "numFmts") => read_codes(&mut xml, &child, &mut codes)?,
                (Space::Sheet, "cellXfs") => read_ids(&mut xml, &child, &mut ids)?,
                _ => {}
            }
        }
        let meaning = |id: u32| match codes.get(&id) {
            Some(meaning) => *meaning,
            None => built_in(id),
        };
        let meanings = ids.into_iter().map(meaning).collect();
        Ok(Self { meanings })
    }

    /// What a number means in a cell with this style.
    pub(super) fn meaning(&self, style: usize) -> Meaning {
        let meaning = self.meanings.get(style).copied();
        meaning.unwrap_or(Meaning::Number)
    }
}

fn read_codes(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    codes: &mut HashMap<u32, Meaning>,
) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        let id = xml.attribute(&child, "numFmtId")?;
        let code = xml.attribute(&child, "formatCode")?;
        if let (Some(id), Some(code)) = (id.and_then(|id| id.parse().ok()), code) {
            codes.insert(id, meaning(&code));
        }
    }
    Ok(())
}

fn read_ids(xml: &mut Xml<'_>, element: &Element<'_>, ids: &mut Vec<u32>) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        if child.name() == (Space::Sheet, "xf") {
            let id = xml.attribute(&child, "numFmtId")?;
            ids.push(id.and_then(|id| id.parse().ok()).unwrap_or_default());
        }
    }
    Ok(())
}

/// Formats that have a number and no code (18.8.30), those of East Asia included.
fn built_in(id: u32) -> Meaning {
    match id {
        14..=17 | 27..=31 | 34..=36 | 50..=54 | 57 | 58 => Meaning::Date,
        18..=21 | 32 | 33 | 45 | 47 | 55 | 56 => Meaning::Time,
        22 => Meaning::DateTime,
        46 => Meaning::Duration,
        _ => Meaning::Number,
    }
}

/// What a format code makes of a positive number.
pub(in crate::ooxml) fn meaning(code: &str) -> Meaning {
    let letters = Letters::of(code);
    match letters {
        Letters {
            is_number: true, ..
        } => Meaning::Number,
        Letters {
            elapsed: true,
            date: false,
            ..
        } => Meaning::Duration,
        Letters {
            date: true,
            time: true,
            ..
        } => Meaning::DateTime,
        Letters { date: true, .. } => Meaning::Date,
        Letters { time: true, .. } => Meaning::Time,
        // By itself `m` is a month.
        Letters { month: true, .. } => Meaning::Date,
        _ => Meaning::Number,
    }
}

/// Which letters with a meaning a format code has.
#[derive(Default)]
struct Letters {
    date: bool,
    time: bool,
    month: bool,
    elapsed: bool,
    is_number: bool,
}

impl Letters {
    fn of(code: &str) -> Self {
        let mut letters = Self::default();
        let mut characters = code.chars();
        while let Some(character) = characters.next() {
            match character {
                // Further sections are for other numbers.
                ';' => break,
                '"' => drop(characters.by_ref().find(|end| *end == '"')),
                // What follows is shown, is as wide as, or fills.
                '\\' | '_' | '*' => drop(characters.next()),
                '[' => {
                    let inside: String =
                        characters.by_ref().take_while(|end| *end != ']').collect();
                    letters.elapsed |= is_elapsed(&inside);
                }
                'y' | 'Y' | 'd' | 'D' => letters.date = true,
                'h' | 'H' | 's' | 'S' => letters.time = true,
                'm' | 'M' => letters.month = true,
                // Eras, beside years; `E+` is an exponent.
                'g' | 'b' | 'B' => {}
                '0' | '#' | '?' | '@' | 'E' | 'G' if !letters.date && !letters.time => {
                    letters.is_number |= !letters.month && !letters.elapsed;
                }
                _ => {}
            }
        }
        letters
    }
}

/// `h`, `mm` and the like in brackets count on beyond a day, an hour or a minute.
fn is_elapsed(inside: &str) -> bool {
    let mut characters = inside.chars().map(|c| c.to_ascii_lowercase());
    let Some(first) = characters.next() else {
        return false;
    };
    "hms".contains(first) && characters.all(|character| character == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_codes_tell_dates_from_numbers() {
        for (code, expected) in [
            ("General", Meaning::Number),
            ("0.00", Meaning::Number),
            ("0.00E+00", Meaning::Number),
            ("#,##0 \"days\"", Meaning::Number),
            ("[Red]0;[Blue]-0", Meaning::Number),
            ("0;yyyy", Meaning::Number),
            ("_-* #,##0.00\\ _d_-", Meaning::Number),
            ("@", Meaning::Number),
            ("yyyy-mm-dd", Meaning::Date),
            ("[$-409]d-mmm-yy", Meaning::Date),
            ("mmm", Meaning::Date),
            ("\"on\" dd/mm/yyyy;@", Meaning::Date),
            ("yyyy\\-mm\\-dd\\Thh:mm", Meaning::DateTime),
            ("m/d/yy h:mm AM/PM", Meaning::DateTime),
            ("h:mm", Meaning::Time),
            ("mm:ss.0", Meaning::Time),
            ("[h]:mm:ss", Meaning::Duration),
            ("[mm]:ss", Meaning::Duration),
            ("ge.m.d", Meaning::Date),
        ] {
            assert_eq!(meaning(code), expected, "{code}");
        }
    }

    #[test]
    fn styles_lead_to_formats() {
        let text = r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
            <numFmts><numFmt numFmtId="164" formatCode="h:mm"/></numFmts>
            <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf/></cellXfs></styleSheet>"#;
        let formats = Formats::parse("styles", text).unwrap();
        let meanings = [0, 1, 2, 3, 4].map(|style| formats.meaning(style));
        use Meaning::{Date, Number, Time};
        assert_eq!(meanings, [Number, Date, Time, Number, Number]);
    }
}
