//! Word documents (ECMA-376 part 1, 11 and 17): the text of the body in order, then what stands
//! beside it.

mod body;
mod fields;
mod headings;
mod markdown;
mod numbering;
mod properties;
mod styles;
mod symbols;
mod table;
#[cfg(test)]
mod tests;
mod words;

use super::drawing::Linked;
use super::package::Package;
use super::relationships::Relationships;
use super::sniff::{self, Kind};
use super::warnings::Warnings;
use super::xml::{Element, Space, Xml};
use super::{Error, check, linked};
use body::{Body, Found};
use numbering::Numbering;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, Seek};
use styles::Styles;

use super::table::Rows;

/// So much of a large part of styles is read first: most of one is styles of tables, behind those
/// of paragraphs. Word's own have some 40 KiB.
const FIRST_STYLES: u64 = 48 * 1024;

/// Text of all blocks together; a result holds no more.
const MAX_TEXT: u64 = 16 * 1024 * 1024;

/// How a document is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct DocumentOptions {
    /// Insertions and deletions are marked as in `CriticMarkup`, `{++in++}` and `{--out--}`;
    /// else the first are in and the second are not.
    pub(crate) with_changes: bool,
    /// Links, and where notes belong, are written into the text as in Markdown; else links stand
    /// beside it.
    pub(crate) with_links: bool,
}

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Document {
    pub(crate) blocks: Vec<Block>,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

/// A paragraph, a table, or something that stands beside the text.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Block {
    #[serde(rename = "type")]
    pub(crate) kind: BlockKind,
    /// Of headings and list items, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) level: Option<u8>,
    /// The number of a numbered heading, list item or note, as it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// Of comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_strings")]
    #[schemars(with = "Vec<Vec<String>>")]
    pub(crate) rows: Rows,
    /// The links in the text or the rows that lead outside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) links: Vec<Link>,
    /// Where the text is to be had from, when it stands in a part of its own.
    #[serde(skip)]
    linked: Option<Linked>,
}

/// A link that leads outside.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Link {
    pub(crate) text: String,
    pub(crate) target: String,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BlockKind {
    Title,
    Heading,
    Paragraph,
    ListItem,
    Table,
    TextBox,
    Chart,
    Diagram,
    Footnote,
    Endnote,
    Comment,
    Header,
    Footer,
}

impl Block {
    fn new(kind: BlockKind, text: String) -> Self {
        Self {
            kind,
            level: None,
            label: None,
            author: None,
            text,
            rows: Rows::new(),
            links: Vec::new(),
            linked: None,
        }
    }

    /// Bytes of all its text.
    pub(crate) fn length(&self) -> usize {
        let cells = self.rows.iter().flatten().flatten().map(String::len);
        self.text.len() + cells.sum::<usize>()
    }

    /// All its text, rows on lines.
    pub(crate) fn lines(&self) -> String {
        match self.rows.is_empty() {
            true => self.text.clone(),
            false => super::table::text(&self.rows),
        }
    }

    /// The same with the number before it, or a bullet: for where there is nothing but text.
    fn lines_with_label(&self) -> String {
        let is_bullet = self.kind == BlockKind::ListItem && !self.text.trim().is_empty();
        let bullet = is_bullet.then_some("•");
        match self.label.as_deref().or(bullet) {
            Some(label) => format!("{label} {}", self.lines()).trim_end().to_owned(),
            None => self.lines(),
        }
    }

    /// Marks all text as inserted or deleted.
    fn mark(&mut self, mark: &str) {
        self.text = body::marked(&self.text, mark);
        for cell in self.rows.iter_mut().flatten().flatten() {
            *cell = body::marked(cell, mark);
        }
    }

    fn is_blank(&self) -> bool {
        let has_text = !self.text.trim().is_empty() || self.label.is_some();
        !has_text && self.rows.is_empty() && self.linked.is_none()
    }
}

/// A cell that continues another one is an empty string.
fn as_strings<S: Serializer>(rows: &Rows, serializer: S) -> Result<S::Ok, S::Error> {
    let rows = rows.iter().map(|row| {
        let cells = row.iter().map(|cell| cell.as_deref().unwrap_or_default());
        cells.collect::<Vec<_>>()
    });
    serializer.collect_seq(rows)
}

