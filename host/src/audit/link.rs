//! How a line of a log hangs on the line before.

use std::borrow::Cow;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::NO_PREVIOUS;
use crate::random;

/// Where a chain has got to: the number and the hash of its last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) seq: u64,
    pub(super) hash: String,
}

/// What of a line binds it to others.
#[derive(Debug, Deserialize)]
pub(super) struct Link<'a> {
    #[serde(borrow)]
    pub(super) kind: Cow<'a, str>,
    pub(super) seq: u64,
    #[serde(borrow)]
    pub(super) prev: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) hash: Cow<'a, str>,
}

impl<'a> Link<'a> {
    /// Reads a line whose hash is that of its bytes. That these are in the canonical form is
    /// left to verification: no other bytes have the hash.
    pub(super) fn read(line: &'a [u8]) -> Result<Self, &'static str> {
        let link: Self = serde_json::from_slice(line).map_err(|_| "it is not a whole entry")?;
        match has_hash(line, &link.hash) {
            true => Ok(link),
            false => Err("it was edited: its hash is wrong"),
        }
    }

    /// Whether a line may stand at the beginning of a file. The `genesis` of a file may
    /// continue the chain of another file.
    pub(super) fn check_begins(&self) -> Result<(), &'static str> {
        if self.kind != "genesis" {
            return Err(NO_GENESIS);
        }
        match (self.prev == NO_PREVIOUS, self.seq == 0) {
            (true, true) | (false, false) => Ok(()),
            _ => Err(DOES_NOT_FOLLOW),
        }
    }

    /// Whether a line stands right behind another.
    pub(super) fn check_follows(&self, last: &Last) -> Result<(), &'static str> {
        match self.prev == last.hash && Some(self.seq) == last.seq.checked_add(1) {
            true => Ok(()),
            false => Err(DOES_NOT_FOLLOW),
        }
    }
}

pub(super) const NO_GENESIS: &str = "the log does not begin with a genesis";
const DOES_NOT_FOLLOW: &str =
    "it does not follow the line before: lines are missing, added or out of order";

/// Whether a line ends in this hash, and it is that of what stands before it.
pub(super) fn has_hash(line: &[u8], hash: &str) -> bool {
    let end = format!(",\"hash\":\"{hash}\"}}");
    let Some(body) = line.strip_suffix(end.as_bytes()) else {
        return false;
    };
    let digest = Sha256::new().chain_update(body).chain_update("}");
    random::hex_of(&digest.finalize()) == hash
}
