//! A list of patterns, compiled, where the last one that matches counts.

use std::cmp::Ordering;

use super::PatternError;
use super::globs::{Globs, Read};

/// A path as it is and as it is folded.
pub(crate) struct Spelling<'a> {
    pub(crate) exact: &'a [u8],
    pub(crate) folded: &'a [u8],
}

/// Which of a list's patterns are compared folded: those by which less may be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// Those that name something.
    Naming,
    /// Those that take back, with `!`.
    TakingBack,
}

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Rules {
    naming: Globs,
    taking_back: Globs,
    folded: Folded,
}

impl Rules {
    pub(crate) fn new<'a>(
        patterns: impl IntoIterator<Item = &'a str>,
        folded: Folded,
    ) -> Result<Self, PatternError> {
        let (mut naming, mut taking_back) = (Vec::new(), Vec::new());
        for (number, pattern) in patterns.into_iter().enumerate() {
            let (list, text, fold) = match pattern.strip_prefix('!') {
                Some(rest) => (&mut taking_back, rest, folded == Folded::TakingBack),
                None => (&mut naming, pattern, folded == Folded::Naming),
            };
            let glob = translate(text).and_then(|text| Read::new(&text, fold));
            list.push((glob.map_err(|reason| error(pattern, reason))?, number));
        }
        Ok(Self {
            naming: Globs::new(naming)?,
            taking_back: Globs::new(taking_back)?,
            folded,
        })
    }

    /// Whether the last pattern that matches the path itself names it; `None` when none does.
    pub(crate) fn verdict(&self, path: &Spelling<'_>) -> Option<bool> {
        let (naming, taking_back) = match self.folded {
            Folded::Naming => (path.folded, path.exact),
            Folded::TakingBack => (path.exact, path.folded),
        };
        let named = self.naming.last_match(naming);
        let taken_back = self.taking_back.last_match(taking_back);
        match named.cmp(&taken_back) {
            Ordering::Equal => None,
            order => Some(order == Ordering::Greater),
        }
    }
}

/// Whether a pattern, with its `!` if it has one, means something.
pub(crate) fn check(pattern: &str) -> Result<(), PatternError> {
    let text = pattern.strip_prefix('!').unwrap_or(pattern);
    let glob = translate(text).and_then(|text| Read::new(&text, false));
    glob.map(drop).map_err(|reason| error(pattern, reason))
}

fn error(pattern: &str, reason: String) -> PatternError {
    PatternError {
        pattern: pattern.to_owned(),
        reason,
    }
}

/// A pattern of gitignore(5), without its `!`, as a glob over paths from the root.
pub(crate) fn translate(pattern: &str) -> Result<String, String> {
    if pattern.starts_with('#') {
        return Err("it is a comment; write `\\#` for a name that begins with `#`".to_owned());
    }
    if pattern.chars().any(char::is_control) {
        return Err("it has a line break or another control character, which no path may have; give one pattern for each line".to_owned());
    }
    if pattern == "~" || pattern.starts_with("~/") {
        return Err("patterns begin at the directory that is granted, and `~` is no home there; write `/~` for a name".to_owned());
    }
    if has_unescaped_brace(pattern) {
        return Err("braces are no part of these patterns; give one pattern for each, or escape them: `\\{`".to_owned());
    }
    if let Some(letter) = escaped_letter(pattern) {
        return Err(format!(
            "names are separated by `/`, and `{letter}` needs no `\\` before it"
        ));
    }
    let body = pattern.strip_suffix('/').unwrap_or(pattern);
    let anchored = body.contains('/');
    let body = body.strip_prefix('/').unwrap_or(body);
    if body.is_empty() {
        return Err("it names nothing".to_owned());
    }
    if body.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err(
            "it can match nothing: paths have no empty name, no `.` and no `..`".to_owned(),
        );
    }
    if ends_in_space(body) {
        return Err("it ends in a space; write `[ ]` where that is meant".to_owned());
    }
    Ok(match anchored {
        true => body.to_owned(),
        false => format!("**/{body}"),
    })
}

