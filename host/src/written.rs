//! Files that a front-end writes where its operator says, such as what it was asked to make.

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{ambient, random};

/// A file to be written: its path in the directory, its content, whether it is a program.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// Relative, without `..`.
    pub path: &'static str,
    /// What it holds.
    pub content: String,
    /// Whether it may be run.
    pub executable: bool,
}

/// Makes a directory with files in it. For what an operator asks for; no tool gets here.
///
/// # Errors
///
/// When there is something of that name already, or it cannot be written; what was written
/// until then stays.
pub fn write_new_directory(directory: impl AsRef<Path>, files: &[NewFile]) -> io::Result<()> {
    let directory = directory.as_ref();
    ambient::create_new_directory(directory)?;
    for file in files {
        let path = directory.join(file.path);
        ambient::create_directories(ambient::directory_of(&path))?;
        ambient::create_public_file(&path, file.content.as_bytes(), file.executable)?;
    }
    Ok(())
}

/// Writes a file in one step, over another if there is one, and answers with the SHA-256 of its
/// content in hex. For what an operator asks for; no tool gets here.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_output_file(file: impl AsRef<Path>, content: &[u8]) -> io::Result<String> {
    ambient::replace_public_file(file.as_ref(), content)?;
    Ok(random::hex_of(&Sha256::digest(content)))
}

/// Reads a file that the operator names, up to a size.
///
/// # Errors
///
/// When it cannot be read, is no regular file, or is larger.
pub fn read_input_file(file: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(io::ErrorKind::InvalidInput, "it is too large");
    ambient::read_at_most(file.as_ref(), most)?.ok_or_else(too_large)
}
