//! The rows of a sheet by their numbers, in whatever order they are written: those with the lowest
//! ones that there is room for.

use super::sheet::{Room, Row};
use std::collections::BTreeMap;

/// Rows, and the bytes that each takes.
pub(super) struct Collected {
    rows: BTreeMap<u32, (Row, usize)>,
    room: Room,
    cells: usize,
    size: usize,
    /// The first row that there was no room for.
    end: Option<u32>,
}

impl Collected {
    pub(super) fn new(room: Room) -> Self {
        Self {
            rows: BTreeMap::new(),
            room,
            cells: 0,
            size: 0,
            end: None,
        }
    }

    /// The first row that there was no room for.
    pub(super) fn end(&self) -> Option<u32> {
        self.end
    }

    /// Whether a row of this number comes before all that there was no room for.
    pub(super) fn has_room_for(&self, row: u32) -> bool {
        self.end.is_none_or(|end| row < end)
    }

    /// Takes a row in, and makes room by giving up the last ones.
    pub(super) fn add(&mut self, row: Row, size: usize) {
        self.cells += row.cells.len();
        self.size += size;
        match self.rows.get_mut(&row.row) {
            Some((first, whole)) => {
                self.cells -= first.cells.len() + row.cells.len();
                first.merge(row);
                self.cells += first.cells.len();
                *whole += size;
            }
            None => {
                self.rows.insert(row.row, (row, size));
            }
        }
        while self.is_too_much()
            && let Some((number, (row, size))) = self.rows.pop_last()
        {
            self.cells -= row.cells.len();
            self.size -= size;
            self.end = Some(number);
        }
    }

    fn is_too_much(&self) -> bool {
        // A row too large for any answer is an answer by itself.
        let is_one = self.room.is_all && self.rows.len() == 1;
        let is_too_large = self.cells > self.room.cells || self.size > self.room.size;
        self.rows.len() > self.room.rows || (is_too_large && !is_one)
    }

    /// What is left for further sheets.
    pub(super) fn room_left(&self) -> Room {
        Room {
            rows: self.room.rows - self.rows.len(),
            cells: self.room.cells.saturating_sub(self.cells),
            size: self.room.size.saturating_sub(self.size),
            is_all: self.room.is_all && self.rows.is_empty(),
        }
    }

    pub(super) fn into_rows(self) -> impl Iterator<Item = Row> {
        self.rows.into_values().map(|(row, _)| row)
    }
}
