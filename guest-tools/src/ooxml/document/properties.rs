//! Properties of paragraphs (ECMA-376 part 1, 17.3.1.26) that say what a paragraph is.

use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, shown};
use std::str::FromStr;

/// What a paragraph, or a style of paragraphs, says of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Properties {
    pub(super) style: Option<String>,
    /// The outline level, from 0; 9 is body text (17.3.1.20).
    pub(super) outline: Option<u8>,
    pub(super) numbered: Option<Numbered>,
    /// Whether the end of the paragraph is deleted, which joins it with the next one.
    pub(super) end_is_deleted: bool,
    /// Headers (or else footers), by the ids of their relationships.
    pub(super) margins: Vec<(bool, String)>,
}

/// The list that a paragraph belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    pub(super) list: String,
    /// From 0.
    pub(super) level: u8,
}

impl Properties {
    pub(super) fn read(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Word, "pStyle") => self.style = value(xml, &child)?,
                (Space::Word, "outlineLvl") => self.outline = number(xml, &child)?,
                (Space::Word, "numPr") => self.numbered = numbered(xml, &child)?,
                (Space::Word, "rPr") => self.end(xml, &child)?,
                (Space::Word, "sectPr") => self.section(xml, &child)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The level of the heading that an outline level makes.
    pub(super) fn heading(&self) -> Option<u8> {
        let outline = self.outline.filter(|level| *level < 9);
        outline.map(|level| level + 1)
    }

    fn end(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            if let (Space::Word, "del" | "moveFrom") = child.name() {
                self.end_is_deleted = true;
            }
        }
        Ok(())
    }

    /// The properties of a section, which stand in its last paragraph or in the body.
    pub(super) fn section(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
    ) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            if let (Space::Word, name @ ("headerReference" | "footerReference")) = child.name() {
                let is_header = name == "headerReference";
                let id = xml.attribute_in(&child, Space::Relationships, "id")?;
                self.margins
                    .extend(id.map(|id| (is_header, id.into_owned())));
            }
        }
        Ok(())
    }
}

fn numbered(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Option<Numbered>, Error> {
    let mut list = None;
    let mut level: Option<u8> = None;
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Word, "numId") => list = value(xml, &child)?,
            (Space::Word, "ilvl") => level = number(xml, &child)?,
            _ => {}
        }
    }
    let level = level.unwrap_or_default().min(8);
    Ok(list.map(|list| Numbered { list, level }))
}

/// What an element says, fit to be shown.
pub(super) fn value(xml: &Xml<'_>, element: &Element<'_>) -> Result<Option<String>, Error> {
    let value = xml.attribute_in(element, Space::Word, "val")?;
    Ok(value.as_deref().map(shown))
}

/// The number that an element says.
pub(super) fn number<T: FromStr>(xml: &Xml<'_>, element: &Element<'_>) -> Result<Option<T>, Error> {
    let value = xml.attribute_in(element, Space::Word, "val")?;
    Ok(value.and_then(|value| value.trim().parse().ok()))
}
