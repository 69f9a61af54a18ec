//! What is searched for.

use crate::tool::Failure;
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;

/// Bytes that a compiled regex and its cache may take, each: more than people write, and
/// little beside the guest's memory.
const REGEX_BYTES: usize = 8 * 1024 * 1024;

/// The caller's words about a search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) text: &'a str,
    pub(crate) regex: bool,
    pub(crate) ignore_case: bool,
    pub(crate) whole_word: bool,
}

/// A search that can be made.
pub(crate) struct Query {
    matcher: Matcher,
    /// Whether a match may go on in the next line, since the query names line ends.
    spans_lines: bool,
    is_ascii: bool,
}

enum Matcher {
    Literal(Box<Finder<'static>>),
    Regex(Regex),
}

impl Query {
    /// # Errors
    /// `invalid-arguments`: the query is empty, or a regex that is wrong or too large.
    pub(crate) fn new(wanted: Wanted<'_>) -> Result<Self, Failure> {
        if wanted.text.is_empty() {
            return Err(Failure::invalid_arguments("`query` is empty")
                .hint("give the text to search for; `find_files` lists files by name"));
        }
        let spans_lines = match wanted.regex {
            true => wanted.text.contains("\\n") || wanted.text.contains('\n'),
            false => wanted.text.contains('\n'),
        };
        let is_plain = !(wanted.regex || wanted.ignore_case || wanted.whole_word || spans_lines);
        let matcher = match is_plain {
            true => Matcher::Literal(Box::new(Finder::new(wanted.text).into_owned())),
            false => Matcher::Regex(compile(wanted)?),
        };
        Ok(Self {
            matcher,
            spans_lines,
            is_ascii: wanted.text.is_ascii(),
        })
    }

    /// Whether there is a match.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.find(bytes, 0).is_some()
    }

    /// The first match at or behind `from`.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        match &self.matcher {
            Matcher::Literal(finder) => {
                let at = from + finder.find(text.get(from..)?)?;
                Some(at..at + finder.needle().len())
            }
            Matcher::Regex(regex) => (from <= text.len())
                .then(|| regex.find_at(text, from))
                .flatten()
                .map(|found| found.range()),
        }
    }

    /// Whether the bytes may hold what is searched for in an encoding that nobody named.
    pub(crate) fn may_be_in_other_words(&self, bytes: &[u8]) -> bool {
        !self.is_ascii && std::str::from_utf8(bytes).is_err()
    }

    /// Whether a match is one only if its line alone has it.
    pub(super) fn is_by_line(&self) -> bool {
        matches!(self.matcher, Matcher::Regex(_)) && !self.spans_lines
    }
}

/// What to try where a query about several lines found nothing.
pub(crate) fn line_breaks(query: &str, regex: bool) -> Option<&'static str> {
    let has = |signs: &[&str]| signs.iter().any(|sign| query.contains(sign));
    match regex {
        false if has(&["\\n", "\\r", "\\t"]) => Some(
            "a backslash and the letter behind it were searched for: give the line break or tab \
             itself, or `regex: true`",
        ),
        true if has(&["\\n", "\n"]) && !has(&["\\r", "\r", "\\s"]) => {
            Some("lines may end in `\\r\\n`: a line break of a regex is `\\r?\\n`")
        }
        true if !has(&["\\n", "\n"]) && has(&["\\s", "(?s", "\\r"]) => Some(
            "a match ends where its line does, unless the regex has a `\\n`: where it goes on is \
             `\\r?\\n`",
        ),
        _ => None,
    }
}

fn compile(wanted: Wanted<'_>) -> Result<Regex, Failure> {
    let pattern = match wanted.regex {
        true => {
            check(wanted.text)?;
            wanted.text.to_owned()
        }
        // A line end of the query is any line end of the text.
        false => regex::escape(&wanted.text.replace("\r\n", "\n")).replace('\n', r"\r?\n"),
    };
    let pattern = match wanted.whole_word {
        true => format!(r"\b{{start-half}}(?:{pattern})\b{{end-half}}"),
        false => pattern,
    };
    RegexBuilder::new(&pattern)
        .case_insensitive(wanted.ignore_case)
        .multi_line(true)
        .crlf(true)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                Failure::invalid_arguments("the regex is too large when compiled")
                    .hint("use smaller repetition counts, or fewer alternatives")
            }
            error => Failure::invalid_arguments(format!("the regex cannot be used: {error}")),
        })
}

