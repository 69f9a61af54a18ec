//! Globs, as a line of a `.gitignore` takes them.

use crate::tool::Failure;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use memchr::memmem::Finder;
use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A glob: a name at any depth, or with a `/` inside a path from where the search starts.
pub(crate) struct Pattern {
    glob: Gitignore,
    /// What stands in every path that the glob matches. Most paths do not have it, and looking for
    /// it costs a tenth of matching.
    literal: Finder<'static>,
    inverted: bool,
    spelling: Spelling,
}

/// Which spellings of a name count as the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// Upper and lower case.
    pub(crate) any_case: bool,
    /// Composed and decomposed characters (NFC, NFD).
    pub(crate) any_form: bool,
}

impl Spelling {
    /// Whether names are taken as they are.
    pub(crate) fn is_exact(self) -> bool {
        self == Self::default()
    }

    fn of(self, text: &str) -> Cow<'_, str> {
        let mut text = Cow::Borrowed(text);
        if self.any_form && !is_nfc(&text) {
            text = text.nfc().collect::<String>().into();
        }
        if self.any_case {
            text = text.to_lowercase().into();
        }
        text
    }
}

impl Pattern {
    /// # Errors
    /// `invalid-arguments` when the text is empty or no glob.
    pub(crate) fn new(text: &str, spelling: Spelling) -> Result<Self, Failure> {
        Self::build(text, spelling, false)
    }

    /// As [`Pattern::new`], and with a `!` in front for all but what the glob matches.
    pub(crate) fn or_all_but(text: &str) -> Result<Self, Failure> {
        match text.strip_prefix('!') {
            Some(rest) => Self::build(rest, Spelling::default(), true),
            None => Self::new(text, Spelling::default()),
        }
    }

    fn build(text: &str, spelling: Spelling, inverted: bool) -> Result<Self, Failure> {
        if text.trim_matches(['/', ' ']).is_empty() {
            return Err(Failure::invalid_arguments("the glob is empty")
                .hint("give a glob such as `*.md` or `src/**/*.rs`; `*` matches every name"));
        }
        if text.split('/').any(|name| name == "..") {
            return Err(climbs(text));
        }
        if let Some(problem) = unclosed(text) {
            return Err(not_a_glob(text, problem));
        }
        let line = spelling
            .of(text.strip_prefix("./").unwrap_or(text))
            .into_owned();
        let literal = match spelling.is_exact() {
            true => literal_of(&line),
            false => "",
        };
        let literal = Finder::new(literal).into_owned();
        // What starts a comment or an exception in a file is an ordinary character here, and
        // so is a space at the end.
        let line = match line.strip_prefix(['#', '!']) {
            Some(_) => format!("\\{line}"),
            None => line,
        };
        let line = match line.strip_suffix(' ') {
            Some(start) => format!("{start}\\ "),
            None => line,
        };
        let mut builder = GitignoreBuilder::new("");
        let glob = builder
            .add_line(None, &line)
            .and_then(|builder| builder.build());
        let glob = glob.map_err(|error| not_a_glob(text, &reason(&error)))?;
        Ok(Self {
            glob,
            literal,
            inverted,
            spelling,
        })
    }

    /// Whether a path, relative to where the search starts, is matched.
    pub(crate) fn matches(&self, path: &str, is_directory: bool) -> bool {
        if self.literal.find(path.as_bytes()).is_none() {
            return self.inverted;
        }
        let path = self.spelling.of(path);
        self.glob.matched(&*path, is_directory).is_ignore() != self.inverted
    }
}

/// The longest text of a glob that stands for itself, of what is before the first class,
/// alternative or escape. White space at the end may not count.
fn literal_of(glob: &str) -> &str {
    let plain = glob.split(['[', '{', '\\']).next().unwrap_or_default();
    let plain = plain.trim_end();
    let texts = plain.split(['*', '?', '/']);
    texts.max_by_key(|text| text.len()).unwrap_or_default()
}

/// Whether a glob asks for hidden names by its own words.
pub(crate) fn names_hidden(glob: &str) -> bool {
    let is_hidden = |name: &str| name.starts_with('.') && !matches!(name, "." | "..");
    glob.split('/').any(is_hidden)
}

/// No path below the start has `..` in it, so that such a glob would silently find nothing.
fn climbs(text: &str) -> Failure {
    Failure::invalid_arguments(format!("the glob `{text}` climbs out with `..`"))
        .hint("give the directory to start from as `path`, and the glob from there")
}

fn not_a_glob(text: &str, problem: &str) -> Failure {
    Failure::invalid_arguments(format!("`{text}` is not a glob: {problem}"))
        .hint("close every `[` and `{`, or put a backslash before it to match it")
}

/// A `[` that nothing closes: git passes such a line over, and so would the matcher.
fn unclosed(text: &str) -> Option<&'static str> {
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '[']) {
        let behind = &rest[at + 1..];
        rest = match rest.as_bytes()[at] {
            b'\\' => behind.get(behind.chars().next().map_or(0, char::len_utf8)..)?,
            // The first character of a class is one of it, be it a `]`.
            _ => {
                let inside = behind.strip_prefix(['!', '^']).unwrap_or(behind);
                let first = inside.chars().next().map_or(0, char::len_utf8);
                match inside[first..].find(']') {
                    Some(end) => &inside[first + end + 1..],
                    None => return Some("a `[` is not closed"),
                }
            }
        };
    }
    None
}

fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(glob: &str, path: &str, is_directory: bool) -> bool {
        let pattern = Pattern::new(glob, Spelling::default()).unwrap();
        pattern.matches(path, is_directory)
    }

    #[test]
    fn a_glob_that_could_find_nothing_is_refused() {
        for (text, said) in [
            ("../*", "climbs out"),
            ("src/../*.rs", "climbs out"),
            ("[a", "is not closed"),
            ("*.[ch", "is not closed"),
            ("[]", "is not closed"),
            ("a[!]", "is not closed"),
        ] {
            let failure = Pattern::new(text, Spelling::default()).err().unwrap();
            assert!(
                failure.message.contains(said),
                "{text}: {}",
                failure.message
            );
            assert!(!failure.hint.is_empty());
        }
        for text in ["[ab]", "\\[a", "[]a]", "[!]a]x", "a\\", "..a", "é[é]"] {
            assert!(unclosed(text).is_none(), "{text}");
        }
    }

    #[test]
    fn globs_are_those_of_gitignore() {
        for (glob, path, is_directory, matched) in [
            ("*.rs", "a.rs", false, true),
            ("*.rs", "src/a.rs", false, true),
            ("/*.rs", "src/a.rs", false, false),
            ("src/*.rs", "src/a.rs", false, true),
            ("./src/*.rs", "src/a.rs", false, true),
            ("src/*.rs", "x/src/a.rs", false, false),
            ("src/*.rs", "src/b/a.rs", false, false),
            ("src/**/*.rs", "src/b/c/a.rs", false, true),
            ("src/**/*.rs", "src/a.rs", false, true),
            ("**/b/*", "src/b/a.rs", false, true),
            ("src/**", "src/b/a.rs", false, true),
            ("*.{ts,tsx}", "a/b.tsx", false, true),
            ("[ab]?.txt", "b1.txt", false, true),
            ("[!ab]?.txt", "b1.txt", false, false),
            ("d/", "d", true, true),
            ("d/", "d", false, false),
            ("*", ".hidden", false, true),
            ("#x", "#x", false, true),
            ("!x", "!x", false, true),
            ("x ", "x ", false, true),
            ("\\*", "*", false, true),
            ("\\*", "a", false, false),
        ] {
            assert_eq!(matches(glob, path, is_directory), matched, "{glob} {path}");
        }
    }

    #[test]
    fn what_is_no_glob_is_refused_with_the_reason() {
        for glob in ["", "/", " ", "{a", "a]b{", "[b-a]"] {
            match Pattern::new(glob, Spelling::default()) {
                Err(failure) => assert_eq!(failure.code, "invalid-arguments"),
                Ok(_) => panic!("`{glob}` is a glob"),
            }
        }
    }

    #[test]
    fn spellings_are_matched_on_request_only() {
        let (composed, decomposed) = ("\u{c4}rger.txt", "A\u{308}rger.txt");
        let any = |any_case, any_form| Spelling { any_case, any_form };
        for (spelling, pattern, path, matched) in [
            (any(false, false), composed, decomposed, false),
            (any(false, true), composed, decomposed, true),
            (any(false, true), decomposed, composed, true),
            (any(false, true), "\u{e4}*", decomposed, false),
            (any(true, false), "\u{e4}*", composed, true),
            (any(true, false), "\u{e4}*", decomposed, false),
            (any(true, true), "\u{e4}*", decomposed, true),
            (any(true, false), "readme*", "README.md", true),
            (any(false, false), "readme*", "README.md", false),
        ] {
            let pattern = Pattern::new(pattern, spelling).unwrap();
            assert_eq!(pattern.matches(path, false), matched, "{path} {spelling:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_looked_for_first_rules_out_nothing_that_matches(
            glob in "!?[ab*?/{},\\\\ .#!\\t\\[\\]-]{1,8}",
            path in "[ab]{0,3}[ab .#!/]{0,3}[ab\\t]{1,2}",
        ) {
            if let Ok(mut pattern) = Pattern::or_all_but(&glob) {
                let first = pattern.matches(&path, false);
                pattern.literal = Finder::new("").into_owned();
                prop_assert_eq!(first, pattern.matches(&path, false));
            }
        }
    }

    #[test]
    fn a_glob_can_say_what_is_left_out() {
        let pattern = Pattern::or_all_but("!*.min.js").unwrap();
        assert!(pattern.matches("a.js", false));
        assert!(!pattern.matches("a/b.min.js", false));
    }

    #[test]
    fn hidden_names_are_asked_for_by_name() {
        for glob in [".env*", "**/.github/**", "a/.b"] {
            assert!(names_hidden(glob), "{glob}");
        }
        for glob in ["*", "./a", "../a", "a.b"] {
            assert!(!names_hidden(glob), "{glob}");
        }
    }
}
