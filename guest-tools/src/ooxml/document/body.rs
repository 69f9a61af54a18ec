//! Paragraphs and what they hold, in the order of the document.

use super::fields::{self, Fields};
use super::numbering::Numbering;
use super::properties::Properties;
use super::styles::Styles;
use super::symbols;
use super::table;
use super::{Block, BlockKind, DocumentOptions, Link};
use crate::ooxml::drawing::Linked;
use crate::ooxml::relationships::Relationships;
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, check, shown};
use crate::ooxml::{markdown, math};
use std::borrow::Cow;
use std::collections::HashMap;

/// Cells of tables that one part may have.
const MAX_CELLS: u64 = 1_000_000;

/// What stands around insertions and deletions, inside the braces.
pub(super) const INSERTED: &str = "++";
pub(super) const DELETED: &str = "--";

/// Reads the lists of a document.
pub(super) type ReadNumbering<'a> = Box<dyn FnOnce() -> Result<Numbering, Error> + 'a>;

/// A part that is being walked, and what has been met in it.
pub(super) struct Body<'a> {
    options: DocumentOptions,
    styles: &'a Styles,
    links: &'a Relationships,
    /// The lists, once a paragraph is in one.
    numbering: Option<Numbering>,
    pub(super) read_numbering: Option<ReadNumbering<'a>>,
    found: Found,
    /// Text boxes, charts and diagrams that the paragraph being read holds.
    anchored: Vec<Block>,
    /// The text of paragraphs whose end is deleted, for the one that follows.
    carried: String,
    fields: Fields,
    /// Links that lead outside, until a block takes them.
    met: Vec<Link>,
    /// The text that is being written to, and how many there were: a field may end in another one
    /// than it began in.
    written: u64,
    texts: u64,
    /// Whether the paragraph being read has a break of a page or a column.
    has_page_break: bool,
    /// How many footnotes and endnotes have been referred to.
    counts: [usize; 2],
    /// Cells of tables so far.
    cells: u64,
    /// Whether the part may hold characters that have a meaning in fonts of signs only, once that
    /// has been looked at.
    may_have_signs: Option<bool>,
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
    /// Whether a field has no end.
    pub(super) has_open_field: bool,
    /// Signs of symbol fonts that stand for no character that is known.
    pub(super) unknown_signs: u64,
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
            numbering: None,
            read_numbering: None,
            found: Found::default(),
            anchored: Vec::new(),
            carried: String::new(),
            fields: Fields::default(),
            met: Vec::new(),
            written: 0,
            texts: 0,
            has_page_break: false,
            counts: [0; 2],
            cells: 0,
            may_have_signs: None,
        }
    }

    pub(super) fn finish(self) -> Found {
        self.found
    }

    /// The links that were met and that no block has taken.
    pub(super) fn links(&mut self) -> Vec<Link> {
        std::mem::take(&mut self.met)
    }

    /// The blocks in an element.
    pub(super) fn blocks(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
    ) -> Result<Vec<Block>, Error> {
        let mut blocks = Vec::new();
        let outer = std::mem::take(&mut self.carried);
        let depth = self.fields.depth();
        self.walk(xml, element, &mut blocks)?;
        if let Some(hidden) = self.fields.give_up(depth) {
            self.found.has_open_field = true;
            let block = Block::new(BlockKind::Paragraph, hidden.trim().to_owned());
            blocks.extend(Some(block).filter(|block| !block.is_blank()));
        }
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
        Ok(self.lines(blocks).join("\n"))
    }

    /// The lines of what stands in a cell.
    pub(super) fn one(
        &mut self,
        xml: &mut Xml<'_>,
        child: &Element<'_>,
    ) -> Result<Vec<String>, Error> {
        let mut blocks = Vec::new();
        self.walk_child(xml, child, &mut blocks)?;
        Ok(self.lines(blocks))
    }

    /// The lines of blocks that become part of another one, and their links.
    fn lines(&mut self, mut blocks: Vec<Block>) -> Vec<String> {
        let links = blocks
            .iter_mut()
            .flat_map(|block| std::mem::take(&mut block.links));
        self.met.extend(links);
        blocks.iter().map(Block::lines_with_label).collect()
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
                let outer = std::mem::take(&mut self.met);
                let mut table = Block::new(BlockKind::Table, String::new());
                table.rows = table::rows(self, xml, child)?;
                table.links = std::mem::replace(&mut self.met, outer);
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
            (Space::Word, name @ ("ins" | "moveTo" | "del" | "moveFrom"))
                if self.options.with_changes =>
            {
                let first = blocks.len();
                self.walk(xml, child, blocks)?;
                let mark = if matches!(name, "ins" | "moveTo") {
                    INSERTED
                } else {
                    DELETED
                };
                blocks[first..]
                    .iter_mut()
                    .for_each(|block| block.mark(mark));
            }
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
        let outer_links = std::mem::take(&mut self.met);
        let outer_break = std::mem::take(&mut self.has_page_break);
        let outer_text = self.new_text();
        let mut properties = Properties::default();
        let mut text = std::mem::take(&mut self.carried);
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Word, "pPr") => properties.read(xml, &child)?,
                _ => self.inline(xml, &child, &mut text)?,
            }
        }
        self.written = outer_text;
        let anchored = std::mem::replace(&mut self.anchored, outer);
        if std::mem::replace(&mut self.has_page_break, outer_break) {
            text = text.trim_matches('\n').to_owned();
        }
        if self.fields.are_at_instruction() {
            self.fields.hidden.push('\n');
        }
        let links = std::mem::replace(&mut self.met, outer_links);
        if properties.end_is_deleted && self.options.with_changes {
            text.push_str(&marked("¶", DELETED));
        }
        if properties.end_is_deleted && !self.options.with_changes {
            self.carried = text;
            self.met.extend(links);
        } else {
            let mut block = self.block(&properties, text)?;
            block.links = links;
            blocks.extend(Some(block).filter(|block| !block.is_blank()));
        }
        blocks.extend(anchored);
        self.note_margins(properties);
        Ok(())
    }

    /// What a paragraph is: by itself, then by its style.
    fn block(&mut self, properties: &Properties, text: String) -> Result<Block, Error> {
        let role = self.styles.role(properties.style.as_deref());
        let own = properties.numbered.as_ref();
        let numbered = own.or(role.numbered.as_ref());
        let mut numbered = numbered
            .filter(|numbered| Numbering::is_list(numbered))
            .map(Cow::Borrowed);
        let mut block = Block::new(BlockKind::Paragraph, text);
        if let Some(numbered) = &mut numbered {
            let numbering = self.numbering()?;
            if own.is_none() {
                let level = numbering.at_level_of(numbered, &role.numbered_by);
                *numbered = Cow::Owned(level);
            }
            block.label = numbering.label(numbered);
        }
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
        Ok(block)
    }

    /// The lists, which few documents have and many define.
    fn numbering(&mut self) -> Result<&mut Numbering, Error> {
        if let Some(read) = self.read_numbering.take() {
            self.numbering = Some(read()?);
        }
        Ok(self.numbering.get_or_insert_default())
    }

    /// Appends the text of something inside a paragraph.
    fn inline(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        text: &mut String,
    ) -> Result<(), Error> {
        match element.name() {
            (Space::Word, "fldChar") => self.field(xml, element, text)?,
            (Space::Word, "instrText") => self.fields.instruct(xml, element)?,
            (Space::Word, "t" | "delText") if self.fields.are_at_instruction() => {
                xml.text(element, &mut self.fields.hidden)?;
            }
            name if self.fields.are_at_instruction() && is_leaf(name) => {}
            (Space::Word, "t" | "delText") => xml.text(element, text)?,
            (Space::Word, "tab" | "ptab") => text.push('\t'),
            (Space::Word, "cr") => text.push('\n'),
            (Space::Word, "noBreakHyphen") => text.push('-'),
            (Space::Word, "br") => {
                let kind = xml.attribute_in(element, Space::Word, "type")?;
                self.has_page_break |= matches!(kind.as_deref(), Some("page" | "column"));
                text.push('\n');
            }
            (Space::Word, "sym") => {
                let sign = self.sign(xml, element)?;
                text.push_str(&sign);
            }
            (Space::Word, "r") => self.run(xml, element, text)?,
            (Space::Word, "ins" | "moveTo") => self.changed(xml, element, INSERTED, text)?,
            (Space::Word, "del" | "moveFrom") if self.options.with_changes => {
                self.changed(xml, element, DELETED, text)?;
            }
            (Space::Word, "del" | "moveFrom") => {}
            (Space::Word, "fldSimple") => self.simple_field(xml, element, text)?,
            (Space::Word, "hyperlink") => self.hyperlink(xml, element, text)?,
            (Space::Word, "footnoteReference") => self.note(xml, element, "footnote", text)?,
            (Space::Word, "endnoteReference") => self.note(xml, element, "endnote", text)?,
            (Space::Word, "drawing" | "pict" | "object") => self.drawing(xml, element)?,
            (Space::Math, "oMath" | "oMathPara") => math::push(xml, element, text)?,
            // The reading aid above other text; instructions of fields; properties.
            (Space::Word, "rt" | "delInstrText" | "fldData") => {}
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
        let outer = self.new_text();
        while let Some(child) = xml.child(element)? {
            self.inline(xml, &child, &mut text)?;
        }
        self.written = outer;
        Ok(text)
    }

    /// Goes on with a text of its own, and answers which one came before.
    fn new_text(&mut self) -> u64 {
        self.texts += 1;
        std::mem::replace(&mut self.written, self.texts)
    }

    /// The begin of a field, the begin of its result, or its end.
    fn field(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        text: &mut String,
    ) -> Result<(), Error> {
        let kind = xml.attribute_in(element, Space::Word, "fldCharType")?;
        match kind.as_deref() {
            Some("begin") => self.fields.begin(xml, element)?,
            Some("separate") => self.fields.separate((self.written, text.len())),
            Some("end") => self.end_field(xml, text)?,
            _ => {}
        }
        Ok(())
    }

    fn end_field(&mut self, xml: &mut Xml<'_>, text: &mut String) -> Result<(), Error> {
        let Some(field) = self.fields.end() else {
            return Ok(());
        };
        if self.fields.are_at_instruction() {
            return Ok(());
        }
        let here = field.result.filter(|(written, _)| *written == self.written);
        let start = here
            .map(|(_, start)| start)
            .filter(|start| text.is_char_boundary(*start));
        if let Some(target) = field.target() {
            match start {
                Some(start) => {
                    let result = text.split_off(start);
                    self.push_link(xml, &result, &target, text)?;
                }
                // The result began in another paragraph, or in a change.
                None if field.result.is_some() => self.note_target(xml, &target, text)?,
                None => {}
            }
        } else if let Some(state) = &field.form
            && start.is_none_or(|start| text[start..].trim().is_empty())
        {
            xml.count_text(state.len())?;
            text.push_str(state);
        }
        Ok(())
    }

    fn simple_field(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        text: &mut String,
    ) -> Result<(), Error> {
        let instruction = xml.attribute_in(element, Space::Word, "instr")?;
        let target = instruction.as_deref().and_then(fields::target);
        let inner = self.children(xml, element)?;
        match target {
            Some(target) if !inner.is_empty() => self.push_link(xml, &inner, &target, text)?,
            _ => text.push_str(&inner),
        }
        Ok(())
    }

    /// A link's text, with where it leads or that noted beside it.
    fn push_link(
        &mut self,
        xml: &mut Xml<'_>,
        inner: &str,
        target: &str,
        text: &mut String,
    ) -> Result<(), Error> {
        if inner.trim().is_empty() {
            text.push_str(inner);
            return Ok(());
        }
        // One target may stand behind any number of links.
        xml.count_text(target.len())?;
        if self.options.with_links {
            text.push_str(&markdown::link(inner, target));
        } else {
            text.push_str(inner);
            xml.count_text(inner.len())?;
            self.met.push(Link {
                text: inner.to_owned(),
                target: target.to_owned(),
            });
        }
        Ok(())
    }

    /// Where a link leads whose text is not to be had as one piece.
    fn note_target(
        &mut self,
        xml: &mut Xml<'_>,
        target: &str,
        text: &mut String,
    ) -> Result<(), Error> {
        xml.count_text(target.len())?;
        if self.options.with_links {
            text.push_str(&format!(" <{}>", markdown::target(target)));
        } else {
            self.met.push(Link {
                text: String::new(),
                target: target.to_owned(),
            });
        }
        Ok(())
    }

    /// A run, whose font may have signs in the place of letters.
    fn run(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        text: &mut String,
    ) -> Result<(), Error> {
        let may_have_signs = *self
            .may_have_signs
            .get_or_insert_with(|| xml.may_hold_signs());
        let mut font = None;
        while let Some(child) = xml.child(element)? {
            match (child.name(), font.as_deref()) {
                ((Space::Word, "rPr"), _) if may_have_signs => font = font_of_signs(xml, &child)?,
                ((Space::Word, "t" | "delText"), Some(font)) => {
                    let mut signs = String::new();
                    self.inline(xml, &child, &mut signs)?;
                    self.push_signs(xml, font, &signs, text)?;
                }
                _ => self.inline(xml, &child, text)?,
            }
        }
        Ok(())
    }

    /// Text in a font of signs.
    fn push_signs(
        &mut self,
        xml: &mut Xml<'_>,
        font: &str,
        signs: &str,
        text: &mut String,
    ) -> Result<(), Error> {
        for sign in signs.chars() {
            match symbols::is_private(sign) {
                true => {
                    let code = format!("{:X}", u32::from(sign));
                    let sign = self.character(font, &code);
                    xml.count_text(sign.len())?;
                    text.push_str(&sign);
                }
                false => text.push(sign),
            }
        }
        Ok(())
    }

    /// A sign of a symbol font: its character, or its number.
    fn sign(&mut self, xml: &Xml<'_>, element: &Element<'_>) -> Result<String, Error> {
        let font = xml.attribute_in(element, Space::Word, "font")?;
        let font = font.unwrap_or_default();
        let code = xml.attribute_in(element, Space::Word, "char")?;
        Ok(self.character(&font, &code.unwrap_or_default()))
    }

    /// What a sign of a font stands for, by its number in hexadecimal digits.
    fn character(&mut self, font: &str, code: &str) -> String {
        let number = u32::from_str_radix(code.trim(), 16).ok();
        match number.and_then(|number| symbols::character(font, number)) {
            Some(character) => character.to_string(),
            None => {
                self.found.unknown_signs += 1;
                format!("[{} {}]", shown(font.trim()), shown(code.trim()))
            }
        }
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
        match self.options.with_changes {
            true => text.push_str(&marked(&inner, mark)),
            false => text.push_str(&inner),
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
        let anchor = xml.attribute_in(element, Space::Word, "anchor")?;
        let inner = self.children(xml, element)?;
        let target = id.as_deref().and_then(|id| self.links.external(id));
        match (target, anchor.filter(|anchor| !anchor.is_empty())) {
            // A place in what it leads to (17.16.22).
            (Some(target), Some(anchor)) if !target.contains('#') => {
                self.push_link(xml, &inner, &format!("{target}#{anchor}"), text)?;
            }
            (Some(target), _) => self.push_link(xml, &inner, target, text)?,
            (None, _) => text.push_str(&inner),
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

/// Text marked as inserted or deleted, once.
pub(super) fn marked(text: &str, mark: &str) -> String {
    let end = format!("{mark}}}");
    let inner = text
        .strip_prefix('{')
        .and_then(|text| text.strip_prefix(mark));
    let inner = inner.and_then(|inner| inner.strip_suffix(&*end));
    let is_marked = inner.is_some_and(|inner| !inner.contains(&*end));
    if text.is_empty() || is_marked {
        return text.to_owned();
    }
    format!("{{{mark}{text}{end}")
}

/// The font of a run, if it is one of signs (17.3.2.26).
fn font_of_signs(xml: &mut Xml<'_>, properties: &Element<'_>) -> Result<Option<String>, Error> {
    while let Some(child) = xml.child(properties)? {
        if child.name() == (Space::Word, "rFonts") {
            let font = match xml.attribute_in(&child, Space::Word, "ascii")? {
                None => xml.attribute_in(&child, Space::Word, "hAnsi")?,
                font => font,
            };
            let font = font.filter(|font| symbols::is_font_of_signs(font));
            return Ok(font.map(|font| font.into_owned()));
        }
    }
    Ok(None)
}

/// Whether an element is shown by itself, and not by what it holds.
fn is_leaf(name: (Space, &str)) -> bool {
    let is_word = |name| {
        matches!(
            name,
            "tab"
                | "ptab"
                | "cr"
                | "noBreakHyphen"
                | "br"
                | "sym"
                | "footnoteReference"
                | "endnoteReference"
                | "drawing"
                | "pict"
                | "object"
        )
    };
    match name {
        (Space::Word, name) => is_word(name),
        (Space::Math, _) => true,
        _ => false,
    }
}