/// Reads a document.
///
/// # Errors
/// [`Error::Malformed`] when the package or its main part is broken, [`Error::Unsupported`] for
/// other documents, [`Error::Limit`] for bombs.
pub(crate) fn read_docx(
    reader: impl BufRead + Seek,
    options: DocumentOptions,
) -> Result<Document, Error> {
    let mut package = Package::open(reader)?;
    let main = package.main_part()?;
    let text = package.part(&main)?;
    read_main(package, &main, &text, options)
}

/// Reads a document whose main part has been read.
pub(super) fn read_main(
    mut package: Package<impl BufRead + Seek>,
    main: &str,
    text: &str,
    options: DocumentOptions,
) -> Result<Document, Error> {
    let mut xml = Xml::new(main, text);
    let root = xml.root()?;
    if Kind::of_root(root.name()) != Some(Kind::Document) {
        return Err(sniff::other_main_part(main, root.name()));
    }
    let mut warnings = Warnings::default();
    let links = package.relationships(main);
    let links = warnings
        .unless("its relationships", links)?
        .unwrap_or_default();
    let mut reading = Reading {
        styles: Styles::default(),
        package,
        links,
        options,
        blocks: Vec::new(),
        warnings,
    };
    reading.styles(text)?;
    reading.body(&mut xml, &root)?;
    reading.finish()
}

/// The lists of a document; none where they cannot be read.
fn read_numbering(
    package: &mut Package<impl BufRead + Seek>,
    links: &Relationships,
    warnings: &mut Warnings,
) -> Result<Numbering, Error> {
    let part = package.first_linked(links, "numbering");
    let numbering = part.and_then(|part| match part {
        Some((part, text)) => Numbering::parse(&part, &text),
        None => Ok(Numbering::default()),
    });
    let numbering = warnings.unless("its numbering", numbering)?;
    Ok(numbering.unwrap_or_default())
}

/// A document that is being read.
struct Reading<R> {
    package: Package<R>,
    links: Relationships,
    options: DocumentOptions,
    styles: Styles,
    blocks: Vec<Block>,
    warnings: Warnings,
}

/// Kinds of relationship that lead to notes, the elements in the parts, and what they are.
const NOTES: [(&str, &str, BlockKind); 3] = [
    ("footnotes", "footnote", BlockKind::Footnote),
    ("endnotes", "endnote", BlockKind::Endnote),
    ("comments", "comment", BlockKind::Comment),
];

impl<R: BufRead + Seek> Reading<R> {
    fn styles(&mut self, text: &str) -> Result<(), Error> {
        match self.first_styles()? {
            Some(styles) => {
                self.styles = styles;
                self.styles_of(text)?;
            }
            None => self.all_styles()?,
        }
        Ok(())
    }