/// Whether a pattern ends in a space that is not escaped.
fn ends_in_space(body: &str) -> bool {
    let before = body.trim_end_matches(char::is_whitespace);
    let spaces = body[before.len()..].chars().count();
    let escapes = before.len() - before.trim_end_matches('\\').len();
    spaces > usize::from(escapes % 2 == 1)
}

/// What means itself with a `\` as without: that was meant as a separator.
fn escaped_letter(pattern: &str) -> Option<char> {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\'
            && let Some(next) = chars.next()
            && (next.is_alphanumeric() || matches!(next, '_' | '.'))
        {
            return Some(next);
        }
    }
    None
}

fn has_unescaped_brace(pattern: &str) -> bool {
    let mut escaped = false;
    pattern.chars().any(|c| {
        let is_brace = !escaped && matches!(c, '{' | '}');
        escaped = !escaped && c == '\\';
        is_brace
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(patterns: &[&str], path: &str) -> Option<bool> {
        let rules = Rules::new(patterns.iter().copied(), Folded::Naming).unwrap();
        let path = path.as_bytes();
        rules.verdict(&Spelling {
            exact: path,
            folded: path,
        })
    }

    #[test]
    fn patterns_match_as_in_gitignore() {
        #[rustfmt::skip]
        let rows = [
            ("*.pem",      "a.pem",        true),
            ("*.pem",      "d/e/a.pem",    true),
            ("/*.pem",     "a.pem",        true),
            ("/*.pem",     "d/a.pem",      false),
            ("a/b",        "a/b",          true),
            ("a/b",        "x/a/b",        false),
            ("**/a/b",     "x/a/b",        true),
            ("**/a/b",     "a/b",          true),
            ("a/**",       "a/x/y",        true),
            ("a/**",       "a",            false),
            ("a/**/b",     "a/b",          true),
            ("a/**/b",     "a/x/y/b",      true),
            ("a/*",        "a/x/y",        false),
            ("private/",   "x/private",    true),
            ("?.md",       "d/a.md",       true),
            ("?.md",       "ab.md",        false),
            ("[a-c].md",   "b.md",         true),
            ("[!a-c].md",  "b.md",         false),
            ("\\!x",       "!x",           true),
            ("\\#x",       "#x",           true),
            ("~*",         "d/~$a.docx",   true),
            ("/~/a",       "~/a",          true),
            ("a\\{b\\}",   "a{b}",         true),
            (".*",         ".hidden",      true),
            ("a\\ ",       "a ",           true),
            ("a\\ ",       "a",            false),
            ("a[ ]",       "a ",           true),
        ];
        for (pattern, path, matches) in rows {
            assert_eq!(
                names(&[pattern], path).is_some(),
                matches,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn the_last_pattern_that_matches_counts() {
        assert_eq!(names(&["*.md", "!a.md"], "a.md"), Some(false));
        assert_eq!(names(&["!a.md", "*.md"], "a.md"), Some(true));
        assert_eq!(names(&["*.md", "!a.md", "a.*"], "a.md"), Some(true));
        assert_eq!(names(&["*.md"], "a.txt"), None);
    }

    #[test]
    fn what_means_nothing_is_an_error() {
        for pattern in [
            "",
            "/",
            "!",
            "#x",
            "a//b",
            "../a",
            "a/./b",
            "[a",
            "*.{pem,key}",
            "a ",
            "a\\  ",
            "a\\\\ ",
            "a\\b",
            "a\\.env",
            "*.pem\n*.key",
            "a\r",
            "\ta",
            "a\u{85}b",
            "~",
            "~/secret",
            "!~/secret",
        ] {
            let rules = Rules::new([pattern], Folded::Naming);
            assert!(rules.is_err(), "{pattern:?}");
        }
    }
}
