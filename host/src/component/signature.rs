//! Detached signatures of components, in the format of minisign.

use std::fmt;

use minisign_verify::{Error, PublicKey, Signature};

use super::fault::{ComponentError, component_code as code};

/// The end of the name of a file that holds a signature.
pub(super) const SUFFIX: &str = ".minisig";
/// Bytes of a file that holds a signature; minisign's own have some three hundred.
pub(super) const MAX_SIGNATURE_BYTES: u64 = 16 << 10;

/// A key whose owner's components are taken: the public half of a minisign key.
#[derive(Clone)]
pub struct TrustedKey {
    key: PublicKey,
    text: String,
}

/// A text is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no minisign public key: it has 56 characters and begins with `RW`")]
pub struct InvalidKey(String);

impl TrustedKey {
    /// Reads a key as minisign prints it: 56 characters of base64.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let key = PublicKey::from_base64(text).map_err(|_| InvalidKey(text.to_owned()))?;
        let text = text.to_owned();
        Ok(Self { key, text })
    }
}

impl fmt::Display for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustedKey({})", self.text)
    }
}

/// Whose signatures are taken, and whether there has to be one.
#[derive(Clone, Debug, Default)]
pub(super) struct Trust {
    pub(super) keys: Vec<TrustedKey>,
    pub(super) required: bool,
}

impl Trust {
    /// Checks a signature, where there is one or has to be one. A signature that does not
    /// verify is never as good as none.
    pub(super) fn check(
        &self,
        bytes: &[u8],
        signature: Option<&[u8]>,
    ) -> Result<(), ComponentError> {
        match signature {
            None if self.required => Err(missing()),
            // Nobody said whose signatures count, or that any does.
            Some(_) if self.keys.is_empty() && !self.required => Ok(()),
            None => Ok(()),
            Some(signature) => self.verify(bytes, signature),
        }
    }

    fn verify(&self, bytes: &[u8], signature: &[u8]) -> Result<(), ComponentError> {
        let text = std::str::from_utf8(signature).map_err(|_| invalid())?;
        let signature = Signature::decode(text).map_err(|_| invalid())?;
        for TrustedKey { key, .. } in &self.keys {
            // Signatures of the old kind cover the file itself and not its hash; nobody has
            // made them by default for years.
            match key.verify(bytes, &signature, false) {
                Ok(()) => return Ok(()),
                Err(Error::UnexpectedKeyId) => {}
                Err(Error::UnexpectedAlgorithm) => return Err(legacy()),
                Err(_) => return Err(invalid()),
            }
        }
        Err(ComponentError::new(
            code::SIGNATURE_UNKNOWN_KEY,
            "it is signed with a key that is not trusted",
        )
        .hint_of("if the signer can be trusted, name the key with `--trusted-key`"))
    }
}

fn missing() -> ComponentError {
    ComponentError::new(
        code::SIGNATURE_MISSING,
        "it has no signature, and one is required",
    )
    .hint_of(format!(
        "the signature stands beside the file, in `FILE.wasm{SUFFIX}`"
    ))
}

/// Nothing is wrong with the file, but with how it was signed.
fn legacy() -> ComponentError {
    ComponentError::new(
        code::SIGNATURE_INVALID,
        "its signature is of minisign's old kind, which is not taken",
    )
    .hint_of("the signer has to sign it again with `minisign -S`, without `-l`")
}

fn invalid() -> ComponentError {
    ComponentError::new(
        code::SIGNATURE_INVALID,
        "its signature cannot be read, is none, or is not of this file",
    )
    .hint_of("get file and signature again, and do not run the file")
}
