//! Patterns: which objects may be touched, by where they stand below their root.
//!
//! The syntax is that of gitignore(5). Nothing here looks at a file: the guard says where an
//! object stands, and asks.

mod fold;
mod judge;
mod rules;
mod secrets;

use std::path::{Path, PathBuf};

pub(crate) use fold::fold_letters;
pub(crate) use judge::{Judge, Subject};
use secrets::SECRET_FILES;
pub use secrets::SECRETS;

/// Globs over paths from the root, in the syntax of gitignore(5), the same for every root.
///
/// A pattern without a `/` names things at every depth, one with a `/` names them from the root;
/// what lies below a thing that is named is named too. Later patterns count more than earlier
/// ones, and `!` takes back. Two things are stricter than in git: braces have to be escaped, and
/// a `/` at the end makes no difference to `deny`, since a rule holds before it is known
/// whether a name will be a directory's.
///
/// They cannot see that a hard link is another name of the same file.
///
/// # Examples
///
/// ```
/// use rootbound::{AuditLog, Session};
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let inputs = tempfile::tempdir()?;
/// # std::fs::write(inputs.path().join(".env"), "KEY=1")?;
/// let session = Session::builder()
///     .read_root(inputs.path())
///     .deny("*.draft.md")
///     .protect_secrets(true)
///     .audit(AuditLog::none())
///     .build()?;
/// let refused = session.call("read_file", json!({"path": ".env"})).unwrap_err();
/// assert_eq!(refused.code(), "pattern-denied");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns {
    /// If there are any, only what they name may be touched. Letters count as they are
    /// written.
    pub allow: Vec<String>,
    /// What may not be touched, whatever else allows it. Capital and small letters are the
    /// same.
    pub deny: Vec<String>,
    /// Whether [`SECRETS`] are denied as well, before `deny`, so that it can take some back; with
    /// them a `.git` that is no directory.
    pub protect_secrets: bool,
}

/// A pattern that means nothing, or not what its author thinks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a pattern: {reason}")]
pub struct PatternError {
    /// The pattern as it was given.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Patterns {
    /// Whether every pattern means something.
    ///
    /// # Errors
    ///
    /// The first pattern that does not.
    pub fn check(&self) -> Result<(), PatternError> {
        Judge::new(self).map(drop)
    }

    /// Whether they can match something, where these directories are granted.
    pub(crate) fn check_below(&self, granted: &[PathBuf]) -> Result<(), PatternError> {
        let error = |pattern: &String, reason: String| {
            let pattern = pattern.clone();
            Err(PatternError { pattern, reason })
        };
        let only_taking_back = self.deny.iter().all(|pattern| pattern.starts_with('!'));
        if let Some(first) = self.deny.first()
            && only_taking_back
            && !self.protect_secrets
        {
            let reason = "it takes back what nothing denies; without the `!` it denies";
            return error(first, reason.to_owned());
        }
        for pattern in self.allow.iter().chain(&self.deny) {
            if let Some(rest) = below_any(pattern, granted) {
                let reason = format!(
                    "patterns begin at the directory that is granted, not at the file system's root; write `/{rest}`"
                );
                return error(pattern, reason);
            }
        }
        Ok(())
    }
}

/// What of a pattern is left behind the path of a directory on the host.
fn below_any<'a>(pattern: &'a str, granted: &[PathBuf]) -> Option<&'a str> {
    let path = Path::new(pattern.strip_prefix('!').unwrap_or(pattern));
    let mut named = granted
        .iter()
        .filter(|directory| directory.parent().is_some());
    let rest = named.find_map(|directory| path.strip_prefix(directory).ok())?;
    match rest.to_str()? {
        _ if path.is_relative() => None,
        "" => Some("*"),
        rest => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(deny: &[&str], protect_secrets: bool) -> Result<(), PatternError> {
        let patterns = Patterns {
            deny: deny.iter().map(|&pattern| pattern.to_owned()).collect(),
            protect_secrets,
            ..Patterns::default()
        };
        patterns.check_below(&["/srv/desk".into(), "/".into(), "notes".into()])
    }

    #[test]
    fn what_can_match_nothing_is_an_error_that_says_what_to_write() {
        let error = checked(&["/srv/desk/private/*.md"], false).unwrap_err();
        assert!(error.reason.contains("`/private/*.md`"), "{error}");
        let error = checked(&["/srv/desk"], false).unwrap_err();
        assert!(error.reason.contains("`/*`"), "{error}");
        assert!(checked(&["!private"], false).is_err());
    }

    #[test]
    fn what_can_match_something_is_none() {
        for deny in [
            &["/srv/deskold/x"][..],
            &["/private"],
            &["notes/x"],
            &["srv/desk/x"],
            &["x", "!x"],
            &[],
        ] {
            assert_eq!(checked(deny, false), Ok(()), "{deny:?}");
        }
        assert_eq!(checked(&["!.env.example"], true), Ok(()));
    }
}
