//! Text in files: its encoding, its lines, and windows of them.
//!
//! A line ends at a line feed, as for `grep` and `wc`; the last one may have none. Bytes are
//! counted from the start of the file.

mod decoding;
mod encoding;
mod endings;
mod lines;
mod place;
mod show;
mod tail;
mod unmarked;
mod window;

pub(crate) use decoding::{Bad, Decoded, Decoding, LEAST_TEXT};
pub(crate) use encoding::{Choice, Encoding, LONGEST_MARK};
pub(crate) use endings::Endings;
pub(crate) use lines::LineFeed;
pub(crate) use place::Place;
pub(crate) use show::Style;
pub(crate) use tail::tail;
pub(crate) use window::{End, Window};
