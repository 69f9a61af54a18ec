//! Office Open XML (ECMA-376, ISO/IEC 29500): packages, their relationships and their text.
//!
//! Documents are hostile until read: nothing is allocated from a declared size, inflated bytes
//! are counted as they come out, nesting is bounded, and DTDs are refused.

mod chart;
#[cfg(test)]
mod corpus;
mod diagram;
mod document;
mod drawing;
mod encoding;
mod linked;
mod markdown;
mod math;
mod package;
mod presentation;
mod relationships;
mod sniff;
mod table;
mod warnings;
mod workbook;
mod xml;
mod zip;

pub(crate) use document::{Block, Document, DocumentOptions, read_docx};
#[cfg(test)]
use presentation::Slide;
pub(crate) use presentation::{Deck, DeckOptions, read_deck};
pub(crate) use sniff::Kind;

pub(crate) use workbook::{Position, Range, Workbook, WorkbookError, WorkbookOptions, read_xlsx};

use crate::tool::{self, Failure};
use package::Package;
use std::io::{BufRead, Seek};
use xml::Xml;

/// What to do with a document that breaks its format, or is none at all.
const DAMAGED: &str = "the document is damaged; ask for a copy saved again by its application, or \
    read it with `read_file` if it is plain text";

/// A document as Markdown.
pub(crate) struct Rendered {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

/// Reads a document of any kind, recognised by its main part.
///
/// # Errors
/// As the reader of the kind; [`Error::Unsupported`] when there is none.
pub(crate) fn render(reader: impl BufRead + Seek) -> Result<Rendered, Error> {
    let mut package = Package::open(reader)?;
    let main = package.main_part()?;
    let text = package.part(&main)?;
    let root = Xml::new(&main, &text).root()?;
    match Kind::of_root(root.name()) {
        Some(Kind::Presentation) => render_deck(package, &main, &text),
        Some(Kind::Document) => render_document(package, &main, &text),
        Some(Kind::Workbook) => render_workbook(package, &main, &text),
        None => Err(sniff::other_main_part(&main, root.name())),
    }
}

fn render_deck<R: BufRead + Seek>(
    package: Package<R>,
    main: &str,
    text: &str,
) -> Result<Rendered, Error> {
    let options = DeckOptions {
        with_notes: true,
        with_links: true,
        ..DeckOptions::default()
    };
    let deck = presentation::read_main(package, main, text, &options)?;
    Ok(Rendered {
        kind: Kind::Presentation,
        text: deck.markdown(),
        warnings: deck.warnings,
    })
}

fn render_document<R: BufRead + Seek>(
    package: Package<R>,
    main: &str,
    text: &str,
) -> Result<Rendered, Error> {
    let options = DocumentOptions {
        with_links: true,
        ..DocumentOptions::default()
    };
    let document = document::read_main(package, main, text, options)?;
    Ok(Rendered {
        kind: Kind::Document,
        text: document.markdown(),
        warnings: document.warnings,
    })
}

fn render_workbook<R: BufRead + Seek>(
    package: Package<R>,
    main: &str,
    text: &str,
) -> Result<Rendered, Error> {
    let options = WorkbookOptions {
        with_links: true,
        ..WorkbookOptions::default()
    };
    let book = workbook::read_main(package, main, text, &options);
    let mut book = book.map_err(|error| match error {
        WorkbookError::Document(error) => error,
        // No sheet was asked for.
        WorkbookError::NoSuchSheet(_) => Error::malformed("the workbook", "it has no sheets"),
    })?;
    if book.next.is_some() {
        let warning = "the workbook is too large for one text: read its rows with `read_xlsx`";
        book.warnings.push(warning.to_owned());
    }
    Ok(Rendered {
        kind: Kind::Workbook,
        text: book.markdown(),
        warnings: book.warnings,
    })
}

/// Characters of a name from a document that a message shows; a zip entry's may have 65,535.
const MAX_SHOWN: usize = 160;

/// Why a document, or a part of it, cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// The host refused to read the file on.
    Host,
    /// The document breaks its format.
    Malformed {
        /// The part, or the file when it is not a package at all.
        place: String,
        problem: String,
    },
    /// A document of another kind, by what it is.
    Unsupported { kind: String, hint: &'static str },
    /// More of something than a call may use.
    Limit {
        limit: &'static str,
        value: u64,
        actual: u64,
    },
}

impl Error {
    fn in_part(name: &str, problem: impl Into<String>) -> Self {
        Self::malformed(&format!("`{}`", shown(name)), problem)
    }

    fn malformed(place: &str, problem: impl Into<String>) -> Self {
        Self::Malformed {
            place: place.to_owned(),
            problem: problem.into(),
        }
    }

    /// Whether the other parts of the document can still be read.
    fn concerns_one_part(&self) -> bool {
        matches!(self, Self::Malformed { .. } | Self::Unsupported { .. })
    }

    /// What is wrong, in words.
    fn message(&self) -> String {
        match self {
            Self::Host => "the host refused to read it".to_owned(),
            Self::Malformed { place, problem } => format!("{place}: {problem}"),
            Self::Unsupported { kind, .. } => format!("the file is {kind}"),
            Self::Limit {
                limit,
                value,
                actual,
            } => format!("the limit of {value} for {limit} is exceeded: {actual}"),
        }
    }
}

/// Refuses more of something than a call may use.
fn check(limit: &'static str, value: u64, actual: u64) -> Result<(), Error> {
    if actual <= value {
        return Ok(());
    }
    Err(Error::Limit {
        limit,
        value,
        actual,
    })
}

/// A name from a document, fit for a message: without control characters, and not too long.
fn shown(name: &str) -> String {
    let is_plain = |byte: u8| byte >= b' ' && byte.is_ascii() && byte != 0x7f;
    if name.len() <= MAX_SHOWN && name.bytes().all(is_plain) {
        return name.to_owned();
    }
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    name.chars().take(MAX_SHOWN).map(visible).collect()
}

impl From<Error> for tool::Error {
    fn from(error: Error) -> Self {
        let failure = match error {
            Error::Host => return Self::Host,
            Error::Malformed { .. } => {
                Failure::new("malformed-document", error.message()).hint(DAMAGED)
            }
            Error::Unsupported { hint, .. } => {
                Failure::new("unsupported-document", error.message()).hint(hint)
            }
            Error::Limit {
                limit,
                value,
                actual,
            } => Failure::limit_exceeded(limit, value, actual).hint(
                "the document unpacks to more than one call may hold; have it saved as smaller \
                 documents, or a large sheet as CSV and read that with `read_file`",
            ),
        };
        Self::Tool(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_documents_are_shown_without_harm() {
        assert_eq!(shown("a\n\u{1b}[31mb"), "a\u{fffd}\u{fffd}[31mb");
        assert_eq!(shown(&"x".repeat(70_000)).len(), MAX_SHOWN);
    }

    #[test]
    fn each_kind_of_error_has_its_code() {
        let code = |error: Error| match tool::Error::from(error) {
            tool::Error::Tool(failure) => failure.code,
            tool::Error::Host => "host",
        };
        let limit = Error::Limit {
            limit: "zip entries",
            value: 1,
            actual: 2,
        };
        let unsupported = Error::Unsupported {
            kind: "a PDF document".to_owned(),
            hint: "",
        };
        assert_eq!(code(Error::Host), "host");
        assert_eq!(code(Error::malformed("a", "b")), "malformed-document");
        assert_eq!(code(unsupported), "unsupported-document");
        assert_eq!(code(limit), "limit-exceeded");
    }
}
