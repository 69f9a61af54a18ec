//! Paragraphs and what they hold, in the order of the document.

use super::numbering::Numbering;
use super::properties::Properties;
use super::styles::Styles;
use super::table;
use super::{Block, BlockKind, DocumentOptions};
use crate::ooxml::drawing::Linked;
use crate::ooxml::math;
use crate::ooxml::relationships::Relationships;
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, check};
use std::collections::HashMap;

/// Cells of tables that one part may have.
const MAX_CELLS: u64 = 1_000_000;

/// A part that is being walked, and what has been met in it.
pub(super) struct Body<'a> {
    options: DocumentOptions,
    styles: &'a Styles,
    links: &'a Relationships,
    pub(super) numbering: Numbering,
    found: Found,
    /// Text boxes, charts and diagrams that the paragraph being read holds.
    anchored: Vec<Block>,
    /// The text of paragraphs whose end is deleted, for the one that follows.
    carried: String,
    /// How many footnotes and endnotes have been referred to.
    counts: [usize; 2],
    /// Cells of tables so far.
    cells: u64,
}

/// What a body refers to.
#[derive(Default)]
pub(super) struct Found {
    /// Headers and footers by the ids of their relationships.
    pub(super) margins: Vec<(BlockKind, String)>,
    /// The numbers of notes by kind and id, in the order in which they are referred to.
    pub(super) notes: HashMap<(&'static str, String), usize>,
    /// Whether a document is inserted whole, which is not read.
    pub(super) has_inserted_document: bool,
}

impl<'a> Body<'a> {
    pub(super) fn new(
        options: DocumentOptions,
        styles: &'a Styles,
        links: &'a Relationships,
    ) -> Self {
        Self {
            options,
            styles,
            links,
            numbering: Numbering::default(),
            found: Found::default(),
            anchored: Vec::new(),
            carried: String::new(),
            counts: [0; 2],
            cells: 0,
        }
    }

    pub(super) fn finish(self) -> Found {
        self.found
    }

    /// The blocks in an element.
    pub(super) fn blocks(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
    ) -> Result<Vec<Block>, Error> {
        let mut blocks = Vec::new();
        let outer = std::mem::take(&mut self.carried);
        self.walk(xml, element, &mut blocks)?;
        let rest = std::mem::replace(&mut self.carried, outer);
        if !rest.trim().is_empty() {
            blocks.push(Block::new(BlockKind::Paragraph, rest));
        }
        Ok(blocks)
    }

    /// All text in an element, each block on lines of its own.
    pub(super) fn text(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
    ) -> Result<String, Error> {
        let blocks = self.blocks(xml, element)?;
        let lines: Vec<_> = blocks.iter().map(Block::lines).collect();
        Ok(lines.join("\n"))
    }

    /// The lines of what stands in a cell.
    pub(super) fn one(
        &mut self,
        xml: &mut Xml<'_>,
        child: &Element<'_>,
    ) -> Result<Vec<String>, Error> {
        let mut blocks = Vec::new();
        self.walk_child(xml, child, &mut blocks)?;
        Ok(blocks.iter().map(Block::lines).collect())
    }

    fn walk(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            self.walk_child(xml, &child, blocks)?;
        }
        Ok(())
    }

    fn walk_child(
        &mut self,
        xml: &mut Xml<'_>,
        child: &Element<'_>,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Error> {
        match child.name() {
            (Space::Word, "p") => self.paragraph(xml, child, blocks)?,
            (Space::Word, "tbl") => {
                let mut table = Block::new(BlockKind::Table, String::new());
                table.rows = table::rows(self, xml, child)?;
                blocks.push(table);
            }
            (Space::Word, "sectPr") => {
                let mut properties = Properties::default();
                properties.section(xml, child)?;
                self.note_margins(properties);
            }
            (Space::Word, "altChunk") => {
                self.found.has_inserted_document = true;
            }
            (Space::Word, "del" | "moveFrom") if !self.options.with_changes => {}
            (Space::Word, name) if !name.ends_with("Pr") => self.walk(xml, child, blocks)?,
            _ => {}
        }
        Ok(())
    }

