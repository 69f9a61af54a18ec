//! What several tools take and answer.

use crate::tool::{Failure, Within};
use crate::walk::{DEPTH, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Entries of a tree that a page has when the caller asks for no other number.
pub(super) const LIMIT: u64 = 1000;
/// Entries that a page has at most, as a listing of the host by default.
pub(super) const MOST: u64 = 10_000;

/// A number from 1.
pub(super) type Positive = Within<1, { u64::MAX }>;

/// A text for a file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    pub(super) path: String,
    pub(super) content: String,
}

/// What was written.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Written {
    pub(super) path: String,
    pub(super) bytes_written: u64,
    /// False when an existing file was replaced.
    pub(super) created: bool,
}

/// One name and another.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FromTo {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) overwrite: Option<bool>,
}

/// How a tree is walked through.
#[derive(Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct Walking {
    #[schemars(extend("default" = DEPTH))]
    pub(super) depth: Option<Positive>,
    /// Also names such as `.env`
    pub(super) hidden: Option<bool>,
    #[schemars(extend("default" = true))]
    pub(super) gitignore: Option<bool>,
    /// From `next_cursor`
    pub(super) cursor: Option<String>,
    /// Only this granted directory
    pub(super) root: Option<String>,
}

impl Walking {
    /// With what the caller leaves open.
    pub(super) fn options(&self, hidden: bool, gitignore: bool) -> Options {
        let depth = self.depth.map_or(DEPTH.into(), Positive::get);
        Options {
            depth: u32::try_from(depth).unwrap_or(u32::MAX),
            hidden: self.hidden.unwrap_or(hidden),
            gitignore: self.gitignore.unwrap_or(gitignore),
        }
    }
}

/// The name of a new file is taken.
pub(crate) fn exists(path: &str) -> Failure {
    Failure::new("exists", format!("`{path}` exists already"))
        .hint("choose another name, or give `overwrite: true` to replace it")
}

/// The name that a file is copied or moved to is taken, be it by a directory that it was
/// meant to go into.
pub(super) fn taken(from: &str, to: &str) -> Failure {
    let name = from
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(from);
    let inside = format!("{}/{name}", to.trim_end_matches('/'));
    Failure::new("exists", format!("`{to}` exists already")).hint(format!(
        "choose another name; if it is a directory, give `{inside}`; if it is a file, \
         `overwrite: true` replaces it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_refused_with_the_way_to_replace_it() {
        let failure = exists("a.txt");
        assert_eq!(failure.code, "exists");
        assert_eq!(failure.message, "`a.txt` exists already");
        assert!(failure.hint.contains("`overwrite: true`"));
    }

    #[test]
    fn a_directory_as_a_target_is_told_how_to_be_one() {
        for to in ["d", "d/"] {
            let failure = taken("a/b.txt", to);
            assert_eq!(failure.code, "exists");
            assert!(failure.hint.contains("give `d/b.txt`"), "{}", failure.hint);
        }
    }

    #[test]
    fn what_is_left_open_is_for_the_tool_to_say() {
        let open = Walking::default().options(true, false);
        assert!(open.depth == DEPTH && open.hidden && !open.gitignore);
        let walking: Walking =
            serde_json::from_str(r#"{"depth":4294967297,"hidden":false,"gitignore":true}"#)
                .unwrap();
        let said = walking.options(true, false);
        assert!(said.depth == u32::MAX && !said.hidden && said.gitignore);
    }
}
