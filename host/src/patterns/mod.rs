//! Patterns: which objects may be touched, by where they stand below their root.
//!
//! The syntax is that of gitignore(5). Nothing here looks at a file: the guard says where an
//! object stands, and asks.

mod fold;
mod judge;
mod rules;
mod secrets;

pub(crate) use judge::{Judge, Subject};
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
    /// Whether [`SECRETS`] are denied as well, before `deny`, so that it can take some back.
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
}
