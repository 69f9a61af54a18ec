//! Metadata as results carry it.

use super::DescriptorType;
use crate::bindings::wasi::clocks::wall_clock::Datetime;
use crate::bindings::wasi::filesystem::types::MetadataHashValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime};

/// The last second of the year 9999, the end of RFC 3339.
const LAST_SECOND: u64 = 253_402_300_799;

/// What an object is, as arguments and results name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(description = "")]
pub enum Kind {
    #[allow(missing_docs, reason = "in schemas the words stand for themselves")]
    File,
    #[allow(missing_docs, reason = "in schemas the words stand for themselves")]
    Directory,
    #[allow(missing_docs, reason = "in schemas the words stand for themselves")]
    Symlink,
    #[allow(missing_docs, reason = "in schemas the words stand for themselves")]
    Other,
}

impl From<DescriptorType> for Kind {
    fn from(kind: DescriptorType) -> Self {
        match kind {
            DescriptorType::RegularFile => Self::File,
            DescriptorType::Directory => Self::Directory,
            DescriptorType::SymbolicLink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

/// A time of modification as RFC 3339 in UTC, to the second.
pub fn modified(time: Option<Datetime>) -> Option<String> {
    let seconds = time?.seconds;
    (seconds <= LAST_SECOND).then(|| {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        humantime::format_rfc3339_seconds(time).to_string()
    })
}

/// The version of an object: WASI's metadata hash as 32 hex digits, `upper` first.
pub fn version(hash: MetadataHashValue) -> String {
    format!("{:016x}{:016x}", hash.upper, hash.lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Option<String> {
        modified(Some(Datetime {
            seconds,
            nanoseconds: 999_999_999,
        }))
    }

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(at(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(at(LAST_SECOND).as_deref(), Some("9999-12-31T23:59:59Z"));
        assert_eq!(at(LAST_SECOND + 1), None);
        assert_eq!(modified(None), None);
    }

    #[test]
    fn versions_have_32_digits_upper_first() {
        let hash = MetadataHashValue {
            lower: 0xab,
            upper: 1,
        };
        assert_eq!(version(hash), "000000000000000100000000000000ab");
    }
}
