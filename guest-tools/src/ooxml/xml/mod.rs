//! One XML part as a walk over its elements, with names resolved to the namespaces of Office.
//!
//! `mc:AlternateContent` (ECMA-376 part 3) is never seen by the caller: exactly one of its
//! branches stands in its place. A DTD is refused, so that no entity is ever expanded but the
//! predefined ones.

mod alternatives;
mod attributes;
mod skip;
mod space;
mod tag;
mod words;

pub(super) use space::Space;
pub(super) use words::is_same;

use super::{Error, check};
use alternatives::Opened;
use attributes::Attribute;
use memchr::{memchr_iter, memchr2, memmem};
use quick_xml::errors::IllFormedError;
use quick_xml::escape;
use quick_xml::events::{BytesRef, BytesText, Event};
use quick_xml::reader::Reader;
use space::Spaces;
use std::borrow::Cow;
use tag::Tag;
use words::are_same;

/// Elements inside one another. libxml2 stops at the same depth; real slides stay below 50.
const MAX_DEPTH: usize = 256;
/// Text that one part may hold; a result holds no more.
const MAX_TEXT: u64 = 16 * 1024 * 1024;
/// Namespace declarations in scope at once. LibreOffice declares some 40 in a root element.
const MAX_NAMESPACES: usize = 128;
/// Tags, texts and the like that one part may have: a sheet of a million cells has some five
/// million.
const MAX_NODES: u64 = 8_000_000;
/// Bytes passed over that count as one node: they cost that little.
const SKIPPED_NODE: usize = 16;
/// A tag up to this long is not worth counting attributes in.
const LONG_TAG: usize = 16 * 1024;
/// ` xmlns=""`
const SHORTEST_DECLARATION: usize = 9;
/// Attributes of one element. Nothing of Office's has a hundred.
const MAX_ATTRIBUTES: usize = 1024;

/// A part that is being walked.
pub(super) struct Xml<'a> {
    part: &'a str,
    text_of_part: &'a str,
    /// What has not been read yet.
    rest: &'a str,
    spaces: Spaces<'a>,
    /// All open elements, innermost last.
    open: Vec<Opened<'a>>,
    /// How many of them the caller sees.
    level: usize,
    /// Whether the innermost one has no end tag, being written `<a/>`.
    is_closed: bool,
    /// Bytes of text handed out so far.
    text: u64,
    /// Tags, texts and the like so far.
    nodes: u64,
    declarations: memmem::Finder<'static>,
    /// No namespace is declared between the place that was looked from last and this one.
    next_declaration: usize,
}

/// An element whose start tag has been read.
pub(super) struct Element<'a> {
    space: Space,
    tag: Tag<'a>,
    /// How many elements that the caller sees are open inside it, itself included.
    level: usize,
}

