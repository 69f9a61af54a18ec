//! Unified diffs: read strictly, applied where they say or where only one place fits.

mod apply;
mod name;
mod parse;

pub(crate) use apply::{apply, new_content};
pub(crate) use parse::{FilePatch, parse};
