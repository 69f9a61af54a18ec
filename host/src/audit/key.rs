//! Keys that sign a log's checkpoints.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use crate::{ambient, random, written};

/// What a key file begins with.
const KEY_FORMAT: &str = "rootbound-audit-key/1";
/// More than a key file ever holds.
const MAX_KEY_FILE: usize = 1024;

/// The secret key of someone who vouches for a log: Ed25519 (RFC 8032).
///
/// Whoever has it can write a log that verifies. Keep it where no tool can read it; a
/// session refuses roots that hold it.
#[derive(Clone)]
pub struct AuditKey {
    key: SigningKey,
    location: Option<PathBuf>,
}

/// The key by which others verify signatures of an [`AuditKey`]. Its text is 64 lower-case
/// hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditPublicKey(VerifyingKey);

/// A text is no public key.
#[derive(Debug, thiserror::Error)]
#[error("a public key is 64 hexadecimal digits, as `rootbound audit keygen` prints them")]
pub struct NoPublicKey;

impl AuditKey {
    /// A new key from the system's source of randomness.
    #[must_use]
    pub fn generate() -> Self {
        Self {
            key: SigningKey::from_bytes(&random::bytes()),
            location: None,
        }
    }

    /// Reads a key file, which must belong to the user and be closed to everyone else.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, others may read it, or it holds no key.
    pub fn read(file: impl AsRef<Path>) -> io::Result<Self> {
        let bytes = ambient::read_private_file(file.as_ref(), MAX_KEY_FILE)?;
        let text = std::str::from_utf8(&bytes).ok();
        let digits = text
            .and_then(|text| text.trim_end().strip_prefix(KEY_FORMAT))
            .and_then(|rest| random::bytes_of(rest.trim_start()));
        let seed = digits.ok_or_else(|| {
            let why = "it is not a key that `rootbound audit keygen` has written";
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?;
        Ok(Self {
            key: SigningKey::from_bytes(&seed),
            location: Some(file.as_ref().to_owned()),
        })
    }

    /// Writes the key to a new file of mode 0600, whole or not at all.
    ///
    /// # Errors
    ///
    /// When there is a file already, or it cannot be written.
    pub fn write_new(&self, file: impl AsRef<Path>) -> io::Result<()> {
        let text = format!("{KEY_FORMAT} {}\n", random::hex_of(self.key.as_bytes()));
        written::write_new_private_file(file.as_ref(), text.as_bytes())
    }

    /// The key for those who verify.
    #[must_use]
    pub fn public_key(&self) -> AuditPublicKey {
        AuditPublicKey(self.key.verifying_key())
    }

    /// The file that the key was read from.
    pub(crate) fn location(&self) -> Option<&Path> {
        self.location.as_deref()
    }

    /// The signature of a message, 128 lower-case hexadecimal digits.
    pub(super) fn sign(&self, message: &[u8]) -> String {
        random::hex_of(&self.key.sign(message).to_bytes())
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuditKey({})", self.public_key())
    }
}

impl AuditPublicKey {
    /// Whether the signature is one of this message by this key (RFC 8032, strictly).
    pub(super) fn has_signed(&self, message: &[u8], signature: &str) -> bool {
        // Digits of one case, as they are written: a log has one form.
        let Some(bytes) =
            random::bytes_of::<64>(signature).filter(|bytes| random::hex_of(bytes) == signature)
        else {
            return false;
        };
        let signature = Signature::from_bytes(&bytes);
        self.0.verify_strict(message, &signature).is_ok()
    }
}

impl fmt::Display for AuditPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&random::hex_of(self.0.as_bytes()))
    }
}

impl FromStr for AuditPublicKey {
    type Err = NoPublicKey;

    fn from_str(text: &str) -> Result<Self, NoPublicKey> {
        let bytes = random::bytes_of(text).ok_or(NoPublicKey)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| NoPublicKey)?;
        Ok(Self(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_message_and_one_key() {
        let (key, other) = (AuditKey::generate(), AuditKey::generate());
        let signature = key.sign(b"message");
        assert!(key.public_key().has_signed(b"message", &signature));
        assert!(!key.public_key().has_signed(b"massage", &signature));
        assert!(!other.public_key().has_signed(b"message", &signature));
        assert!(!key.public_key().has_signed(b"message", &signature[2..]));
        let upper = signature.to_uppercase();
        assert!(upper != signature && !key.public_key().has_signed(b"message", &upper));
    }

    #[test]
    fn a_public_key_is_read_as_it_is_written() {
        let key = AuditKey::generate().public_key();
        assert_eq!(key.to_string().parse::<AuditPublicKey>().ok(), Some(key));
        for wrong in ["", "00", &"g".repeat(64), &"0".repeat(66)] {
            assert!(wrong.parse::<AuditPublicKey>().is_err(), "{wrong}");
        }
    }

    /// RFC 8032, section 7.1, TEST 1: a message of no bytes.
    #[test]
    fn signatures_are_those_of_the_standard() {
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let seed = random::bytes_of(seed).expect("hexadecimal");
        let location = None;
        let key = AuditKey {
            key: SigningKey::from_bytes(&seed),
            location,
        };
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        assert_eq!(key.public_key().to_string(), public);
        assert!(
            key.sign(b"")
                .starts_with("e5564300c360ac729086e2cc806e828a")
        );
    }
}
