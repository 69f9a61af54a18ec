//! What stands for one character in a glob: `?` and classes.
//!
//! `globset` matches bytes, so that its `?` is half an `é`, and its `[é]` one of two bytes that
//! other characters have too. It reads the rest of a glob: what stands for one character is taken
//! out before, and put into its regular expression afterwards. The file tools, which are no part
//! of this crate, are compiled with this file as well.

use std::str::Chars;

/// Stands in a glob for what was taken out of it. No name has it.
const MARK: char = '\0';

/// One character of these, or one of all others; never a `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) negated: bool,
    pub(crate) ranges: Vec<(char, char)>,
    /// What it matches besides; a negated one has none.
    pub(crate) texts: Vec<String>,
}

/// Takes the classes and each `?` out of a glob, in their order.
///
/// # Errors
/// Why it is no glob.
pub(crate) fn take_out(glob: &str) -> Result<(String, Vec<Class>), String> {
    let (mut rest, mut classes) = (String::with_capacity(glob.len()), Vec::new());
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        match c {
            MARK => return Err("it has a NUL, which no name has".to_owned()),
            '\\' => {
                rest.push(c);
                rest.extend(chars.next());
            }
            '?' => {
                classes.push(Class::of(true, Vec::new()));
                rest.push(MARK);
            }
            '[' => {
                classes.push(Class::read(&mut chars)?);
                rest.push(MARK);
            }
            _ => rest.push(c),
        }
    }
    Ok((rest, classes))
}

/// Puts them into the regular expression that `globset` made of the rest; `None` where it has
/// not a place for each. `flags` are those of a group, and have the `u`.
pub(crate) fn put_in(regex: &str, classes: &[Class], flags: &str) -> Option<String> {
    let mut between = regex.split(MARK);
    let mut whole = between.next()?.to_owned();
    for class in classes {
        whole.push_str(&class.regex(flags));
        whole.push_str(between.next()?);
    }
    between.next().is_none().then_some(whole)
}

impl Class {
    fn of(negated: bool, ranges: Vec<(char, char)>) -> Self {
        Self {
            negated,
            ranges,
            texts: Vec::new(),
        }
    }

    /// Reads what is behind a `[` as `globset` does, the `]` included: a `]` or `-` that comes
    /// first is one of the class, and so is a `-` that comes last, and every `\`.
    fn read(chars: &mut Chars<'_>) -> Result<Self, String> {
        let negated = chars.as_str().starts_with(['!', '^']);
        if negated {
            chars.next();
        }
        let mut ranges: Vec<(char, char)> = Vec::new();
        let mut in_range = false;
        for first in std::iter::once(true).chain(std::iter::repeat(false)) {
            let c = chars.next().ok_or("a `[` is not closed")?;
            match c {
                ']' if !first => break,
                '-' if !first && !in_range => in_range = true,
                '[' if !in_range && let Some(named) = named(chars) => ranges.extend(named),
                MARK => return Err("it has a NUL, which no name has".to_owned()),
                last if in_range => {
                    in_range = false;
                    extend(&mut ranges, last)?;
                }
                c => ranges.push((c, c)),
            }
        }
        if in_range {
            ranges.push(('-', '-'));
        }
        Ok(Self::of(negated, ranges))
    }

    fn regex(&self, flags: &str) -> String {
        let ranges = self.ranges.iter();
        let ranges = ranges.map(|(first, last)| format!("{}-{}", literal(*first), literal(*last)));
        let ranges = ranges.collect::<String>();
        let one = match self.negated {
            true => format!("[^/{ranges}]"),
            false => format!("[{ranges}&&[^/]]"),
        };
        let texts = self.texts.iter();
        let texts = texts.map(|text| format!("|{}", text.chars().map(literal).collect::<String>()));
        format!("(?{flags}:{one}{})", texts.collect::<String>())
    }
}

fn literal(c: char) -> String {
    format!("\\x{{{:x}}}", u32::from(c))
}

