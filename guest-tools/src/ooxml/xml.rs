//! One XML part as a walk over its elements, with names resolved to the namespaces of Office.
//!
//! `mc:AlternateContent` (ECMA-376 part 3) is never seen by the caller: exactly one of its
//! branches stands in its place. A DTD is refused, so that no entity is ever expanded but the
//! predefined ones.

use super::Error;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{Namespace, QName, ResolveResult};
use quick_xml::reader::NsReader;
use quick_xml::{XmlVersion, escape};
use std::borrow::Cow;

/// Elements inside one another. libxml2 stops at the same depth; real slides stay below 50.
const MAX_DEPTH: usize = 256;
/// Namespace declarations in scope at once. LibreOffice declares some 40 in a root element.
const MAX_NAMESPACES: usize = 512;
/// What the namespaces of Office's own extensions start with.
const OFFICE_EXTENSIONS: &str = "http://schemas.microsoft.com/office/";

/// The namespaces that matter here; transitional and strict ones are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Presentation,
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

const SPACES: [(&str, Space); 16] = [
    (
        "http://schemas.openxmlformats.org/presentationml/2006/main",
        Space::Presentation,
    ),
    (
        "http://purl.oclc.org/ooxml/presentationml/main",
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

/// A part that is being walked.
pub(super) struct Xml<'a> {
    part: &'a str,
    reader: NsReader<&'a [u8]>,
    /// All open elements, innermost last.
    open: Vec<Open<'a>>,
    /// How many of them the caller sees.
    level: usize,
}

/// An open element.
enum Open<'a> {
    /// One that the caller sees.
    Element,
    /// `mc:AlternateContent`, of which a branch has been taken or not.
    Alternatives {
        taken: bool,
        /// Where the first choice begins, in case none is understood and there is no fallback.
        first: Option<Box<NsReader<&'a [u8]>>>,
    },
    /// The branch that was taken.
    Branch,
}

/// An element whose start tag has been read.
pub(super) struct Element<'a> {
    space: Space,
    start: BytesStart<'a>,
    /// How many elements that the caller sees are open inside it, itself included.
    level: usize,
}

enum Token<'a> {
    Start(Element<'a>),
    End,
    Text(Cow<'a, str>),
}

impl Element<'_> {
    /// Namespace and local name.
    pub(super) fn name(&self) -> (Space, &str) {
        (self.space, self.start.local_name().into_inner())
    }
}

impl<'a> Xml<'a> {
    pub(super) fn new(part: &'a str, text: &'a str) -> Self {
        let mut reader = NsReader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        reader
            .resolver_mut()
            .set_max_namespace_bindings(MAX_NAMESPACES);
        Self {
            part,
            reader,
            open: Vec::new(),
            level: 0,
        }
    }

