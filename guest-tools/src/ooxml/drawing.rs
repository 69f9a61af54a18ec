//! Text in drawings (ECMA-376 part 1, 21.1): bodies of text and tables, wherever they stand.

use super::math;
use super::table::{self, Rows};
use super::xml::{Element, Space, Xml};
use super::{Error, check};

/// Paragraphs of one text body.
const MAX_PARAGRAPHS: u64 = 500_000;

/// A text body or something else that holds text, in the order of the document.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) placeholder: Placeholder,
    pub(super) content: Content,
}

/// What a body holds.
#[derive(Debug)]
pub(super) enum Content {
    Paragraphs(Vec<Paragraph>),
    Table(Rows),
    /// Something in a part of its own, and its text once that has been read.
    Linked(Linked, String),
    /// What a picture or a shape shows, in words.
    Alternative(String),
}

impl Linked {
    /// What it is, in words.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Chart(_) => "a chart",
            Self::Diagram(_) => "a SmartArt diagram",
        }
    }
}

/// A paragraph in a drawing.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    pub(super) text: String,
    /// How far it is indented, from 0.
    pub(super) level: usize,
    /// Whether it has a bullet or a number, where it says so itself.
    pub(super) bullet: Option<bool>,
}

/// What a shape is for (`ST_PlaceholderType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Placeholder {
    Title,
    /// The text proper, on a page of notes the notes themselves.
    Body,
    /// Anything the layout has room for; text in it has bullets.
    Object,
    #[default]
    Other,
}

/// A drawing in a part of its own, by the id of the relationship that leads there.
#[derive(Debug)]
pub(super) enum Linked {
    Chart(String),
    Diagram(String),
}

/// Reads all shapes in an element, groups and graphic frames included.
///
/// A text body is text wherever it stands: in a shape, in a group, on a locked canvas. Bodies
/// without any are left out. Alternative text is read when it is asked for.
pub(super) fn read(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    with_alternatives: bool,
) -> Result<Vec<Body>, Error> {
    let mut drawing = Drawing {
        bodies: Vec::new(),
        with_alternatives,
    };
    drawing.walk(xml, element, &mut Placeholder::Other)?;
    Ok(drawing.bodies)
}

impl Body {
    /// All its text, on lines.
    pub(super) fn text(&self) -> String {
        match &self.content {
            Content::Paragraphs(paragraphs) => joined(paragraphs),
            Content::Table(rows) => table::text(rows),
            Content::Linked(_, text) => text.clone(),
            Content::Alternative(text) => format!("[picture: {text}]"),
        }
    }
}

struct Drawing {
    bodies: Vec<Body>,
    with_alternatives: bool,
}

impl Drawing {
    /// Recursion goes as deep as the XML, which [`Xml`] limits.
    fn walk(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        placeholder: &mut Placeholder,
    ) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Presentation, "sp" | "pic" | "graphicFrame" | "grpSp") => {
                    self.walk(xml, &child, &mut Placeholder::Other)?;
                }
                (Space::Presentation, "ph") => *placeholder = read_placeholder(xml, &child)?,
                (Space::Presentation, "cNvPr") if self.with_alternatives => {
                    self.alternative(xml.attribute(&child, "descr")?.as_deref());
                }
                (Space::Presentation | Space::Drawing, "txBody") => {
                    let content = Content::Paragraphs(paragraphs(xml, &child)?);
                    self.push(*placeholder, content);
                }
                (Space::Drawing, "tbl") => {
                    let content = Content::Table(rows(xml, &child)?);
                    self.push(*placeholder, content);
                }
                (Space::Chart, "chart") => {
                    let id = xml.attribute_in(&child, Space::Relationships, "id")?;
                    self.link(Linked::Chart(id.unwrap_or_default().into_owned()));
                }
                (Space::Diagram, "relIds") => {
                    let id = xml.attribute_in(&child, Space::Relationships, "dm")?;
                    self.link(Linked::Diagram(id.unwrap_or_default().into_owned()));
                }
                // What things look like, and what happens to them.
                (_, "extLst" | "spPr" | "grpSpPr" | "style" | "bg" | "blipFill" | "xfrm")
                | (Space::Presentation, "timing" | "transition" | "clrMapOvr") => {}
                _ => self.walk(xml, &child, placeholder)?,
            }
        }
        Ok(())
    }

    fn push(&mut self, placeholder: Placeholder, content: Content) {
        let body = Body {
            placeholder,
            content,
        };
        if !body.text().trim().is_empty() {
            self.bodies.push(body);
        }
    }

    fn alternative(&mut self, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.push(Placeholder::Other, Content::Alternative(text.to_owned()));
        }
    }

    fn link(&mut self, linked: Linked) {
        self.bodies.push(Body {
            placeholder: Placeholder::Other,
            content: Content::Linked(linked, String::new()),
        });
    }
}

