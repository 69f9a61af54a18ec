//! The file in which a front-end's options are written down.

use std::io;
use std::path::Path;

use crate::ambient;

/// More than anybody writes by hand.
const MAX_BYTES: u64 = 1 << 20;

/// Reads a configuration file: a regular file with UTF-8 text of up to 1 MiB. What it means is
/// its front-end's affair; [`SessionBuilder::configuration_file`] keeps it out of every root.
///
/// # Errors
///
/// When it cannot be read, or is none.
///
/// [`SessionBuilder::configuration_file`]: crate::SessionBuilder::configuration_file
pub fn read_configuration(file: impl AsRef<Path>) -> io::Result<String> {
    ambient::read_text(file.as_ref(), MAX_BYTES)
}
