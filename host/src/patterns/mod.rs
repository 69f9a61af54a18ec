//! Patterns: which objects may be touched, by where they stand below their root.
//!
//! The syntax is that of gitignore(5). Nothing here looks at a file: the guard says where an
//! object stands, and asks.

mod characters;
mod fold;
mod globs;
mod judge;
mod rules;
mod secrets;

use std::path::{Path, PathBuf};

pub(crate) use fold::fold_letters;
pub(crate) use judge::{Judge, Subject};
pub use secrets::SECRETS;

/// Bytes that a message shows of a pattern that is one too many.
const LONGEST_SHOWN: usize = 100;

/// Globs over paths from the root, in the syntax of gitignore(5), the same for every root.
///
/// A pattern without a `/` names things at every depth, one with a `/` names them from the root;
/// what lies below a thing that is named is named too. Later patterns count more than earlier
/// ones, and `!` takes back. Two things are stricter than in git: braces have to be escaped, and
/// a `/` at the end makes no difference to `deny`, since a rule holds before it is known
/// whether a name will be a directory's. `?` and classes are about one character, and not one byte.
///
/// With `allow`, a directory may be gone through as long as something below it could be allowed:
/// it is looked up, listed, searched, made, removed when it is empty, and renamed when all that
/// it holds may be touched at both places. What is no directory has to be named itself; so has
/// a link, or it is not listed, though what lies behind it is judged by where it really stands.
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
    /// Further lists of that kind, from elsewhere: what is touched must be named by each of them
    /// as well, so that no list widens another. An empty one is none.
    pub allow_also: Vec<Vec<String>>,
    /// What may not be touched, whatever else allows it. Capital and small letters are the
    /// same, and so are the normal forms of Unicode.
    pub deny: Vec<String>,
    /// Whether [`SECRETS`] are denied as well, before `deny`, so that it can take some back.
    pub protect_secrets: bool,
    /// What is denied from elsewhere: each list is judged by itself, so that no `!` takes back
    /// what another one denies.
    pub deny_also: Vec<Denied>,
}

/// What one source denies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denied {
    /// As [`Patterns::deny`].
    pub patterns: Vec<String>,
    /// As [`Patterns::protect_secrets`], for this list.
    pub protect_secrets: bool,
}

/// A [`Denied`] of which nothing is owned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Denying<'a> {
    pub(crate) patterns: &'a [String],
    pub(crate) protect_secrets: bool,
}

impl Denying<'_> {
    fn is_empty(self) -> bool {
        self.patterns.is_empty() && !self.protect_secrets
    }
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

impl PatternError {
    fn one_too_many(pattern: &str, most: &str) -> Self {
        let end = pattern.floor_char_boundary(LONGEST_SHOWN);
        Self {
            pattern: match end < pattern.len() {
                true => format!("{}…", &pattern[..end]),
                false => pattern.to_owned(),
            },
            reason: format!(
                "there may be {most} at most; name directories, or names with `*`, instead of each file"
            ),
        }
    }
}

impl Patterns {
    /// The most patterns that there may be, in all lists together: each is asked about each name
    /// on every path. Long lists of ignored names have some hundreds.
    pub const MAX_PATTERNS: usize = 4096;
    /// Bytes of one pattern; no path is longer.
    pub const MAX_PATTERN_BYTES: usize = 4096;
    /// Names of one pattern, with `/` between them: each is a directory that can be on the way.
    pub const MAX_PATTERN_NAMES: usize = 64;
    /// Bytes of all patterns together.
    pub const MAX_BYTES: usize = 256 << 10;

    /// Whether every pattern means something, and there are not too many.
    ///
    /// # Errors
    ///
    /// The first pattern that does not, or that is one too many.
    pub fn check(&self) -> Result<(), PatternError> {
        self.check_amount()?;
        self.all().try_for_each(|pattern| rules::check(pattern))
    }