fn read_placeholder(xml: &Xml<'_>, element: &Element<'_>) -> Result<Placeholder, Error> {
    Ok(match xml.attribute(element, "type")?.as_deref() {
        Some("title" | "ctrTitle") => Placeholder::Title,
        Some("body") => Placeholder::Body,
        None | Some("obj") => Placeholder::Object,
        Some(_) => Placeholder::Other,
    })
}

/// The text of paragraphs, on a line each.
pub(super) fn joined(paragraphs: &[Paragraph]) -> String {
    let mut text = String::new();
    for (index, paragraph) in paragraphs.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(&paragraph.text);
    }
    text
}

/// The paragraphs of a text body.
pub(super) fn paragraphs(xml: &mut Xml<'_>, body: &Element<'_>) -> Result<Vec<Paragraph>, Error> {
    let mut paragraphs = Vec::new();
    while let Some(child) = xml.child(body)? {
        if child.name() == (Space::Drawing, "p") {
            check("paragraphs", MAX_PARAGRAPHS, paragraphs.len() as u64 + 1)?;
            paragraphs.push(paragraph(xml, &child)?);
        }
    }
    Ok(paragraphs)
}

/// Runs, fields, breaks and equations, in order and with nothing between them.
fn paragraph(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Paragraph, Error> {
    let mut paragraph = Paragraph::default();
    while let Some(child) = xml.child(element)? {
        let text = &mut paragraph.text;
        match child.name() {
            (Space::Drawing, "pPr") => properties(xml, &child, &mut paragraph)?,
            (Space::Drawing, "r" | "fld") => texts(xml, &child, text)?,
            (Space::Drawing, "br") => text.push('\n'),
            (Space::Drawing2010, "m") => equation(xml, &child, text)?,
            _ => {}
        }
    }
    Ok(paragraph)
}

fn properties(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    paragraph: &mut Paragraph,
) -> Result<(), Error> {
    let level = xml.attribute(element, "lvl")?;
    let level = level.and_then(|level| level.trim().parse::<usize>().ok());
    // `ST_TextIndentLevelType` ends at 8.
    paragraph.level = level.unwrap_or_default().min(8);
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Drawing, "buNone") => paragraph.bullet = Some(false),
            (Space::Drawing, "buChar" | "buAutoNum" | "buBlip") => paragraph.bullet = Some(true),
            _ => {}
        }
    }
    Ok(())
}

/// All `t` elements, however deep.
fn texts(xml: &mut Xml<'_>, element: &Element<'_>, text: &mut String) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Drawing, "t") => xml.text(&child, text)?,
            _ => texts(xml, &child, text)?,
        }
    }
    Ok(())
}

fn equation(xml: &mut Xml<'_>, element: &Element<'_>, text: &mut String) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        math::push(xml, &child, text)?;
    }
    Ok(())
}

fn rows(xml: &mut Xml<'_>, table: &Element<'_>) -> Result<Rows, Error> {
    let mut rows = Rows::new();
    while let Some(child) = xml.child(table)? {
        if child.name() == (Space::Drawing, "tr") {
            rows.push(cells(xml, &child)?);
        }
    }
    Ok(rows)
}

fn cells(xml: &mut Xml<'_>, row: &Element<'_>) -> Result<Vec<Option<String>>, Error> {
    let mut cells = Vec::new();
    while let Some(child) = xml.child(row)? {
        if child.name() == (Space::Drawing, "tc") {
            let is_continuation = is_continuation(xml, &child)?;
            let text = cell(xml, &child)?;
            cells.push((!is_continuation).then_some(text));
        }
    }
    Ok(cells)
}

