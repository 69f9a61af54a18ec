//! The namespaces of Office.

use super::words::is_same;
use super::{Error, MAX_NAMESPACES, check};
use std::cell::Cell;

/// The namespaces that matter here; transitional and strict ones are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ooxml) enum Space {
    Presentation,
    Word,
    /// Office 2010's additions to Word, which hold check boxes.
    Word2010,
    Sheet,
    Drawing,
    /// Office 2010's additions to drawings, which hold equations.
    Drawing2010,
    Chart,
    Diagram,
    Math,
    /// `r:`, the references from content to relationships.
    Relationships,
    PackageRelationships,
    Compatibility,
    Other,
}

const SPACES: [(&str, Space); 25] = [
    (
        "http://schemas.openxmlformats.org/presentationml/2006/main",
        Space::Presentation,
    ),
    (
        "http://purl.oclc.org/ooxml/presentationml/main",
        Space::Presentation,
    ),
    (
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        Space::Word,
    ),
    (
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
        Space::Word,
    ),
    (
        "http://schemas.microsoft.com/office/word/2010/wordml",
        Space::Word2010,
    ),
    (
        "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
        Space::Sheet,
    ),
    (
        "http://purl.oclc.org/ooxml/spreadsheetml/main",
        Space::Sheet,
    ),
    (
        "http://schemas.microsoft.com/office/powerpoint/2018/8/main",
        Space::Presentation,
    ),
    (
        "http://schemas.openxmlformats.org/drawingml/2006/main",
        Space::Drawing,
    ),
    ("http://purl.oclc.org/ooxml/drawingml/main", Space::Drawing),
    // Drawings on sheets, whose text bodies are those of other drawings.
    (
        "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing",
        Space::Drawing,
    ),
    (
        "http://purl.oclc.org/ooxml/drawingml/spreadsheetDrawing",
        Space::Drawing,
    ),
    (
        "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments",
        Space::Sheet,
    ),
    (
        "http://schemas.microsoft.com/office/drawing/2010/main",
        Space::Drawing2010,
    ),
    (
        "http://schemas.openxmlformats.org/drawingml/2006/chart",
        Space::Chart,
    ),
    ("http://purl.oclc.org/ooxml/drawingml/chart", Space::Chart),
    (
        "http://schemas.microsoft.com/office/drawing/2014/chartex",
        Space::Chart,
    ),
    (
        "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        Space::Diagram,
    ),
    (
        "http://purl.oclc.org/ooxml/drawingml/diagram",
        Space::Diagram,
    ),
    (
        "http://schemas.openxmlformats.org/officeDocument/2006/math",
        Space::Math,
    ),
    (
        "http://purl.oclc.org/ooxml/officeDocument/math",
        Space::Math,
    ),
    (
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        Space::Relationships,
    ),
    (
        "http://purl.oclc.org/ooxml/officeDocument/relationships",
        Space::Relationships,
    ),
    (
        "http://schemas.openxmlformats.org/package/2006/relationships",
        Space::PackageRelationships,
    ),
    (
        "http://schemas.openxmlformats.org/markup-compatibility/2006",
        Space::Compatibility,
    ),
];

/// What the namespaces of Office's own extensions start with.
const OFFICE_EXTENSIONS: &str = "http://schemas.microsoft.com/office/";

/// The prefixes that are declared in the open elements, innermost last.
#[derive(Default)]
pub(super) struct Spaces<'a> {
    bindings: Vec<Binding<'a>>,
    /// Those that were looked up last, by their length and first letter: documents declare some
    /// thirty and use two or three.
    recent: [Cell<Option<Recent<'a>>>; RECENT],
}

/// A prefix and what it stands for.
type Recent<'a> = (&'a str, Option<Space>);

/// Enough to tell apart those that stand beside one another.
const RECENT: usize = 16;

/// Where a prefix stands among those.
fn place(prefix: &str) -> usize {
    let first = prefix.bytes().next().unwrap_or_default();
    (usize::from(first) ^ prefix.len() << 3) % RECENT
}

struct Binding<'a> {
    prefix: &'a str,
    /// Nothing when the prefix is taken back, by an empty name.
    space: Option<Space>,
    is_extension: bool,
    /// How many elements are open where it is declared.
    depth: usize,
}

impl<'a> Spaces<'a> {
    pub(super) fn declare(
        &mut self,
        depth: usize,
        prefix: &'a str,
        uri: &str,
    ) -> Result<(), Error> {
        self.forget(prefix);
        let count = self.bindings.len() as u64 + 1;
        check("XML namespaces", MAX_NAMESPACES as u64, count)?;
        let space = SPACES.iter().find(|(known, _)| is_same(known, uri));
        let space = space.map_or(Space::Other, |(_, space)| *space);
        self.bindings.push(Binding {
            prefix,
            space: (prefix.is_empty() || !uri.is_empty()).then_some(space),
            is_extension: uri.starts_with(OFFICE_EXTENSIONS),
            depth,
        });
        Ok(())
    }

    /// Forgets what was declared deeper inside.
    pub(super) fn leave(&mut self, depth: usize) {
        while let Some(last) = self.bindings.pop_if(|last| last.depth > depth) {
            self.forget(last.prefix);
        }
    }

    /// The namespace of a prefix, or nothing when it is not declared.
    pub(super) fn find(&self, prefix: &str) -> Option<Space> {
        let recent = &self.recent[place(prefix)];
        if let Some((known, space)) = recent.get()
            && is_same(known, prefix)
        {
            return space;
        }
        match (self.binding(prefix), prefix) {
            (Some(binding), _) => {
                recent.set(Some((binding.prefix, binding.space)));
                binding.space
            }
            // Without a prefix and a default there is no namespace; `xml` is always declared.
            (None, "" | "xml") => Some(Space::Other),
            (None, _) => None,
        }
    }

    fn forget(&mut self, prefix: &str) {
        self.recent[place(prefix)].set(None);
    }

    /// Whether a prefix stands for an extension by Office itself.
    pub(super) fn is_extension(&self, prefix: &str) -> bool {
        self.binding(prefix)
            .is_some_and(|binding| binding.is_extension)
    }

    fn binding(&self, prefix: &str) -> Option<&Binding<'a>> {
        let mut innermost_first = self.bindings.iter().rev();
        innermost_first.find(|binding| binding.prefix == prefix)
    }
}
