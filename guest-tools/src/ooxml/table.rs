//! Tables: rows of cells, as lines of text or as Markdown.

use std::fmt::Write;

/// Rows of cells. A cell that only continues the one it is merged with is nothing.
pub(super) type Rows = Vec<Vec<Option<String>>>;

/// Rows on lines, cells separated by tabs. A further line of a cell stands on a line of its own,
/// below the first one in the same column.
pub(super) fn text(rows: &Rows) -> String {
    let mut text = String::new();
    for row in rows {
        if !text.is_empty() {
            text.push('\n');
        }
        push_row(row, &mut text);
    }
    text
}

fn push_row(row: &[Option<String>], text: &mut String) {
    let cells = row.iter().map(|cell| cell.as_deref().unwrap_or_default());
    let mut columns: Vec<_> = cells.map(str::lines).collect();
    let height = row.iter().flatten().map(|cell| cell.lines().count()).max();
    for line in 0..height.unwrap_or_default() {
        if line > 0 {
            text.push('\n');
        }
        let mut tabs = "";
        let mut pending = 0;
        for column in &mut columns {
            // Tabs are owed until a cell follows, so that none end a line.
            pending += tabs.len();
            tabs = "\t";
            if let Some(piece) = column.next().filter(|piece| !piece.is_empty()) {
                text.extend(std::iter::repeat_n('\t', std::mem::take(&mut pending)));
                text.push_str(piece);
            }
        }
    }
}

/// How many times more cells than there are a table may show, for rows that are shorter than
/// the longest one, and how many it may show in any case.
const MAX_GAPS: usize = 8;
const SMALL: usize = 4096;

/// A table in Markdown, the first row being its head. Rows are filled up with empty cells, unless
/// one row is so long that this would make a table of nothing else.
pub(super) fn markdown(rows: &Rows) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or_default();
    let count: usize = rows.iter().map(Vec::len).sum();
    let is_filled_up = width.saturating_mul(rows.len()) <= SMALL + count * MAX_GAPS;
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let width = if is_filled_up { width } else { row.len() };
        for column in 0..width {
            let cell = row.get(column).and_then(Option::as_deref);
            let _ = write!(text, "| {} ", escaped(cell.unwrap_or_default()));
        }
        text.push_str("|\n");
        if index == 0 {
            text.push_str(&"| --- ".repeat(width));
            text.push_str("|\n");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// A cell on one line, its bars escaped, and what stands before one as if it were escaped already.
fn escaped(cell: &str) -> String {
    let cell = cell.trim().replace("\\|", "\\\\|");
    cell.replace('|', "\\|").replace('\n', "<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[&[&str]]) -> Rows {
        let cell = |text: &&str| (*text != "^").then(|| (*text).to_owned());
        let row = |cells: &&[&str]| cells.iter().map(cell).collect();
        cells.iter().map(row).collect()
    }

    #[test]
    fn lines_of_a_cell_stay_in_their_column() {
        let table = rows(&[&["a", "b"], &["c", "one\ntwo", "d"], &["^", "e"], &["", ""]]);
        assert_eq!(text(&table), "a\tb\nc\tone\td\n\ttwo\n\te\n");
    }

    #[test]
    fn one_long_row_makes_no_others_long() {
        let mut table = vec![vec![Some("x".to_owned())]; 10_000];
        table[5] = vec![None; 10_000];
        assert!(markdown(&table).len() < 200_000);
    }

    #[test]
    fn markdown_has_a_head_and_one_line_a_row() {
        let table = rows(&[&["a|b"], &["c\nd", "^"]]);
        assert_eq!(
            markdown(&table),
            "| a\\|b |  |\n| --- | --- |\n| c<br>d |  |"
        );
        assert_eq!(markdown(&Vec::new()), "");
        assert_eq!(escaped(r"a\|b"), r"a\\\|b");
    }
}