    /// The root element.
    pub(super) fn root(&mut self) -> Result<Element<'a>, Error> {
        loop {
            if let Token::Start(element) = self.token()? {
                return Ok(element);
            }
        }
    }

    /// The next child of an open element, or nothing at its end. What the caller left unread of
    /// the child before is passed over.
    pub(super) fn child(&mut self, parent: &Element<'_>) -> Result<Option<Element<'a>>, Error> {
        loop {
            match self.token()? {
                Token::Start(child) if child.level == parent.level + 1 => return Ok(Some(child)),
                Token::End if self.level < parent.level => return Ok(None),
                _ => {}
            }
        }
    }

    /// The text that stands directly in an element, up to its end.
    pub(super) fn text(&mut self, element: &Element<'_>, text: &mut String) -> Result<(), Error> {
        loop {
            match self.token()? {
                Token::Text(more) if self.level == element.level => text.push_str(&more),
                Token::End if self.level < element.level => return Ok(()),
                _ => {}
            }
        }
    }

    /// All text in an element, however deep, up to its end.
    pub(super) fn deep_text(
        &mut self,
        element: &Element<'_>,
        text: &mut String,
    ) -> Result<(), Error> {
        loop {
            match self.token()? {
                Token::Text(more) => text.push_str(&more),
                Token::End if self.level < element.level => return Ok(()),
                _ => {}
            }
        }
    }

    /// The value of an attribute that has no namespace.
    pub(super) fn attribute(
        &self,
        element: &Element<'_>,
        name: &str,
    ) -> Result<Option<String>, Error> {
        self.find_attribute(element, |key| key == QName(name))
    }

    /// The value of an attribute in a namespace. The element is the one just read.
    pub(super) fn attribute_in(
        &self,
        element: &Element<'_>,
        space: Space,
        name: &str,
    ) -> Result<Option<String>, Error> {
        self.find_attribute(element, |key| {
            let (resolved, local) = self.reader.resolver().resolve_attribute(key);
            local.into_inner() == name && known(&resolved) == Some(space)
        })
    }

    fn find_attribute(
        &self,
        element: &Element<'_>,
        is_wanted: impl Fn(QName<'_>) -> bool,
    ) -> Result<Option<String>, Error> {
        // Without the check for doubles, whose cost grows with the square of their number.
        for attribute in element.start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| self.malformed(error))?;
            if is_wanted(attribute.key) {
                let value = attribute.normalized_value(XmlVersion::Explicit1_0);
                let value = value.map_err(|error| self.malformed(error))?;
                return Ok(Some(value.into_owned()));
            }
        }
        Ok(None)
    }

    fn token(&mut self) -> Result<Token<'a>, Error> {
        loop {
            let event = self.reader.read_event();
            match event.map_err(|error| self.malformed(error))? {
                Event::Start(start) => {
                    if let Some(element) = self.open(start)? {
                        return Ok(Token::Start(element));
                    }
                }
                Event::End(_) => {
                    if self.close() {
                        return Ok(Token::End);
                    }
                }
                Event::Text(text) => return Ok(Token::Text(text.xml10_content())),
                Event::CData(text) => return Ok(Token::Text(text.xml10_content())),
                Event::GeneralRef(reference) => return self.resolve(&reference).map(Token::Text),
                Event::DocType(_) => return Err(self.malformed("it has a DTD")),
                Event::Eof => return Err(self.malformed("it ends too early")),
                Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
            }
        }
    }

    /// Notes that an element is open, and hands it out if the caller is to see it.
    fn open(&mut self, start: BytesStart<'a>) -> Result<Option<Element<'a>>, Error> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Error::Limit {
                limit: "XML depth",
                value: MAX_DEPTH as u64,
                actual: self.open.len() as u64 + 1,
            });
        }
        let space = self.space_of(&start)?;
        match (space, start.local_name().into_inner()) {
            (Space::Compatibility, "AlternateContent") => {
                let (taken, first) = (false, None);
                self.open.push(Open::Alternatives { taken, first });
                Ok(None)
            }
            (Space::Compatibility, "Choice") => self.choice(&start).map(|()| None),
            (Space::Compatibility, "Fallback") => self.branch(&start, true).map(|()| None),
            _ => {
                self.open.push(Open::Element);
                self.level += 1;
                let level = self.level;
                Ok(Some(Element {
                    space,
                    start,
                    level,
                }))
            }
        }
    }

    /// Notes that the innermost element has ended, and says whether the caller saw it.
    fn close(&mut self) -> bool {
        match self.open.pop() {
            Some(Open::Element) => {
                self.level -= 1;
                true
            }
            Some(Open::Alternatives {
                taken: false,
                first: Some(first),
            }) => {
                self.reader = *first;
                let (taken, first) = (true, None);
                self.open.push(Open::Alternatives { taken, first });
                self.open.push(Open::Branch);
                false
            }
            _ => false,
        }
    }

    fn choice(&mut self, start: &BytesStart<'a>) -> Result<(), Error> {
        let is_understood = self.understands(start)?;
        if let Some(Open::Alternatives {
            taken: false,
            first: first @ None,
        }) = self.open.last_mut()
            && !is_understood
        {
            *first = Some(Box::new(self.reader.clone()));
        }
        self.branch(start, is_understood)
    }

    /// Takes a branch if it is acceptable and the first one that is, else passes over it.
    fn branch(&mut self, start: &BytesStart<'a>, is_acceptable: bool) -> Result<(), Error> {
        if let Some(Open::Alternatives { taken, .. }) = self.open.last_mut()
            && !*taken
            && is_acceptable
        {
            *taken = true;
            self.open.push(Open::Branch);
            return Ok(());
        }
        let skipped = self.reader.read_to_end(start.name());
        skipped.map(drop).map_err(|error| self.malformed(error))
    }

    /// Whether a choice is better than what stands in for it.
    ///
    /// Extensions by Office itself are: they hold the text in full, as with equations, where
    /// their fallback is a picture or "this chart isn't available in your version". VML, which
    /// Office gave up, has the same text in its fallback.
    fn understands(&self, start: &BytesStart<'_>) -> Result<bool, Error> {
        let requires = start.try_get_attribute("Requires");
        let requires = requires.map_err(|error| self.malformed(error))?;
        let Some(requires) = requires else {
            return Ok(false);
        };
        let is_ours = |prefix: &str| {
            let name = format!("{prefix}:any");
            let (resolved, _) = self.reader.resolver().resolve_element(QName(&name));
            matches!(resolved, ResolveResult::Bound(Namespace(uri)) if uri.starts_with(OFFICE_EXTENSIONS))
        };
        Ok(requires.value.split_ascii_whitespace().all(is_ours))
    }

    fn space_of(&self, start: &BytesStart<'_>) -> Result<Space, Error> {
        let (resolved, _) = self.reader.resolver().resolve_element(start.name());
        known(&resolved).ok_or_else(|| {
            let name = super::shown(start.name().into_inner());
            self.malformed(format!("the prefix of `{name}` is not declared"))
        })
    }

    fn resolve(&self, reference: &BytesRef<'a>) -> Result<Cow<'a, str>, Error> {
        let character = reference.resolve_char_ref();
        if let Some(character) = character.map_err(|error| self.malformed(error))? {
            return Ok(Cow::Owned(character.to_string()));
        }
        let text = escape::resolve_predefined_entity(reference);
        text.map(Cow::Borrowed).ok_or_else(|| {
            let name = super::shown(reference);
            self.malformed(format!("the entity `{name}` is not defined"))
        })
    }

    fn malformed(&self, problem: impl ToString) -> Error {
        let position = self
            .reader
            .error_position()
            .max(self.reader.buffer_position());
        let problem = format!("{} (at byte {position})", problem.to_string());
        Error::in_part(self.part, problem)
    }
}