enum Token<'a> {
    Start(Element<'a>),
    End,
    Text(Cow<'a, str>),
}

impl<'a> Element<'a> {
    /// Namespace and local name.
    pub(super) fn name(&self) -> (Space, &'a str) {
        (self.space, self.tag.local_name())
    }
}

/// A name as prefix, empty when there is none, and local name.
fn split_name(name: &str) -> (&str, &str) {
    match name.bytes().position(|byte| byte == b':') {
        Some(colon) => (&name[..colon], &name[colon + 1..]),
        None => ("", name),
    }
}

impl<'a> Xml<'a> {
    pub(super) fn new(part: &'a str, text: &'a str) -> Self {
        Self {
            part,
            text_of_part: text,
            rest: text.trim_start_matches('\u{feff}'),
            spaces: Spaces::default(),
            open: Vec::new(),
            level: 0,
            is_closed: false,
            text: 0,
            nodes: 0,
            declarations: memmem::Finder::new(b"xmlns"),
            next_declaration: 0,
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
        while self.level > parent.level {
            self.skip()?;
            self.token()?;
        }
        loop {
            match self.token()? {
                Token::Start(child) if child.level == parent.level + 1 => return Ok(Some(child)),
                Token::End if self.level < parent.level => return Ok(None),
                _ => {}
            }
        }
    }

    /// Passes over the rest of what is innermost, faster than by looking at it: half of a
    /// document is properties that nobody reads.
    fn skip(&mut self) -> Result<(), Error> {
        if !self.is_closed {
            let inside = skip::length_inside(self.rest.as_bytes());
            let length = inside.ok_or_else(|| self.too_early())?;
            self.nodes += (length / SKIPPED_NODE) as u64;
            // The end tag is left to be read, so that the names are compared.
            self.take(length);
        }
        Ok(())
    }

    /// Goes on by so many bytes, and answers what they are.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// How much of the part has been read.
    fn position(&self) -> usize {
        self.text_of_part.len() - self.rest.len()
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
    pub(super) fn attribute<'e>(
        &self,
        element: &Element<'e>,
        name: &str,
    ) -> Result<Option<Cow<'e, str>>, Error> {
        self.find_attribute(element, |key| key == name)
    }

    /// Hands out all attributes that have no namespace: for elements of which there are many.
    pub(super) fn attributes(
        &self,
        element: &Element<'_>,
        mut visit: impl FnMut(&str, &str),
    ) -> Result<(), Error> {
        for attribute in element.tag.attributes() {
            let attribute = attribute.map_err(|error| self.malformed(error))?;
            visit(attribute.name, &self.value(attribute)?);
        }
        Ok(())
    }

    /// The value of an attribute in a namespace. The element is the one just read.
    pub(super) fn attribute_in<'e>(
        &self,
        element: &Element<'e>,
        space: Space,
        name: &str,
    ) -> Result<Option<Cow<'e, str>>, Error> {
        self.find_attribute(element, |key| {
            key.ends_with(name) && {
                let (prefix, local) = split_name(key);
                local == name && !prefix.is_empty() && self.spaces.find(prefix) == Some(space)
            }
        })
    }

    /// Whether the part may hold characters from F000 to F0FF, which are signs in some fonts.
    pub(super) fn may_hold_signs(&self) -> bool {
        let bytes = self.text_of_part.as_bytes();
        let mut leads = memchr_iter(0xef, bytes);
        let is_lead = |at| {
            bytes
                .get(at + 1)
                .is_some_and(|next| (0x80..0x84).contains(next))
        };
        leads.any(is_lead) || memmem::find(bytes, b"&#").is_some()
    }

    /// Counts text, here or from elsewhere, that becomes part of the answer.
    pub(super) fn count_text(&mut self, length: usize) -> Result<(), Error> {
        self.text += length as u64;
        check("text bytes", MAX_TEXT, self.text)
    }

    /// Appends text, without the control characters that XML 1.0 forbids.
    fn push(&mut self, text: &mut String, more: &str) -> Result<(), Error> {
        self.count_text(more.len())?;
        let is_forbidden = |byte: u8| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
        if more.bytes().any(is_forbidden) {
            let allowed = more.chars();
            text.extend(allowed.filter(|c| !u8::try_from(*c).is_ok_and(is_forbidden)));
        } else {
            text.push_str(more);
        }
        Ok(())
    }

    fn find_attribute<'e>(
        &self,
        element: &Element<'e>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Cow<'e, str>>, Error> {
        for attribute in element.tag.attributes() {
            let attribute = attribute.map_err(|error| self.malformed(error))?;
            if is_wanted(attribute.name) {
                return self.value(attribute).map(Some);
            }
        }
        Ok(None)
    }

    fn value<'v>(&self, attribute: Attribute<'v>) -> Result<Cow<'v, str>, Error> {
        if words::is_plain(&attribute.value) {
            return Ok(attribute.value);
        }
        let value = attribute.normalized_value();
        value.map_err(|error| self.malformed(error))
    }

    fn token(&mut self) -> Result<Token<'a>, Error> {
        loop {
            self.nodes += 1;
            check("XML nodes", MAX_NODES, self.nodes)?;
            if std::mem::take(&mut self.is_closed) {
                match self.close()? {
                    true => return Ok(Token::End),
                    false => continue,
                }
            }
            match self.rest.as_bytes() {
                [b'<', b'/', ..] => {
                    self.end_tag()?;
                    if self.close()? {
                        return Ok(Token::End);
                    }
                }
                // The rare ones.
                [b'&', ..] | [b'<', b'!' | b'?', ..] | [b'<'] | [] => {
                    if let Some(text) = self.other()? {
                        return Ok(Token::Text(text));
                    }
                }
                [b'<', ..] => {
                    let tag = self.start_tag()?;
                    if let Some(element) = self.open(tag)? {
                        return Ok(Token::Start(element));
                    }
                }
                _ => return Ok(Token::Text(self.plain_text())),
            }
        }
    }

    fn start_tag(&mut self) -> Result<Tag<'a>, Error> {
        match Tag::read(self.rest) {
            Some((tag, length)) => {
                self.take(length);
                Ok(tag)
            }
            None => Err(self.ill_formed()),
        }
    }

    /// Reads an end tag, whose name has to be that of the innermost element.
    fn end_tag(&mut self) -> Result<(), Error> {
        let Some(Opened { name, .. }) = self.open.last() else {
            return Err(self.ill_formed());
        };
        let name = *name;
        let end = 2 + name.len();
        let bytes = self.rest.as_bytes();
        if bytes.get(end) == Some(&b'>') && are_same(&bytes[2..end], name.as_bytes()) {
            self.take(end + 1);
            return Ok(());
        }
        let Some(length) = skip::tag(self.rest.as_bytes(), 2) else {
            return Err(self.ill_formed());
        };
        let found = self.take(length)[2..length - 1].trim_end_matches([' ', '\t', '\r', '\n']);
        if found == name {
            return Ok(());
        }
        let (expected, found) = (name.to_owned(), found.to_owned());
        let error = IllFormedError::MismatchedEndTag { expected, found };
        Err(self.malformed(quick_xml::Error::from(error)))
    }

    fn plain_text(&mut self) -> Cow<'a, str> {
        let length = memchr2(b'<', b'&', self.rest.as_bytes());
        let text = self.take(length.unwrap_or(self.rest.len()));
        // Line ends are one character.
        match memchr::memchr(b'\r', text.as_bytes()) {
            Some(_) => BytesText::from_escaped(text).xml10_content(),
            None => Cow::Borrowed(text),
        }
    }

    /// References, sections of characters, comments and the like.
    fn other(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        match self.event()? {
            Event::CData(text) => Ok(Some(text.xml10_content())),
            Event::GeneralRef(reference) => self.resolve(&reference).map(Some),
            Event::DocType(_) => Err(self.malformed("it has a DTD")),
            Event::Eof => Err(self.too_early()),
            _ => Ok(None),
        }
    }

    /// What comes next, by a reader that knows all of XML; it is rare enough for one of its own.
    fn event(&mut self) -> Result<Event<'a>, Error> {
        let mut reader = Reader::from_str(self.rest);
        let event = reader.read_event();
        self.take(self.rest.len() - reader.get_ref().len());
        event.map_err(|error| self.malformed(error))
    }

    /// What is wrong with markup that could not be read.
    fn ill_formed(&mut self) -> Error {
        self.event().err().unwrap_or_else(|| self.too_early())
    }

    fn check_attributes(&self, tag: &Tag<'a>) -> Result<(), Error> {
        if tag.text.len() <= LONG_TAG {
            return Ok(());
        }
        let count = tag.attributes().take(MAX_ATTRIBUTES + 1).count();
        check("XML attributes", MAX_ATTRIBUTES as u64, count as u64)
    }

    /// Notes the namespaces that a tag declares, which hold in the innermost element.
    fn declare(&mut self, tag: &Tag<'a>) -> Result<(), Error> {
        let behind = self.position();
        if behind <= self.next_declaration {
            return Ok(());
        }
        let next = self.declarations.find(self.rest.as_bytes());
        self.next_declaration = next.map_or(usize::MAX, |at| behind + at);
        self.declare_those_of(tag)
    }

    /// The same where it is not known that there are none, and what comes behind the tag is not
    /// looked at.
    fn declare_those_of(&mut self, tag: &Tag<'a>) -> Result<(), Error> {
        let inside = &tag.text.as_bytes()[tag.name..];
        if inside.len() < SHORTEST_DECLARATION || self.declarations.find(inside).is_none() {
            return Ok(());
        }
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| self.malformed(error))?;
            let prefix = match split_name(attribute.name) {
                ("", "xmlns") => "",
                ("xmlns", prefix) => prefix,
                _ => continue,
            };
            let uri = self.value(attribute)?;
            self.spaces.declare(self.open.len(), prefix, &uri)?;
        }
        Ok(())
    }

    fn space_of(&self, tag: &Tag<'a>) -> Result<Space, Error> {
        self.spaces.find(tag.prefix()).ok_or_else(|| {
            let name = crate::ooxml::shown(tag.name());
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

    /// That the part has no more, where more should follow.
    pub(super) fn too_early(&self) -> Error {
        self.malformed("it ends too early")
    }

    /// What is wrong with the part, with the place that has been reached.
    pub(super) fn malformed(&self, problem: impl ToString) -> Error {
        let position = self.position();
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
    fn namespaces_are_known_wherever_they_are_declared() {
        for inside in [
            "<y:t xmlns:y='urn:y'/>",
            "<t xml:space=\"preserve\"/><y:t xmlns:y=\"urn:y\"/>",
            "<t><u xmlns:y='urn:y'/></t><y:t xmlns:y='urn:y'/>",
            "<t a='xmlns:y'/><y:t xmlns:y='urn:y'/>",
            "<!-- xmlns --><y:t xmlns:y='urn:y'/>",
            "<xmlns a= ></xmlns><u xmlns/><y:t xmlns:y='urn:y'/>",
            "<mc:AlternateContent><mc:Choice Requires='x' xmlns:y='urn:y'><y:t/></mc:Choice>\
             <mc:Choice Requires='x' xmlns:q='urn:q'/></mc:AlternateContent>",
        ] {
            let walked = walked(inside).unwrap();
            assert!(walked.ends_with("t= "), "{inside}: {walked}");
        }
        assert!(problem("<t xmlns:y='urn:y'/><y:t/>").contains("`y:t` is not declared"));
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
    fn tags_are_read_however_they_are_written() {
        for (inside, expected) in [
            ("<t\n>a</t \r\n>", "t=a "),
            ("<t a = '>' b=\"'>\">a</t>", "t=a "),
            ("<t a='1'b='2'/><u />", "t= u= "),
            ("<t xmlns:y='urn:y'>a<y:v/></t>", "t=a "),
        ] {
            assert_eq!(walked(inside).as_deref(), Ok(expected), "{inside}");
        }
        for (inside, expected) in [
            ("<t></tt>", "expected `</t>`, but `</tt>` was found"),
            ("<t></t x>", "expected `</t>`, but `</t x>` was found"),
            ("<t a='></t>", "attribute value not closed"),
            (
                "<t a><u/></t>",
                "attribute key must be directly followed by `=`",
            ),
            ("<t>&amp</t>", "reference not closed"),
            ("<t><!-- </t>", "comment not closed"),
        ] {
            let inside = inside.replace("<t a>", "<t xmlns:y='y' a>");
            assert!(problem(&inside).contains(expected), "{}", problem(&inside));
        }
    }

    #[test]
    fn attributes_are_read_however_they_are_written() {
        let text =
            format!("<root {SPACES}><t a='1'\tb=\"&lt;\n2\" c = '3' d='4'e='5' f='&x;' g/></root>");
        let mut xml = Xml::new("p.xml", &text);
        let root = xml.root().unwrap();
        let t = xml.child(&root).unwrap().unwrap();
        for (name, value) in [("a", "1"), ("b", "< 2"), ("c", "3"), ("d", "4"), ("e", "5")] {
            assert_eq!(xml.attribute(&t, name).unwrap().as_deref(), Some(value));
        }
        assert!(xml.attribute(&t, "f").is_err());
        assert!(xml.attribute(&t, "h").is_err());
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
