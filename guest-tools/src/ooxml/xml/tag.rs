//! Start tags.

use super::attributes::Attributes;
use super::skip;

/// A start tag as it stands in the part, without its brackets.
#[derive(Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) text: &'a str,
    /// Where the name ends, and where its local part begins.
    pub(super) name: usize,
    local: usize,
    pub(super) is_closed: bool,
}

/// What a byte is to the name at the start of a tag.
#[derive(Clone, Copy)]
enum InName {
    Inside,
    Colon,
    Behind,
}

/// That, of each byte: looking it up is faster than asking byte by byte for those that matter.
const NAMES: [InName; 256] = {
    let mut names = [InName::Inside; 256];
    names[b':' as usize] = InName::Colon;
    let behind = b">\"' \t\r\n";
    let mut index = 0;
    while index < behind.len() {
        names[behind[index] as usize] = InName::Behind;
        index += 1;
    }
    names
};

impl<'a> Tag<'a> {
    /// Reads the tag that a text starts with, and says how long it is with its brackets.
    pub(super) fn read(text: &'a str) -> Option<(Self, usize)> {
        let bytes = text.as_bytes();
        let mut name = 1;
        let mut local = 0;
        loop {
            match NAMES[usize::from(*bytes.get(name)?)] {
                InName::Inside => {}
                InName::Colon if local == 0 => local = name,
                InName::Colon => {}
                InName::Behind => break,
            }
            name += 1;
        }
        let length = skip::tag(bytes, name)?;
        let is_closed = bytes[length - 2] == b'/';
        let text = &text[1..length - 1 - usize::from(is_closed)];
        let name = text.len().min(name - 1);
        let tag = Self {
            text,
            name,
            local,
            is_closed,
        };
        Some((tag, length))
    }

    pub(super) fn name(&self) -> &'a str {
        &self.text[..self.name]
    }

    pub(super) fn local_name(&self) -> &'a str {
        &self.text[self.local..self.name]
    }

    /// Empty when there is none.
    pub(super) fn prefix(&self) -> &'a str {
        &self.text[..self.local.saturating_sub(1)]
    }

    /// Without a check for doubles, whose cost grows with the square of their number.
    pub(super) fn attributes(&self) -> Attributes<'a> {
        Attributes::new(self.text, self.name)
    }
}
