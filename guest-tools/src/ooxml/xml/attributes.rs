//! The attributes of a start tag, in order and without a check for doubles.

use memchr::memchr;
use quick_xml::XmlVersion;
use quick_xml::errors::Error;
use quick_xml::events::attributes::{self, AttrError};
use quick_xml::name::QName;
use std::borrow::Cow;

/// An attribute as it stands in the part.
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) value: Cow<'a, str>,
}

impl<'a> Attribute<'a> {
    /// The value with its references resolved and its white space as XML wants it.
    pub(super) fn normalized_value(self) -> Result<Cow<'a, str>, Error> {
        let (key, value) = (QName(self.name), self.value);
        let attribute = attributes::Attribute { key, value };
        attribute.normalized_value(XmlVersion::Explicit1_0)
    }
}

/// Hands out what is written as everybody writes it, ` name="value"`, and leaves all else to a
/// reader that knows what is wrong with it.
pub(super) struct Attributes<'a> {
    text: &'a str,
    position: usize,
    other: Option<attributes::Attributes<'a>>,
}

impl<'a> Attributes<'a> {
    /// The attributes in a tag, behind its name.
    pub(super) fn new(text: &'a str, position: usize) -> Self {
        let other = None;
        Self {
            text,
            position,
            other,
        }
    }

    /// The next attribute, if it is written as usual.
    fn usual(&mut self) -> Option<Attribute<'a>> {
        let bytes = self.text.as_bytes();
        let mut start = self.position;
        while is_space(*bytes.get(start)?) {
            start += 1;
        }
        let mut end = start;
        while !matches!(*bytes.get(end)?, b'=' | b'"' | b'\'') && !is_space(bytes[end]) {
            end += 1;
        }
        let [b'=', quote @ (b'"' | b'\''), value @ ..] = &bytes[end..] else {
            return None;
        };
        let length = memchr(*quote, value).filter(|_| end > start)?;
        let behind = end + 2 + length + 1;
        if bytes.get(behind).is_some_and(|byte| !is_space(*byte)) {
            return None;
        }
        self.position = behind;
        let name = &self.text[start..end];
        let value = Cow::Borrowed(&self.text[end + 2..behind - 1]);
        Some(Attribute { name, value })
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<Attribute<'a>, AttrError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.other.is_none() {
            if self.position == self.text.len() {
                return None;
            }
            if let Some(attribute) = self.usual() {
                return Some(Ok(attribute));
            }
        }
        let (text, position) = (self.text, self.position);
        let other = self.other.get_or_insert_with(|| {
            let mut other = attributes::Attributes::new(text, position);
            other.with_checks(false);
            other
        });
        let attribute = other.next()?.map(|attribute| Attribute {
            name: attribute.key.into_inner(),
            value: attribute.value,
        });
        Some(attribute)
    }
}

/// White space of XML.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