/// Says where a regex is wrong, in characters of what the caller wrote.
fn check(pattern: &str) -> Result<(), Failure> {
    let parser = || regex_syntax::ParserBuilder::new().utf8(false).build();
    let Err(error) = parser().parse(pattern) else {
        return Ok(());
    };
    let (what, span) = match &error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
        other => (other.to_string(), None),
    };
    let place = span.and_then(|span| pattern.get(..span.start.offset));
    let place = place.map_or_else(String::new, |before| {
        format!(" at character {}", before.chars().count() + 1)
    });
    Err(
        Failure::invalid_arguments(format!("the regex is wrong{place}: {what}")).hint(
            "it is the syntax of Rust's `regex`, without look-around and back-references; \
             leave out `regex` to search for the text as it is",
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_that_may_not_be_meant_are_told() {
        for (query, regex, said) in [
            (r"a\nb", false, "backslash"),
            (r"a\tb", false, "backslash"),
            (r"a\nb", true, "may end in"),
            ("a\nb", true, "may end in"),
            (r"a\s+b", true, "ends where its line does"),
            ("(?s)a.b", true, "ends where its line does"),
        ] {
            let told = line_breaks(query, regex).unwrap_or_default();
            assert!(told.contains(said), "{query:?}: {told}");
        }
        for (query, regex) in [
            ("a\nb", false),
            ("a\\b", false),
            (r"a\r?\nb", true),
            (r"a\s*\n", true),
            ("a.b", true),
        ] {
            assert_eq!(line_breaks(query, regex), None, "{query:?}");
        }
    }

    fn found(wanted: Wanted<'_>, text: &str) -> Option<Range<usize>> {
        Query::new(wanted).unwrap().find(text.as_bytes(), 0)
    }

    fn literal(text: &str) -> Wanted<'_> {
        Wanted {
            text,
            ..Wanted::default()
        }
    }

    #[test]
    fn text_is_searched_for_as_it_is() {
        assert_eq!(found(literal("a.c"), "abc a.c"), Some(4..7));
        assert_eq!(found(literal("("), "f(x)"), Some(1..2));
        assert_eq!(found(literal("x"), "abc"), None);
        assert_eq!(found(literal("A"), "a"), None);
    }

    #[test]
    fn case_and_words_are_options() {
        let any_case = |text| Wanted {
            ignore_case: true,
            ..literal(text)
        };
        assert_eq!(found(any_case("\u{e4}."), "\u{c4}x \u{c4}."), Some(4..7));
        let word = |text| Wanted {
            whole_word: true,
            ..literal(text)
        };
        assert_eq!(found(word("id"), "idea id"), Some(5..7));
        assert_eq!(found(word("$x"), "a$xy $x"), Some(5..7));
        assert_eq!(found(word("id"), "idea"), None);
    }

    #[test]
    fn a_line_end_of_the_query_is_any_line_end() {
        assert_eq!(found(literal("a\nb"), "xa\r\nb"), Some(1..5));
        assert_eq!(found(literal("a\r\nb"), "xa\nb"), Some(1..4));
    }

    #[test]
    fn a_wrong_regex_is_refused_with_the_place() {
        for (text, message) in [
            ("a(b", "the regex is wrong at character 2: unclosed group"),
            (
                "\u{e4}[",
                "the regex is wrong at character 2: unclosed character class",
            ),
            (
                "(?=a)",
                "the regex is wrong at character 1: look-around, including look-ahead and \
                 look-behind, is not supported",
            ),
        ] {
            let wanted = Wanted {
                regex: true,
                ..literal(text)
            };
            let failure = Query::new(wanted).err().unwrap();
            assert_eq!(failure.code, "invalid-arguments");
            assert_eq!(failure.message, message);
        }
    }

    #[test]
    fn a_regex_cannot_take_all_memory() {
        let wanted = Wanted {
            regex: true,
            ..literal(r"(\pL{1000}){1000}")
        };
        let failure = Query::new(wanted).err().unwrap();
        assert_eq!(failure.message, "the regex is too large when compiled");
    }

    #[test]
    fn an_empty_query_is_refused() {
        assert_eq!(
            Query::new(literal("")).err().unwrap().code,
            "invalid-arguments"
        );
    }
}
