//! Files that a command writes where it is told to.

use std::path::Path;

use anyhow::Context;
use rootbound::{begins_as_component, write_output_file};

/// Writes a component; over another component, and over nothing else. Answers with its SHA-256.
pub(super) fn component(file: &Path, bytes: &[u8]) -> anyhow::Result<String> {
    write(file, bytes, begins_as_component)
}

/// Writes a file, whole or not at all; over another only where that is like it.
pub(super) fn write(
    file: &Path,
    bytes: &[u8],
    is_alike: impl FnOnce(&[u8]) -> bool,
) -> anyhow::Result<String> {
    write_output_file(file, bytes, is_alike)
        .with_context(|| format!("`{}` cannot be written", file.display()))
}