/// Whether a cell only continues the one it is merged with.
fn is_continuation(xml: &Xml<'_>, cell: &Element<'_>) -> Result<bool, Error> {
    for merge in ["hMerge", "vMerge"] {
        if xml
            .attribute(cell, merge)?
            .is_some_and(|value| is_true(&value))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The text of a cell, its paragraphs that are not empty on a line each.
fn cell(xml: &mut Xml<'_>, cell: &Element<'_>) -> Result<String, Error> {
    let mut text = String::new();
    while let Some(child) = xml.child(cell)? {
        if child.name() == (Space::Drawing, "txBody") {
            text = joined(&paragraphs(xml, &child)?);
        }
    }
    let lines: Vec<_> = text.split('\n').filter(|line| !line.is_empty()).collect();
    Ok(lines.join("\n"))
}

/// `xsd:boolean`.
pub(super) fn is_true(value: &str) -> bool {
    matches!(value.trim(), "1" | "true" | "on")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(inside: &str) -> Vec<Body> {
        let text = format!(
            r#"<p:spTree xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"
            xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
            xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"
            xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"
            xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"
            xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main">{inside}</p:spTree>"#
        );
        let mut xml = Xml::new("slide", &text);
        let root = xml.root().unwrap();
        read(&mut xml, &root, true).unwrap()
    }

    fn texts_of(inside: &str) -> Vec<String> {
        bodies(inside).iter().map(Body::text).collect()
    }

    fn shape(paragraphs: &str) -> String {
        format!("<p:sp><p:nvSpPr/><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>")
    }

    #[test]
    fn runs_fields_breaks_and_equations_stand_in_order() {
        let inside = shape(
            "<a:p><a:pPr/><a:r><a:rPr/><a:t>a</a:t></a:r><a:br/><a:fld type=\"slidenum\"><a:t>7</a:t></a:fld>\
             <a:r><a:t> </a:t></a:r><a14:m><m:oMath><m:r><a:rPr/><m:t>x=</m:t></m:r><m:r><m:t>1</m:t></m:r></m:oMath></a14:m>\
             <a:endParaRpr/></a:p><a:p/>",
        );
        assert_eq!(texts_of(&inside), ["a\n7 x=1\n"]);
    }

    #[test]
    fn groups_are_walked() {
        let run = |text: &str| shape(&format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"));
        let inside = format!(
            "<p:grpSp><p:grpSpPr/>{}<p:grpSp>{}</p:grpSp></p:grpSp>{}",
            run("1"),
            run("2"),
            run("3")
        );
        assert_eq!(texts_of(&inside), ["1", "2", "3"]);
    }

    #[test]
    fn tables_are_read_row_by_row_without_continuations() {
        let cell = |attributes: &str, text: &str| {
            format!(
                "<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p><a:p/></a:txBody></a:tc>"
            )
        };
        let inside = format!(
            "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblGrid/><a:tr>{}{}{}</a:tr><a:tr>{}{}</a:tr>\
             </a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
            cell("gridSpan=\"2147483647\"", "a"),
            cell("hMerge=\"1\"", "hidden"),
            cell("hMerge=\"0\"", ""),
            cell("vMerge=\"true\"", "hidden"),
            cell("", "two</a:t></a:r><a:br/><a:r><a:t>lines"),
        );
        assert_eq!(texts_of(&inside), ["a\n\ttwo\n\tlines"]);
    }

    #[test]
    fn placeholders_belong_to_their_shape() {
        let text = "<p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody>";
        let empty = "<p:txBody><a:p/><a:p/></p:txBody>";
        let title = "<p:nvSpPr><p:nvPr><p:ph type=\"ctrTitle\"/></p:nvPr></p:nvSpPr>";
        let bodies = bodies(&format!(
            "<p:sp>{title}{text}</p:sp><p:sp>{empty}</p:sp><p:sp>{text}</p:sp>"
        ));
        let placeholders: Vec<_> = bodies.iter().map(|body| body.placeholder).collect();
        assert_eq!(placeholders, [Placeholder::Title, Placeholder::Other]);
    }

    #[test]
    fn alternative_text_is_told_from_text() {
        let named =
            "<p:pic><p:nvPicPr><p:cNvPr id=\"1\" name=\"x\" descr=\"A cat\"/></p:nvPicPr></p:pic>";
        assert_eq!(texts_of(named), ["[picture: A cat]"]);
        let empty = named.replace("A cat", " ");
        assert!(texts_of(&empty).is_empty());
    }

    #[test]
    fn charts_are_links_in_their_place() {
        let bodies = bodies("<p:graphicFrame><c:chart r:id=\"rId2\"/></p:graphicFrame>");
        assert!(
            matches!(&bodies[0].content, Content::Linked(Linked::Chart(id), _) if id == "rId2")
        );
    }
}
