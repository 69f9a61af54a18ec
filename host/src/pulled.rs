//! What was pulled from registries, kept by its digest.

use std::io;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::{ambient, random};

/// More than is ever put there.
const MOST_BYTES: u64 = 1 << 30;

/// The files below `$XDG_CACHE_HOME/rootbound/pulled`, each called by the SHA-256 of what it
/// holds; only the user may enter. What does not have its name's hash is not there.
#[derive(Debug)]
pub struct PulledFiles {
    directory: PathBuf,
}

impl PulledFiles {
    /// Makes the directory if need be.
    ///
    /// # Errors
    ///
    /// When there is no place for it, or others may enter.
    pub fn open() -> io::Result<Self> {
        let nowhere = || io::Error::other("neither XDG_CACHE_HOME nor HOME is an absolute path");
        let directory = ambient::cache_directory()
            .ok_or_else(nowhere)?
            .join("pulled");
        ambient::create_private_directory(&directory)?;
        ambient::require_private(&directory)?;
        Ok(Self { directory })
    }

    /// Where the file of a hash, in lower-case hex, is or would be.
    #[must_use]
    pub fn path(&self, sha256: &str) -> PathBuf {
        self.directory.join(sha256)
    }

    /// What is kept under a hash.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    pub fn get(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        match ambient::read_at_most(&self.path(sha256), MOST_BYTES) {
            Ok(bytes) => Ok(bytes.filter(|bytes| random::hex_of(&Sha256::digest(bytes)) == sha256)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps bytes under their hash.
    ///
    /// # Errors
    ///
    /// When they cannot be written; then nothing is there.
    pub fn put(&self, sha256: &str, bytes: &[u8]) -> io::Result<()> {
        ambient::write_private_file(&self.path(sha256), bytes)
    }
}
