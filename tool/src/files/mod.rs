//! Files through the directories that the host preopened.
//!
//! Paths go to WASI exactly as the caller gave them: the host's guard does all checks of
//! paths and answers with reasons. Nothing here judges, joins or normalises a path. Reading
//! looks a path up in the read roots, in their order; writing goes to the one write root.
//!
//! Most tools need no more than [`read_to_string`], [`read`], [`open`], [`list`], [`create`]
//! and [`write()`]. What is not granted, not there, over a limit or against the user's policy
//! ends the call with the host's own answer: pass errors on with `?`.
//!
//! Whatever [`Roots`] hands out are plain WASI descriptors, for tools that need more.
//!
//! # Examples
//! ```no_run
//! use rootbound_tool::{Error, files};
//!
//! fn number_lines(from: &str, to: &str) -> Result<(), Error> {
//!     let text = files::read_to_string(from)?;
//!     let lines = text.lines().enumerate();
//!     let numbered: String = lines.map(|(number, line)| format!("{number}\t{line}\n")).collect();
//!     files::create(to, numbered.as_bytes())
//! }
//! ```

mod blocks;
mod changing;
mod listing;
mod metadata;
mod moving;
mod names;
mod reading;
mod refused;
mod roots;
mod whole;
mod writing;

pub use crate::bindings::wasi::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
    OpenFlags, PathFlags,
};
pub use blocks::{Blocks, was_refused};
pub use changing::{Changing, Ends, append};
pub use listing::{Entry, list};
pub use metadata::{Kind, modified, version};
pub use moving::{Copied, copy, rename};
pub use names::shown;
pub use reading::{OpenFile, ReadAnswer, open, open_directory, open_if_permitted};
pub use refused::last_refused;
use refused::refused;
pub use roots::{Found, Miss, Roots};
pub use whole::{create, exists, read, read_to_string, write};
pub use writing::{create_directory, create_new, put, replace_existing, write_all};
