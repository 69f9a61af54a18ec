//! The namespaces of Office.

use quick_xml::name::{Namespace, ResolveResult};

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

const SPACES: [(&str, Space); 22] = [
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

/// The namespace that a name resolved to, or nothing when its prefix is not declared.
pub(super) fn known(resolved: &ResolveResult<'_>) -> Option<Space> {
    match resolved {
        ResolveResult::Unbound => Some(Space::Other),
        ResolveResult::Unknown(_) => None,
        ResolveResult::Bound(Namespace(uri)) => {
            let space = SPACES.iter().find(|(known, _)| known == uri);
            Some(space.map_or(Space::Other, |(_, space)| *space))
        }
    }
}