    /// The styles at the beginning of their part, where that is a large one.
    fn first_styles(&mut self) -> Result<Option<Styles>, Error> {
        let Some(part) = self.links.first_of_kind("styles") else {
            return Ok(None);
        };
        match self.package.beginning(part, FIRST_STYLES) {
            Ok(text) => Ok(text.and_then(|text| Styles::parse_beginning(part, &text))),
            // It shows again when all of it is read.
            Err(error) if error.concerns_one_part() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads on if paragraphs in a text have other styles than those that were read.
    fn styles_of(&mut self, text: &str) -> Result<(), Error> {
        match self.styles.are_lacking(text) {
            true => self.all_styles(),
            false => Ok(()),
        }
    }

    fn all_styles(&mut self) -> Result<(), Error> {
        let part = self.package.first_linked(&self.links, "styles");
        let styles = part.and_then(|part| match part {
            Some((part, text)) => Styles::parse(&part, &text),
            None => Ok(Styles::default()),
        });
        let styles = self.warnings.unless("its styles", styles)?;
        self.styles = styles.unwrap_or_default();
        Ok(())
    }

    /// The body, and what it refers to.
    fn body(&mut self, xml: &mut Xml<'_>, root: &Element<'_>) -> Result<(), Error> {
        let mut body = Body::new(self.options, &self.styles, &self.links);
        let (package, warnings) = (&mut self.package, &mut self.warnings);
        body.read_numbering = Some(Box::new(|| read_numbering(package, &self.links, warnings)));
        while let Some(child) = xml.child(root)? {
            if child.name() == (Space::Word, "body") {
                self.blocks.extend(body.blocks(xml, &child)?);
            }
        }
        let found = body.finish();
        if found.has_inserted_document {
            let warning = "a document inserted whole (`altChunk`) is not read";
            self.warnings.push(warning);
        }
        if found.has_open_field {
            let warning = "a field has no end; what stands in it is at the end of the text";
            self.warnings.push(warning);
        }
        if found.unknown_signs > 0 {
            let count = found.unknown_signs;
            let warning = format!("{count} signs of symbol fonts are shown by their numbers");
            self.warnings.push(&warning);
        }
        self.fill_in()?;
        for (kind, element, block) in NOTES {
            let notes = self.notes(kind, element, block, &found);
            self.add(element, notes)?;
        }
        let mut parts = HashSet::new();
        let mut seen = HashSet::new();
        for (block, id) in &found.margins {
            // Sections share theirs.
            if !parts.insert((*block as u8, self.links.by_id(id).unwrap_or(id).to_owned())) {
                continue;
            }
            let margin = self.margin(*block, id);
            let margin = self.warnings.unless("a header or footer", margin)?;
            let texts = margin.filter(|margin| seen.insert((*block as u8, margin.text.clone())));
            self.blocks
                .extend(texts.filter(|margin| !margin.is_blank()));
        }
        Ok(())
    }

    fn add(&mut self, what: &str, blocks: Result<Vec<Block>, Error>) -> Result<(), Error> {
        let blocks = self.warnings.unless(&format!("its {what}s"), blocks)?;
        self.blocks.extend(blocks.into_iter().flatten());
        Ok(())
    }

    /// Footnotes and endnotes in the order in which the text refers to them, then those that it
    /// does not refer to; comments in the order of their part, which is that of the text.
    fn notes(
        &mut self,
        kind: &str,
        element: &'static str,
        block: BlockKind,
        found: &Found,
    ) -> Result<Vec<Block>, Error> {
        let Some((part, text)) = self.package.first_linked(&self.links, kind)? else {
            return Ok(Vec::new());
        };
        self.styles_of(&text)?;
        let links = self.package.relationships(&part).unwrap_or_default();
        let mut xml = Xml::new(&part, &text);
        let root = xml.root()?;
        let mut body = Body::new(self.options, &self.styles, &links);
        let mut notes = Vec::new();
        while let Some(child) = xml.child(&root)? {
            if child.name() != (Space::Word, element) || body::is_separator(&xml, &child)? {
                continue;
            }
            let author = xml.attribute_in(&child, Space::Word, "author")?;
            let id = xml.attribute_in(&child, Space::Word, "id")?;
            let number = found
                .notes
                .get(&(element, id.unwrap_or_default().into_owned()));
            let text = body.text(&mut xml, &child)?;
            let mut note = Block::new(block, text.trim().to_owned());
            note.links = body.links();
            if !note.is_blank() {
                note.author = author.map(Cow::into_owned);
                note.label = number.map(usize::to_string);
                notes.push((number.copied().unwrap_or(usize::MAX), note));
            }
        }
        notes.sort_by_key(|(number, _)| *number);
        Ok(notes.into_iter().map(|(_, note)| note).collect())
    }

    fn margin(&mut self, block: BlockKind, id: &str) -> Result<Block, Error> {
        let part = self.links.by_id(id).unwrap_or_default().to_owned();
        let text = self.package.part(&part)?;
        self.styles_of(&text)?;
        let links = self.package.relationships(&part).unwrap_or_default();
        let mut xml = Xml::new(&part, &text);
        let root = xml.root()?;
        let mut body = Body::new(self.options, &self.styles, &links);
        let text = body.text(&mut xml, &root)?;
        let mut margin = Block::new(block, text.trim().to_owned());
        margin.links = body.links();
        Ok(margin)
    }

    /// Puts the text of charts and diagrams where they stand.
    fn fill_in(&mut self) -> Result<(), Error> {
        let mut blocks = std::mem::take(&mut self.blocks);
        for block in &mut blocks {
            if let Some(drawing) = block.linked.take() {
                let with_links = self.options.with_links;
                let text = linked::text(&mut self.package, &self.links, &drawing, with_links);
                let text = self.warnings.unless(drawing.name(), text)?;
                block.text = text.unwrap_or_default();
            }
        }
        blocks.retain(|block| !block.is_blank());
        self.blocks = blocks;
        Ok(())
    }

    fn finish(mut self) -> Result<Document, Error> {
        let length: usize = self.blocks.iter().map(Block::length).sum();
        check("text bytes", MAX_TEXT, length as u64)?;
        if self.blocks.is_empty() {
            self.warnings.push("the document holds no text");
        }
        Ok(Document {
            blocks: self.blocks,
            warnings: self.warnings.into_list(),
        })
    }
}
