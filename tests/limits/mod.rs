//! Each limit at one below, at it, and one above, through the tools.
//!
//! What is out of the tools' reach, such as time, is for hostile guests to go for.

mod bytes;
mod depth;
mod listing;
mod quotas;
mod raw;
mod resources;
