//! What must come of each attack.
//!
//! An attack that stands in no row fails the test that looks for it here.

mod amounts;
mod answers;
mod exhaustion;
mod flags;
mod names;
mod pending;

use super::row::Row;

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [
        flags::ROWS,
        names::ROWS,
        amounts::ROWS,
        exhaustion::ROWS,
        answers::ROWS,
        pending::ROWS,
    ]
    .into_iter()
    .flatten()
}