fn extend(ranges: &mut [(char, char)], last: char) -> Result<(), String> {
    match ranges.last_mut() {
        Some(range) if range.0 <= last => range.1 = last,
        Some(range) => return Err(format!("invalid range; '{}' > '{last}'", range.0)),
        None => {}
    }
    Ok(())
}

/// The characters of a name as in `[[:alpha:]]`, read from behind its first `[`. What is no such
/// name is left.
fn named(chars: &mut Chars<'_>) -> Option<&'static [(char, char)]> {
    let (name, behind) = chars.as_str().strip_prefix(':')?.split_once(":]")?;
    let named: &[_] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    *chars = behind.chars();
    Some(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use globset::{GlobBuilder, GlobMatcher};
    use proptest::prelude::*;
    use regex::bytes::Regex;

    fn regex(glob: &str) -> Option<Regex> {
        let (rest, classes) = take_out(glob).ok()?;
        let regex = put_in(read(&rest)?.glob().regex(), &classes, "u").unwrap();
        Some(Regex::new(&regex).unwrap())
    }

    fn read(glob: &str) -> Option<GlobMatcher> {
        let mut glob = GlobBuilder::new(glob);
        let glob = glob.literal_separator(true).backslash_escape(true).build();
        glob.ok().map(|glob| glob.compile_matcher())
    }

    #[test]
    fn what_stands_for_one_character_matches_one() {
        #[rustfmt::skip]
        let rows = [
            ("[é]",              "é",  true),
            ("[é]",              "è",  false),
            ("[à-ü]x",           "öx", true),
            ("[à-ü]x",           "ax", false),
            ("[!é]",             "é",  false),
            ("[!é]",             "è",  true),
            ("[^é]",             "a",  true),
            ("[!a]",             "語", true),
            ("*[語]*",           "a語b", true),
            ("*[語]*",           "a誝b", false),
            ("?",                "語", true),
            ("??",               "é",  false),
            ("??",               "éa", true),
            ("a?b",              "a/b", false),
            ("a[!x]b",           "a/b", false),
            ("a[.-0]b",          "a/b", false),
            ("a[/]b",            "a/b", false),
            ("{[é,],x}y",        ",y", true),
            ("{a,[é]}",          "é",  true),
            ("[é]/**/?",         "é/x/y/ü", true),
            ("**/[é]",           "x/é", true),
            ("\\?",              "?",  true),
            ("\\?",              "a",  false),
            ("\\[é]",            "[é]", true),
            ("[]é]",             "]",  true),
            ("[é-]",             "-",  true),
            ("[&&é~~-]",         "~",  true),
            ("[[:digit:]é]",     "7",  true),
            ("[[:digit:]é]",     ":",  false),
            ("[[:none:]]",       "n]", true),
        ];
        for (glob, path, matched) in rows {
            let regex = regex(glob).unwrap();
            assert_eq!(regex.is_match(path.as_bytes()), matched, "{glob} {path}");
        }
    }

    #[test]
    fn what_is_no_class_is_an_error() {
        for (glob, said) in [
            ("[a", "not closed"),
            ("[]", "not closed"),
            ("a[!]", "not closed"),
            ("[[:alpha:]", "not closed"),
            ("[ü-à]", "'ü' > 'à'"),
            ("a\0", "NUL"),
            ("[\0]", "NUL"),
        ] {
            assert!(take_out(glob).unwrap_err().contains(said), "{glob:?}");
        }
    }

    proptest! {
        /// Where characters are bytes, as `globset` does it all.
        #[test]
        fn ascii_is_matched_as_before(
            glob in "([ab?*/.-]|\\[[!^]?[]a-c/.-]{1,4}\\]|\\[\\[:alpha:\\]-?z?\\]|\\*\\*/|[\\\\{},]){1,6}",
            path in "[abz/.,-]{1,6}",
        ) {
            match (regex(&glob), read(&glob)) {
                (Some(ours), Some(theirs)) => {
                    prop_assert_eq!(ours.is_match(path.as_bytes()), theirs.is_match(&path));
                }
                (ours, theirs) => prop_assert_eq!(ours.is_some(), theirs.is_some()),
            }
        }
    }
}
