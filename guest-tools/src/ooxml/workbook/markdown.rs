//! A workbook as Markdown.

use super::place::letters;
use super::{Sheet, Workbook};
use crate::ooxml::markdown;
use crate::ooxml::table::{self, Rows};
use std::collections::BTreeSet;

/// How many times more cells than there are values a table may have; else they are listed.
const MAX_GAPS: usize = 8;
/// Cells of a table that is small whatever its gaps.
const SMALL: usize = 4096;

impl Workbook {
    /// Each sheet below a heading with its name, its cells as a table with the letters of the
    /// columns as its head and the numbers of the rows in front.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        for sheet in &self.sheets {
            let hidden = if sheet.visibility == "visible" {
                ""
            } else {
                " (hidden)"
            };
            let name = markdown::on_one_line(&sheet.name);
            markdown::append(&mut text, &format!("## Sheet {name}{hidden}"));
            markdown::append(&mut text, &sheet.cells());
            for drawing in &sheet.drawings {
                markdown::append(&mut text, &markdown::quoted("Drawing", drawing));
            }
            for comment in &sheet.comments {
                let author = comment.author.as_deref().unwrap_or("somebody");
                let who = format!("Comment on {} by {author}", comment.cell);
                markdown::append(&mut text, &markdown::quoted(&who, &comment.text));
            }
        }
        text
    }
}

impl Sheet {
    fn cells(&self) -> String {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let count = cells.clone().count();
        let columns: BTreeSet<u32> = cells.map(|(column, _)| *column).collect();
        if self.rows.is_empty() {
            return String::new();
        }
        match columns.len() * self.rows.len() <= SMALL + count * MAX_GAPS {
            true => self.table(&columns),
            false => self.list(),
        }
    }

    fn table(&self, columns: &BTreeSet<u32>) -> String {
        let head = columns.iter().map(|column| Some(letters(*column)));
        let mut rows: Rows = vec![std::iter::once(None).chain(head).collect()];
        for row in &self.rows {
            let mut cells = row.cells.iter().peekable();
            let value = |column: &u32| {
                let cell = cells.next_if(|(place, _)| place == column);
                cell.map(|(_, value)| value.text())
            };
            let number = Some(row.row.to_string());
            rows.push(
                std::iter::once(number)
                    .chain(columns.iter().map(value))
                    .collect(),
            );
        }
        table::markdown(&rows)
    }

    fn list(&self) -> String {
        let rows = self.rows.iter();
        let items = rows.flat_map(|row| {
            row.cells.iter().map(|(column, value)| {
                let text = format!("{}{}: {}", letters(*column), row.row, value.text());
                markdown::item(0, "-", &text)
            })
        });
        items.collect::<Vec<_>>().join("\n")
    }
}