    fn paragraph(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Error> {
        let outer = std::mem::take(&mut self.anchored);
        let mut properties = Properties::default();
        let mut text = std::mem::take(&mut self.carried);
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Word, "pPr") => properties.read(xml, &child)?,
                _ => self.inline(xml, &child, &mut text)?,
            }
        }
        let anchored = std::mem::replace(&mut self.anchored, outer);
        if properties.end_is_deleted && !self.options.with_changes {
            self.carried = text;
        } else {
            let block = self.block(&properties, text);
            blocks.extend(Some(block).filter(|block| !block.is_blank()));
        }
        blocks.extend(anchored);
        self.note_margins(properties);
        Ok(())
    }

    /// What a paragraph is: by itself, then by its style.
    fn block(&mut self, properties: &Properties, text: String) -> Block {
        let role = self.styles.role(properties.style.as_deref());
        let numbered = properties.numbered.as_ref().or(role.numbered.as_ref());
        let numbered = numbered.filter(|numbered| Numbering::is_list(numbered));
        let mut block = Block::new(BlockKind::Paragraph, text);
        block.label = numbered.and_then(|numbered| self.numbering.label(numbered));
        let heading = match properties.outline {
            Some(_) => properties.heading(),
            None => role.heading,
        };
        if heading.is_some() {
            (block.kind, block.level) = (BlockKind::Heading, heading);
        } else if role.is_title {
            block.kind = BlockKind::Title;
        } else if let Some(numbered) = numbered {
            (block.kind, block.level) =
                (BlockKind::ListItem, Some(numbered.level + 1 + role.indent));
        }
        block
    }

    /// Appends the text of something inside a paragraph.
    fn inline(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        text: &mut String,
    ) -> Result<(), Error> {
        match element.name() {
            (Space::Word, "t" | "delText") => xml.text(element, text)?,
            (Space::Word, "tab" | "ptab") => text.push('\t'),
            (Space::Word, "cr") => text.push('\n'),
            (Space::Word, "noBreakHyphen") => text.push('-'),
            (Space::Word, "br") => {
                let kind = xml.attribute_in(element, Space::Word, "type")?;
                let is_line = !matches!(kind.as_deref(), Some("page" | "column"));
                text.extend(is_line.then_some('\n'));
            }
            (Space::Word, "sym") => {
                let code = xml.attribute_in(element, Space::Word, "char")?;
                text.extend(code.as_deref().and_then(symbol));
            }
            (Space::Word, "ins" | "moveTo") => self.changed(xml, element, "++", text)?,
            (Space::Word, "del" | "moveFrom") if self.options.with_changes => {
                self.changed(xml, element, "--", text)?;
            }
            (Space::Word, "del" | "moveFrom") => {}
            (Space::Word, "hyperlink") => self.hyperlink(xml, element, text)?,
            (Space::Word, "footnoteReference") => self.note(xml, element, "footnote", text)?,
            (Space::Word, "endnoteReference") => self.note(xml, element, "endnote", text)?,
            (Space::Word, "drawing" | "pict" | "object") => self.drawing(xml, element)?,
            (Space::Math, "oMath" | "oMathPara") => math::push(xml, element, text)?,
            // The reading aid above other text; instructions of fields; properties.
            (Space::Word, "rt" | "instrText" | "delInstrText" | "fldData") => {}
            (Space::Word, name) if !name.ends_with("Pr") => {
                while let Some(child) = xml.child(element)? {
                    self.inline(xml, &child, text)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn children(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<String, Error> {
        let mut text = String::new();
        while let Some(child) = xml.child(element)? {
            self.inline(xml, &child, &mut text)?;
        }
        Ok(text)
    }

    /// An insertion or a deletion, marked when that is asked for.
    fn changed(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        mark: &str,
        text: &mut String,
    ) -> Result<(), Error> {
        let inner = self.children(xml, element)?;
        if self.options.with_changes && !inner.is_empty() {
            text.push_str(&format!("{{{mark}{inner}{mark}}}"));
        } else {
            text.push_str(&inner);
        }
        Ok(())
    }

    /// A link's text, and where it leads when that is asked for.
    fn hyperlink(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        text: &mut String,
    ) -> Result<(), Error> {
        let id = xml.attribute_in(element, Space::Relationships, "id")?;
        let inner = self.children(xml, element)?;
        let target = id.as_deref().and_then(|id| self.links.external(id));
        match target {
            Some(target) if self.options.with_links && !inner.trim().is_empty() => {
                // One target may stand behind any number of links.
                xml.count_text(target.len())?;
                text.push_str(&format!("[{inner}]({target})"));
            }
            _ => text.push_str(&inner),
        }
        Ok(())
    }

    /// Where a note belongs, by its number among its kind.
    fn note(
        &mut self,
        xml: &Xml<'_>,
        element: &Element<'_>,
        kind: &'static str,
        text: &mut String,
    ) -> Result<(), Error> {
        let id = xml.attribute_in(element, Space::Word, "id")?;
        let is_endnote = kind == "endnote";
        let count = &mut self.counts[usize::from(is_endnote)];
        let number = self
            .found
            .notes
            .entry((kind, id.unwrap_or_default().into_owned()));
        let number = *number.or_insert_with(|| {
            *count += 1;
            *count
        });
        if self.options.with_links {
            let mark = if is_endnote { "e" } else { "" };
            text.push_str(&format!("[^{mark}{number}]"));
        }
        Ok(())
    }

    /// Text boxes, charts and diagrams, however deep in a drawing.
    fn drawing(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Word, "txbxContent") => {
                    let text = self.text(xml, &child)?;
                    let text = text.trim().to_owned();
                    self.anchor(Block::new(BlockKind::TextBox, text));
                }
                (Space::Chart, "chart") => {
                    let id = xml.attribute_in(&child, Space::Relationships, "id")?;
                    self.link(
                        BlockKind::Chart,
                        Linked::Chart(id.unwrap_or_default().into_owned()),
                    );
                }
                (Space::Diagram, "relIds") => {
                    let id = xml.attribute_in(&child, Space::Relationships, "dm")?;
                    self.link(
                        BlockKind::Diagram,
                        Linked::Diagram(id.unwrap_or_default().into_owned()),
                    );
                }
                _ => self.drawing(xml, &child)?,
            }
        }
        Ok(())
    }

    fn link(&mut self, kind: BlockKind, linked: Linked) {
        let mut block = Block::new(kind, String::new());
        block.linked = Some(linked);
        self.anchor(block);
    }

    fn anchor(&mut self, block: Block) {
        self.anchored
            .extend(Some(block).filter(|block| !block.is_blank()));
    }

    fn note_margins(&mut self, properties: Properties) {
        let margins = properties.margins.into_iter();
        self.found
            .margins
            .extend(margins.map(|(is_header, id)| match is_header {
                true => (BlockKind::Header, id),
                false => (BlockKind::Footer, id),
            }));
    }

    /// Counts cells of tables, of which spans make many.
    pub(super) fn count_cells(&mut self, count: usize) -> Result<(), Error> {
        self.cells += count as u64;
        check("cells", MAX_CELLS, self.cells)
    }

    /// Whether the document asks for changes to be shown.
    pub(super) fn with_changes(&self) -> bool {
        self.options.with_changes
    }
}

/// Whether a note is one of those that hold the line above notes (ECMA-376 part 1, 17.18.33).
pub(super) fn is_separator(xml: &Xml<'_>, element: &Element<'_>) -> Result<bool, Error> {
    let kind = xml.attribute_in(element, Space::Word, "type")?;
    Ok(kind.is_some_and(|kind| kind != "normal"))
}

/// The character that a sign of a symbol font stands for, where there is one.
fn symbol(code: &str) -> Option<char> {
    let code = u32::from_str_radix(code.trim(), 16).ok()?;
    // Symbol fonts keep their signs at F000 (17.3.3.30); these are common ones of Wingdings.
    match code {
        0xf0fc => Some('✓'),
        0xf0fb => Some('✗'),
        0xf0fe => Some('☑'),
        0xf0fd => Some('☒'),
        0xf0a8 | 0xf06f => Some('☐'),
        0xf0e0 => Some('→'),
        0xf0df => Some('←'),
        0xf0b7 | 0xf06c => Some('•'),
        0xf000.. => None,
        code => char::from_u32(code).filter(|character| !character.is_control()),
    }
}
