//! Globs that are matched at once.

use std::borrow::Cow;

use globset::{Candidate, Glob, GlobBuilder, GlobSet};
use regex::bytes::{RegexSet, RegexSetBuilder};

use super::PatternError;
use super::characters::{Class, put_in, take_out};
use super::fold::{composed, fold_class, fold_text};

/// Bytes of a compiled set, and of what is kept while it matches: those of `globset`.
const MAX_SET_BYTES: usize = 10 << 20;

/// A glob that has been read, in pieces.
#[derive(Debug)]
pub(crate) struct Read {
    rest: Glob,
    /// Its classes, and each `?`.
    classes: Vec<Class>,
}

impl Read {
    /// Reads a glob over whole paths, to be matched with folded ones or with others.
    pub(crate) fn new(text: &str, fold: bool) -> Result<Self, String> {
        if !fold {
            let (rest, classes) = take_out(text)?;
            return Self::of(&rest, classes);
        }
        let (rest, mut classes) = take_out(&composed(text))?;
        classes.iter_mut().for_each(fold_class);
        Self::of(&fold_text(&rest), classes)
    }

    fn of(rest: &str, classes: Vec<Class>) -> Result<Self, String> {
        let rest = GlobBuilder::new(rest)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| error.kind().to_string())?;
        Ok(Self { rest, classes })
    }

    fn regex(&self) -> Result<String, PatternError> {
        let regex = put_in(self.rest.regex(), &self.classes, "u");
        regex.ok_or_else(|| together("a class or `?` has no place in it"))
    }
}

/// See the module's head. Each has a number, and later ones have larger ones.
#[derive(Debug)]
pub(crate) struct Globs {
    /// Those whose characters stand for themselves, or are a `*`.
    plain: GlobSet,
    plain_numbers: Vec<usize>,
    characters: RegexSet,
    character_numbers: Vec<usize>,
}

impl Globs {
    pub(crate) fn new(
        globs: impl IntoIterator<Item = (Read, usize)>,
    ) -> Result<Self, PatternError> {
        let (mut plain, mut plain_numbers) = (Vec::new(), Vec::new());
        let (mut characters, mut character_numbers) = (Vec::new(), Vec::new());
        for (glob, number) in globs {
            if glob.classes.is_empty() {
                plain.push(glob.rest);
                plain_numbers.push(number);
            } else {
                characters.push(glob.regex()?);
                character_numbers.push(number);
            }
        }
        let characters = RegexSetBuilder::new(characters)
            .dot_matches_new_line(true)
            .size_limit(MAX_SET_BYTES)
            .dfa_size_limit(MAX_SET_BYTES)
            .build();
        Ok(Self {
            plain: GlobSet::new(plain).map_err(|failed| match failed.glob() {
                Some(glob) => PatternError {
                    pattern: glob.to_owned(),
                    reason: failed.kind().to_string(),
                },
                None => together(failed.kind()),
            })?,
            plain_numbers,
            characters: characters.map_err(together)?,
            character_numbers,
        })
    }

    pub(crate) fn is_match(&self, path: &[u8]) -> bool {
        self.plain.is_match_candidate(&Candidate::from_bytes(path))
            || (!self.characters.is_empty() && self.characters.is_match(&text(path)))
    }

    /// The number of the last one that matches.
    pub(crate) fn last_match(&self, path: &[u8]) -> Option<usize> {
        let plain = self.plain.matches_candidate(&Candidate::from_bytes(path));
        let plain = plain.last().map(|index| self.plain_numbers[*index]);
        if self.characters.is_empty() {
            return plain;
        }
        let characters = self.characters.matches(&text(path));
        let last = characters.iter().next_back();
        plain.max(last.map(|index| self.character_numbers[index]))
    }
}

/// A path whose bytes that are no text are one character each, which stands in no pattern.
fn text(path: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(path).is_ok() {
        return Cow::Borrowed(path);
    }
    let mut text = Vec::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.extend_from_slice(chunk.valid().as_bytes());
        text.extend(chunk.invalid().iter().map(|_| b'\0'));
    }
    Cow::Owned(text)
}

fn together(reason: impl std::fmt::Display) -> PatternError {
    PatternError {
        pattern: "…".to_owned(),
        reason: format!("all of them together cannot be compiled: {reason}"),
    }
}