    /// Whether there is nothing to be asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.denying().next().is_none() && self.allowing().next().is_none()
    }

    /// The lists of which each denies by itself.
    pub(crate) fn denying(&self) -> impl Iterator<Item = Denying<'_>> {
        let own = Denying {
            patterns: &self.deny,
            protect_secrets: self.protect_secrets,
        };
        let further = self.deny_also.iter().map(|list| Denying {
            patterns: &list.patterns,
            protect_secrets: list.protect_secrets,
        });
        std::iter::once(own)
            .chain(further)
            .filter(|list| !list.is_empty())
    }

    /// The lists of which each has to name what is touched.
    pub(crate) fn allowing(&self) -> impl Iterator<Item = &Vec<String>> {
        let lists = std::iter::once(&self.allow).chain(&self.allow_also);
        lists.filter(|list| !list.is_empty())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &String> {
        let denying = self.denying().flat_map(|list| list.patterns);
        self.allowing().flatten().chain(denying)
    }

    pub(crate) fn check_amount(&self) -> Result<(), PatternError> {
        let mut bytes = 0;
        for (number, pattern) in self.all().enumerate() {
            bytes += pattern.len();
            let most = match () {
                () if number >= Self::MAX_PATTERNS => format!("{} patterns", Self::MAX_PATTERNS),
                () if pattern.len() > Self::MAX_PATTERN_BYTES => {
                    format!("{} bytes in one pattern", Self::MAX_PATTERN_BYTES)
                }
                () if pattern.split('/').count() > Self::MAX_PATTERN_NAMES => {
                    format!("{} names in one pattern", Self::MAX_PATTERN_NAMES)
                }
                () if bytes > Self::MAX_BYTES => format!("{} bytes of patterns", Self::MAX_BYTES),
                () => continue,
            };
            return Err(PatternError::one_too_many(pattern, &most));
        }
        Ok(())
    }

    /// Whether they can match something, where these directories are granted.
    pub(crate) fn check_below(&self, granted: &[PathBuf]) -> Result<(), PatternError> {
        let error = |pattern: &String, reason: String| {
            let pattern = pattern.clone();
            Err(PatternError { pattern, reason })
        };
        let take_back = |patterns: &[String]| patterns.iter().all(|it| it.starts_with('!'));
        if let Some(list) = self.allowing().find(|list| take_back(list)) {
            let reason =
                "it takes back what nothing in its own list allows; without the `!` it allows";
            return error(&list[0], reason.to_owned());
        }
        let takes_back_alone =
            |list: &Denying<'_>| !list.protect_secrets && take_back(list.patterns);
        if let Some(list) = self.denying().find(takes_back_alone) {
            let reason =
                "it takes back what nothing in its own list denies; without the `!` it denies";
            return error(&list.patterns[0], reason.to_owned());
        }
        for pattern in self.all() {
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
        for (allow, is_some) in [
            (&["!x"][..], false),
            (&["!x", "!y"], false),
            (&["x", "!y"], true),
        ] {
            let patterns = Patterns {
                allow: allow.iter().map(|&pattern| pattern.to_owned()).collect(),
                ..Patterns::default()
            };
            assert_eq!(patterns.check_below(&[]).is_ok(), is_some, "{allow:?}");
        }
    }

    /// Each bound at it and one above; over all lists together.
    #[test]
    fn patterns_are_bounded_in_number_and_length() {
        let with = |deny: Vec<String>, allow: &[&[&str]]| Patterns {
            deny,
            allow_also: (allow.iter())
                .map(|list| list.iter().map(|&pattern| pattern.to_owned()).collect())
                .collect(),
            ..Patterns::default()
        };
        let named = |count: usize| (0..count).map(|number| format!("n{number}")).collect();
        let long = |bytes: usize| "x".repeat(bytes);
        let sixty_four = |last: usize| {
            let mut all = vec![long(Patterns::MAX_PATTERN_BYTES); 63];
            all.push(long(last));
            all
        };
        #[rustfmt::skip]
        let rows = [
            (with(named(4096), &[]),                 None),
            (with(named(4097), &[]),                 Some("4096 patterns")),
            (with(named(4095), &[&["a"]]),           None),
            (with(named(4095), &[&["a"], &["b"]]),   Some("4096 patterns")),
            (with(vec![long(4096)], &[]),            None),
            (with(vec![long(4097)], &[]),            Some("4096 bytes in one pattern")),
            (with(vec!["a/".repeat(63) + "b"], &[]), None),
            (with(vec!["a/".repeat(64) + "b"], &[]), Some("64 names in one pattern")),
            (with(sixty_four(4096), &[]),            None),
            (with(sixty_four(4096), &[&["a"]]),      Some("262144 bytes of patterns")),
        ];
        for (at, (patterns, most)) in rows.into_iter().enumerate() {
            let checked = patterns.check();
            match most {
                None => assert_eq!(checked, Ok(()), "{at}"),
                Some(most) => {
                    let told = checked.unwrap_err().to_string();
                    assert!(told.contains(most) && told.len() < 400, "{at}: {told}");
                    assert!(Judge::new(&patterns).is_err(), "{at}");
                }
            }
        }
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
