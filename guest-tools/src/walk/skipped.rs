//! What a walk left out, and why: an answer without hits says what was not looked at.

use crate::files::ErrorCode;
use schemars::JsonSchema;
use serde::Serialize;

/// Names that an answer shows of what was left out.
const EXAMPLES: usize = 5;

/// Counts by reason; a directory that is left out counts once.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Skipped {
    /// By the rules of a `.gitignore` or `.ignore`; answers show it at their top.
    #[serde(skip)]
    pub(crate) ignored: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) hidden: u64,
    /// Directories below the last level.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) too_deep: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) denied: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unreadable: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) binary: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) too_large: u64,
    /// Neither ASCII nor UTF-8: searched for what is ASCII only.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) not_utf8: u64,
    /// Names that no path can carry.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unusable: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) links: u64,
    /// Pipes, sockets, devices.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) special: u64,
    /// Some of the binary files that have the text all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    binary_with_hits: Vec<String>,
    /// Some of what could not be looked at although it was meant to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
}

/// Why something that was meant to be looked at was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    TooDeep,
    Denied,
    Unreadable,
    Binary,
    TooLarge,
    NotUtf8,
}

impl Skipped {
    /// Counts a failed look at `path`. What vanished meanwhile was not there.
    pub(crate) fn failed(&mut self, path: &str, code: ErrorCode) {
        match code {
            ErrorCode::NoEntry => {}
            ErrorCode::FileTooLarge => self.count(path, Reason::TooLarge),
            ErrorCode::Access | ErrorCode::NotPermitted => self.count(path, Reason::Denied),
            _ => self.count(path, Reason::Unreadable),
        }
    }

    /// Counts a binary file; one that has what is searched for is named.
    pub(crate) fn binary(&mut self, path: &str, has_hits: bool) {
        if has_hits && self.binary_with_hits.len() < EXAMPLES {
            self.binary_with_hits.push(path.to_owned());
        }
        self.count(path, Reason::Binary);
    }

    pub(crate) fn count(&mut self, path: &str, reason: Reason) {
        *match reason {
            Reason::TooDeep => &mut self.too_deep,
            Reason::Denied => &mut self.denied,
            Reason::Unreadable => &mut self.unreadable,
            Reason::Binary => &mut self.binary,
            Reason::TooLarge => &mut self.too_large,
            Reason::NotUtf8 => &mut self.not_utf8,
        } += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(path.to_owned());
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_left_out_is_shown() {
        let mut skipped = Skipped::default();
        assert_eq!(serde_json::to_string(&skipped).unwrap(), "{}");
        skipped.failed("a", ErrorCode::Access);
        skipped.failed("b", ErrorCode::Io);
        skipped.failed("gone", ErrorCode::NoEntry);
        for number in 0..9 {
            skipped.count(&format!("d{number}"), Reason::Binary);
        }
        assert_eq!(
            serde_json::to_string(&skipped).unwrap(),
            r#"{"denied":1,"unreadable":1,"binary":9,"examples":["a","b","d0","d1","d2"]}"#
        );
    }
}
