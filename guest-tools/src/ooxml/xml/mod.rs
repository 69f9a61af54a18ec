//! One XML part as a walk over its elements, with names resolved to the namespaces of Office.
//!
//! `mc:AlternateContent` (ECMA-376 part 3) is never seen by the caller: exactly one of its
//! branches stands in its place. A DTD is refused, so that no entity is ever expanded but the
//! predefined ones.

mod alternatives;
mod space;

pub(super) use space::Space;

use super::{Error, check};
use alternatives::{Open, SKIPPED_NODE};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{NamespaceError, QName};
use quick_xml::reader::NsReader;
use quick_xml::{XmlVersion, escape};
use space::known;
use std::borrow::Cow;

/// Elements inside one another. libxml2 stops at the same depth; real slides stay below 50.
const MAX_DEPTH: usize = 256;
/// Text that one part may hold; a result holds no more.
const MAX_TEXT: u64 = 16 * 1024 * 1024;
/// Namespace declarations in scope at once. LibreOffice declares some 40 in a root element.
const MAX_NAMESPACES: usize = 512;
/// Tags, texts and the like that one part may have: a sheet of a million cells has some five
/// million.
const MAX_NODES: u64 = 8_000_000;
/// A tag up to this long is not worth counting attributes in.
const LONG_TAG: usize = 16 * 1024;
/// Attributes of one element. Nothing of Office's has a hundred.
const MAX_ATTRIBUTES: usize = 1024;

/// A part that is being walked.
pub(super) struct Xml<'a> {
    part: &'a str,
    text_of_part: &'a str,
    reader: NsReader<&'a [u8]>,
    /// All open elements, innermost last.
    open: Vec<Open<'a>>,
    /// How many of them the caller sees.
    level: usize,
    /// Bytes of text handed out so far.
    text: u64,
    /// Tags, texts and the like so far.
    nodes: u64,
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
            text_of_part: text,
            reader,
            open: Vec::new(),
            level: 0,
            text: 0,
            nodes: 0,
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
        self.skip(parent.level)?;
        loop {
            match self.token()? {
                Token::Start(child) if child.level == parent.level + 1 => return Ok(Some(child)),
                Token::End if self.level < parent.level => return Ok(None),
                _ => {}
            }
        }
    }

    /// Passes over what is open inside the element at this level, faster than by looking at it:
    /// half of a document is properties that nobody reads.
    fn skip(&mut self, level: usize) -> Result<(), Error> {
        while self.level > level {
            let name = match self.open.last() {
                Some(Open::Element(name) | Open::Branch(name)) => *name,
                Some(Open::Alternatives { name, .. }) => *name,
                None => return Ok(()),
            };
            let skipped = self.reader.read_to_end(QName(name));
            let skipped = skipped.map_err(|error| self.malformed(error))?;
            self.nodes += (skipped.end - skipped.start) / SKIPPED_NODE;
            if let Some(Open::Element(_)) = self.open.pop() {
                self.level -= 1;
            }
        }
        Ok(())
    }

    /// The name in a tag as it stands in the part.
    fn name_in_part(&self, start: &BytesStart<'_>) -> &'a str {
        let name = start.name().into_inner();
        let offset = (name.as_ptr() as usize).wrapping_sub(self.text_of_part.as_ptr() as usize);
        let end = offset.wrapping_add(name.len());
        // The reader lends from the part, so that the name is found in it.
        self.text_of_part.get(offset..end).unwrap_or_default()
    }

    /// The text that stands directly in an element, up to its end.
    pub(super) fn text(&mut self, element: &Element<'_>, text: &mut String) -> Result<(), Error> {
        loop {
            match self.token()? {
                Token::Text(more) if self.level == element.level => self.push(text, &more)?,
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
                Token::Text(more) => self.push(text, &more)?,
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

    /// Hands out all attributes that have no namespace: for elements of which there are many.
    pub(super) fn attributes(
        &self,
        element: &Element<'_>,
        mut visit: impl FnMut(&str, &str),
    ) -> Result<(), Error> {
        for attribute in element.start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| self.malformed(error))?;
            let value = attribute.normalized_value(XmlVersion::Explicit1_0);
            let value = value.map_err(|error| self.malformed(error))?;
            visit(attribute.key.into_inner(), &value);
        }
        Ok(())
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

    /// Appends text, without the control characters that XML 1.0 forbids.
    fn push(&mut self, text: &mut String, more: &str) -> Result<(), Error> {
        self.text += more.len() as u64;
        check("text bytes", MAX_TEXT, self.text)?;
        let is_forbidden = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r');
        more.split(is_forbidden)
            .for_each(|piece| text.push_str(piece));
        Ok(())
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
            self.nodes += 1;
            check("XML nodes", MAX_NODES, self.nodes)?;
            let event = self.reader.read_event();
            match event.map_err(|error| self.broken(error))? {
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

    fn check_attributes(&self, start: &BytesStart<'_>) -> Result<(), Error> {
        if start.len() <= LONG_TAG {
            return Ok(());
        }
        let mut attributes = start.attributes();
        let attributes = attributes.with_checks(false);
        let count = attributes.take(MAX_ATTRIBUTES + 1).count();
        check("XML attributes", MAX_ATTRIBUTES as u64, count as u64)
    }

    fn space_of(&self, start: &BytesStart<'_>) -> Result<Space, Error> {
        let (resolved, _) = self.reader.resolver().resolve_element(start.name());
        known(&resolved).ok_or_else(|| {
            let name = crate::ooxml::shown(start.name().into_inner());
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
            let name = crate::ooxml::shown(reference);
            self.malformed(format!("the entity `{name}` is not defined"))
        })
    }

    fn broken(&self, error: quick_xml::Error) -> Error {
        match error {
            quick_xml::Error::Namespace(NamespaceError::TooManyBindings(_)) => Error::Limit {
                limit: "XML namespaces",
                value: MAX_NAMESPACES as u64,
                actual: MAX_NAMESPACES as u64 + 1,
            },
            error => self.malformed(error),
        }
    }

    /// What is wrong with the part, with the place that has been reached.
    pub(super) fn malformed(&self, problem: impl ToString) -> Error {
        let position = self
            .reader
            .error_position()
            .max(self.reader.buffer_position());
        let problem = crate::ooxml::shown(&problem.to_string());
        let problem = format!("{problem} (at byte {position})");
        Error::in_part(self.part, problem)
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
    pub(super) fn walked(inside: &str) -> Result<String, Error> {
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
    fn text_is_limited_and_without_control_characters() {
        assert_eq!(
            walked("<t>a\u{1}b&#27;[31m\tc</t>").as_deref(),
            Ok("t=ab[31m\tc ")
        );
        let long = format!("<t>{}</t>", "x".repeat(MAX_TEXT as usize + 1));
        assert!(matches!(walked(&long), Err(Error::Limit { .. })));
    }

    #[test]
    fn namespaces_are_limited() {
        let many: String = (0..=MAX_NAMESPACES)
            .map(|n| format!(" xmlns:n{n}='u'"))
            .collect();
        assert!(matches!(
            walked(&format!("<t{many}/>")),
            Err(Error::Limit { .. })
        ));
    }

    #[test]
    fn depth_is_limited() {
        let deep = |depth: usize| "<t>".repeat(depth) + &"</t>".repeat(depth);
        assert!(walked(&deep(MAX_DEPTH - 1)).is_ok());
        assert!(matches!(walked(&deep(MAX_DEPTH)), Err(Error::Limit { .. })));
    }
}
