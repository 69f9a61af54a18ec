//! Looking for text in one file: what is a hit, and how its line is shown.

mod content;
mod lines;
mod query;
mod shown;

pub(crate) use content::{Content, Reader};
pub(crate) use lines::{Window, hits};
pub(crate) use query::{Query, Wanted, line_breaks};
pub(crate) use shown::{Row, rows};
