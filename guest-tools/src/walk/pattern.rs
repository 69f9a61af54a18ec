//! Globs, as a line of a `.gitignore` takes them.

use super::characters::{put_in, take_out};
use crate::tool::Failure;
use globset::{GlobBuilder, GlobSet};
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A glob: a name at any depth, or with a `/` inside a path from where the search starts.
pub(crate) struct Pattern {
    glob: Glob,
    /// Whether a `/` at its end leaves files out.
    only_directories: bool,
    /// What stands in every path that the glob matches. Most paths do not have it, and looking for
    /// it costs a tenth of matching.
    literal: Finder<'static>,
    inverted: bool,
    spelling: Spelling,
}

enum Glob {
    /// Whose characters stand for themselves, or are a `*`.
    Plain(GlobSet),
    /// With a `?` or a class.
    Characters(Regex),
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
        let text = self.form(text);
        match self.any_case {
            true => text.to_lowercase().into(),
            false => text,
        }
    }

    fn form(self, text: &str) -> Cow<'_, str> {
        match self.any_form && !is_nfc(text) {
            true => text.nfc().collect::<String>().into(),
            false => text.into(),
        }
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
        let line = text.strip_prefix("./").unwrap_or(text);
        let literal = match spelling.is_exact() {
            true => literal_of(line),
            false => "",
        };
        Ok(Self {
            literal: Finder::new(literal).into_owned(),
            only_directories: line.ends_with('/'),
            glob: Glob::new(line, spelling).map_err(|problem| not_a_glob(text, &problem))?,
            inverted,
            spelling,
        })
    }

    /// Whether a path, relative to where the search starts, is matched.
    pub(crate) fn matches(&self, path: &str, is_directory: bool) -> bool {
        if self.literal.find(path.as_bytes()).is_none() {
            return self.inverted;
        }
        let is_match =
            (is_directory || !self.only_directories) && self.glob.matches(&self.spelling.of(path));
        is_match != self.inverted
    }
}

impl Glob {
    /// A line is one of gitignore(5) but for what is there about whole files: a `#` or `!` in
    /// front and a space at the end are ordinary characters.
    fn new(line: &str, spelling: Spelling) -> Result<Self, String> {
        let (rest, classes) = take_out(&spelling.form(line))?;
        let glob = from_the_start(&spelling.of(&rest));
        let glob = GlobBuilder::new(&glob)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| error.kind().to_string())?;
        if classes.is_empty() {
            let set = GlobSet::new([glob]).map_err(|error| error.kind().to_string())?;
            return Ok(Self::Plain(set));
        }
        let flags = if spelling.any_case { "iu" } else { "u" };
        let regex = put_in(glob.regex(), &classes, flags).ok_or("it cannot be compiled")?;
        let regex = RegexBuilder::new(&regex).dot_matches_new_line(true).build();
        regex
            .map(Self::Characters)
            .map_err(|error| error.to_string())
    }

    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Plain(set) => set.is_match(path),
            Self::Characters(regex) => regex.is_match(path.as_bytes()),
        }
    }
}

/// A line as a glob over whole paths: without a `/` inside it is about names at every depth, and
/// with `**` behind one about what is in a directory, and not about that.
fn from_the_start(line: &str) -> String {
    let line = line.strip_suffix('/').unwrap_or(line);
    let path = line.strip_prefix('/').unwrap_or(line);
    let inside = if path.ends_with("/**") { "/*" } else { "" };
    match line.contains('/') {
        true => format!("{path}{inside}"),
        false => format!("**/{path}"),
    }
}

/// The longest text of a glob that stands for itself, of what is before the first class,
/// alternative or escape.
fn literal_of(glob: &str) -> &str {
    let plain = glob.split(['[', '{', '\\']).next().unwrap_or_default();
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
        for text in ["[ab]", "\\[a", "[]a]", "[!]a]x", "..a", "é[é]"] {
            assert!(Pattern::new(text, Spelling::default()).is_ok(), "{text}");
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
            ("x ", "x", false, false),
            ("x\\ ", "x ", false, true),
            ("x\\  ", "x  ", false, true),
            ("x\\\\ ", "x\\ ", false, true),
            ("\\*", "*", false, true),
            ("\\*", "a", false, false),
            ("**", "a", false, true),
            ("/**", "a/b", false, true),
            ("src/**", "src", true, false),
            ("[a]/**", "a", true, false),
            ("[a]/", "b/a", true, true),
            ("[a]/", "b/a", false, false),
            ("/[a]", "b/a", false, false),
            ("[é]", "x/é", false, true),
            ("*[語]*", "a誝b", false, false),
            ("[!é]?", "èü", false, true),
            ("?", "語", false, true),
            ("??", "é", false, false),
        ] {
            assert_eq!(matches(glob, path, is_directory), matched, "{glob} {path}");
        }
    }

    #[test]
    fn what_is_no_glob_is_refused_with_the_reason() {
        for glob in ["", "/", " ", "{a", "a]b{", "[b-a]", "a\\", "\0", "[ü-à]"] {
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
            (any(true, false), "[À-Ü]rger*", composed, true),
            (any(true, false), "[Z-a]_", "z_", true),
            (any(false, false), "[À-Ü]rger*", "\u{e4}rger", false),
            (any(true, true), "[\u{e0}-\u{fc}]rger*", decomposed, true),
            (any(true, true), "[A\u{308}]RGER.???", decomposed, true),
            (any(false, true), "?rger*", decomposed, true),
            (any(false, false), "?rger*", decomposed, false),
        ] {
            let pattern = Pattern::new(pattern, spelling).unwrap();
            assert_eq!(pattern.matches(path, false), matched, "{path} {spelling:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_looked_for_first_rules_out_nothing_that_matches(
            glob in "!?[abé*?/{},\\\\ .#!\\t\\[\\]-]{1,8}",
            path in "[abé]{0,3}[ab .#!/]{0,3}[ab\\t ]{1,2}",
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
