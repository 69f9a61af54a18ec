//! Changing text by its content: exact, and nothing but what was asked for.

mod changes;
mod diff;
mod encoding;
mod endings;
mod matching;
mod nearest;
pub(crate) mod patch;
#[cfg(test)]
mod properties;
mod replacing;
mod slip;

pub(crate) use changes::{Change, Changes};
pub(crate) use diff::unified;
pub(crate) use encoding::{Encoded, choice, is_empty};
pub(crate) use replacing::{Edit, edit};
