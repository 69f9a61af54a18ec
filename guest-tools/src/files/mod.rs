//! Files through the preopened directories.
//!
//! Paths go to WASI exactly as the caller gave them: the host's guard does all checks of
//! paths and answers with reasons. Nothing here judges, joins or normalises a path.

mod blocks;
mod changing;
mod metadata;
mod moving;
mod names;
mod reading;
mod roots;
mod writing;

pub(crate) use crate::bindings::wasi::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags,
};
pub(crate) use blocks::was_refused;
pub(crate) use changing::{Changing, append};
pub(crate) use metadata::{kind, modified, version};
pub(crate) use moving::{copy, rename};
pub(crate) use names::shown;
pub(crate) use reading::{
    OpenFile, ReadAnswer, open_directory, open_for_reading, open_if_permitted,
};
pub(crate) use roots::{Found, Miss, Roots};
pub(crate) use writing::{create_directory, create_new, replace_existing, write_all};