/// The namespace that a name resolved to, or nothing when its prefix is not declared.
fn known(resolved: &ResolveResult<'_>) -> Option<Space> {
    match resolved {
        ResolveResult::Unbound => Some(Space::Other),
        ResolveResult::Unknown(_) => None,
        ResolveResult::Bound(Namespace(uri)) => {
            let space = SPACES.iter().find(|(known, _)| known == uri);
            Some(space.map_or(Space::Other, |(_, space)| *space))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACES: &str = r#"xmlns="http://schemas.openxmlformats.org/drawingml/2006/main"
        xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
        xmlns:r="http://purl.oclc.org/ooxml/officeDocument/relationships"
        xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"
        xmlns:v="urn:schemas-microsoft-com:vml" xmlns:x="urn:x""#;

    /// The names and texts of the root's children, one after the other.
    fn walked(inside: &str) -> Result<String, Error> {
        let text = format!("<root {SPACES}>{inside}</root>");
        let mut xml = Xml::new("p.xml", &text);
        let root = xml.root()?;
        let mut walked = String::new();
        while let Some(child) = xml.child(&root)? {
            walked.push_str(child.name().1);
            walked.push('=');
            xml.text(&child, &mut walked)?;
            walked.push(' ');
        }
        Ok(walked)
    }

    fn problem(inside: &str) -> String {
        walked(inside).unwrap_err().message()
    }

    #[test]
    fn text_is_kept_as_it_is() {
        let inside = "<t> a&amp;b &#x1F642;\r\n</t><t>c<!-- x -->d<?x y?>e<![CDATA[<f>]]></t><t/>";
        assert_eq!(walked(inside).as_deref(), Ok("t= a&b 🙂\n t=cde<f> t= "));
    }

    #[test]
    fn what_a_caller_leaves_unread_is_passed_over() {
        let text = format!("<root {SPACES}><a><b><c/>x</b></a><d>y</d></root>");
        let mut xml = Xml::new("p.xml", &text);
        let root = xml.root().unwrap();
        let mut names = Vec::new();
        while let Some(child) = xml.child(&root).unwrap() {
            names.push(child.name().1.to_owned());
        }
        assert_eq!(names, ["a", "d"]);
    }

    #[test]
    fn exactly_one_branch_is_taken() {
        let content = |choice: &str, fallback: &str| {
            format!("<mc:AlternateContent>{choice}{fallback}</mc:AlternateContent><z/>")
        };
        let ours = r#"<mc:Choice Requires="a14"><c>ours</c></mc:Choice>"#;
        let foreign = r#"<mc:Choice Requires="a14 x"><c>foreign</c></mc:Choice>"#;
        let fallback = "<mc:Fallback><f>fallback</f></mc:Fallback>";
        for (content, taken) in [
            (content(ours, fallback), "c=ours z= "),
            (content(foreign, fallback), "f=fallback z= "),
            (content(&format!("{foreign}{ours}"), fallback), "c=ours z= "),
            (content(&format!("{ours}{foreign}"), ""), "c=ours z= "),
            (content(foreign, ""), "c=foreign z= "),
            (content(&format!("{foreign}{foreign}"), ""), "c=foreign z= "),
            (content("", ""), "z= "),
            (
                content("<mc:Choice Requires=\"v\"/>", fallback),
                "f=fallback z= ",
            ),
        ] {
            assert_eq!(walked(&content).as_deref(), Ok(taken), "{content}");
        }
    }

    #[test]
    fn alternatives_stand_inside_one_another() {
        let inner = r#"<mc:AlternateContent><mc:Choice Requires="x"><c>in</c></mc:Choice></mc:AlternateContent>"#;
        let outer = format!(
            r#"<mc:AlternateContent><mc:Choice Requires="x">{inner}</mc:Choice></mc:AlternateContent><z/>"#
        );
        assert_eq!(walked(&outer).as_deref(), Ok("c=in z= "));
    }

    #[test]
    fn attributes_are_found_by_namespace() {
        let text = format!(r#"<root {SPACES} id="plain" r:id="rId1&amp;" x:id="other"/>"#);
        let mut xml = Xml::new("p.xml", &text);
        let root = xml.root().unwrap();
        let id = xml.attribute_in(&root, Space::Relationships, "id").unwrap();
        assert_eq!(id.as_deref(), Some("rId1&"));
        assert_eq!(
            xml.attribute(&root, "id").unwrap().as_deref(),
            Some("plain")
        );
        assert_eq!(xml.attribute(&root, "none").unwrap(), None);
    }

    #[test]
    fn what_is_not_well_formed_is_refused_with_the_place() {
        assert!(problem("<t>&nbsp;</t>").contains("the entity `nbsp` is not defined"));
        assert!(problem("<y:t/>").contains("the prefix of `y:t` is not declared"));
        assert!(problem("<t></u>").starts_with("`p.xml`: "));
        assert!(problem("<t>").contains("(at byte "));
        let dtd = Xml::new("p.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>").root();
        assert!(dtd.err().unwrap().message().contains("it has a DTD"));
        assert!(
            Xml::new("p.xml", "")
                .root()
                .err()
                .unwrap()
                .message()
                .contains("too early")
        );
    }

    #[test]
    fn depth_is_limited() {
        let deep = |depth: usize| "<t>".repeat(depth) + &"</t>".repeat(depth);
        assert!(walked(&deep(MAX_DEPTH - 1)).is_ok());
        assert!(matches!(walked(&deep(MAX_DEPTH)), Err(Error::Limit { .. })));
    }
}
