//! Links of cells (ECMA-376 part 1, 18.3.1.47), written into their values as in Markdown.

use super::place::{Place, Range};
use super::sheet::{Row, Sheet};
use super::value::Value;
use crate::ooxml::markdown;
use crate::ooxml::relationships::Relationships;
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, check};
use std::collections::HashSet;

/// Links of one sheet; Excel itself takes no more.
const MAX_LINKS: u64 = 65_530;
/// Cells that are looked at for the links of one sheet. Most links have one cell.
const MAX_LOOKS: u64 = 5_000_000;
/// Bytes that links may add to one sheet: a target may stand behind any number of cells.
const MAX_ADDED: u64 = 16 * 1024 * 1024;

/// Cells that lead outside.
#[derive(Debug)]
pub(super) struct Hyperlink {
    range: Range,
    /// The relationship that says where.
    id: String,
    /// The place there.
    location: Option<String>,
}

/// The links of a sheet that lead outside, or may.
pub(super) fn read(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Vec<Hyperlink>, Error> {
    let mut links = Vec::new();
    while let Some(child) = xml.child(element)? {
        check("links", MAX_LINKS, links.len() as u64 + 1)?;
        let range = xml.attribute(&child, "ref")?;
        let range = range.as_deref().and_then(Range::parse);
        let id = xml.attribute_in(&child, Space::Relationships, "id")?;
        if let (Some(range), Some(id)) = (range, id) {
            let location = xml.attribute(&child, "location")?;
            let location = location.filter(|location| !location.is_empty());
            links.push(Hyperlink {
                range,
                id: id.into_owned(),
                location: location.map(|location| location.into_owned()),
            });
        }
    }
    Ok(links)
}

impl Sheet {
    /// Writes where the cells lead that were read.
    pub(super) fn write_links(&mut self, links: &Relationships) -> Result<(), Error> {
        let (mut looks, mut added) = (0, 0);
        let mut written = HashSet::new();
        for link in std::mem::take(&mut self.hyperlinks) {
            let Some(target) = link.target(links) else {
                continue;
            };
            let first = |row: &Row| row.row < link.range.first.row;
            let first = self.rows.partition_point(first);
            let rows = self.rows[first..].iter_mut();
            for row in rows.take_while(|row| row.row <= link.range.last.row) {
                looks += row.cells.len() as u64;
                check("cells of links", MAX_LOOKS, looks)?;
                added += link.write(row, &target, &mut written);
                check("text bytes", MAX_ADDED, added)?;
            }
        }
        Ok(())
    }
}

impl Hyperlink {
    fn target(&self, links: &Relationships) -> Option<String> {
        let target = links.external(&self.id)?;
        let place = self.location.iter().map(|location| format!("#{location}"));
        Some(place.fold(target.to_owned(), |target, place| target + &place))
    }

    /// Answers how many bytes more the row takes. Of several links of a cell the first counts.
    fn write(&self, row: &mut Row, target: &str, written: &mut HashSet<(u32, u32)>) -> u64 {
        let mut added = 0;
        let number = row.row;
        for (column, value) in &mut row.cells {
            let column = *column;
            let place = Place {
                column,
                row: number,
            };
            if self.range.contains(place) && written.insert((column, number)) {
                *value = Value::Text(markdown::link(&value.text(), target));
                added += target.len() as u64;
            }
        }
        added
    }
}
