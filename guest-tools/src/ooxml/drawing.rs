//! Text in drawings (ECMA-376 part 1, 21.1): bodies of text and tables, wherever they stand.

use super::relationships::Relationships;
use super::table::{self, Rows};
use super::xml::{Element, Space, Xml};
use super::{Error, check};
use super::{markdown, math};
use std::borrow::Cow;

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

/// What of a drawing is read besides its text.
#[derive(Clone, Copy, Default)]
pub(super) struct Options<'a> {
    /// What pictures and shapes show, in words.
    pub(super) with_alternatives: bool,
    /// The relationships by which links lead outside, for those to be written as in Markdown.
    pub(super) links: Option<&'a Relationships>,
}

/// Reads all shapes in an element, groups and graphic frames included.
///
/// A text body is text wherever it stands: in a shape, in a group, on a locked canvas. Bodies
/// without any are left out.
pub(super) fn read(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    options: Options<'_>,
) -> Result<Vec<Body>, Error> {
    let mut drawing = Drawing {
        bodies: Vec::new(),
        options,
    };
    drawing.walk(xml, element, &mut Shape::default())?;
    Ok(drawing.bodies)
}

impl Body {
    /// All its text, on lines.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match &self.content {
            Content::Paragraphs(paragraphs) => match paragraphs.as_slice() {
                [one] => Cow::Borrowed(&one.text),
                more => Cow::Owned(joined(more)),
            },
            Content::Table(rows) => Cow::Owned(table::text(rows)),
            Content::Linked(_, text) => Cow::Borrowed(text),
            Content::Alternative(text) => Cow::Owned(format!("[picture: {text}]")),
        }
    }
}

/// What a shape says of itself before its text.
#[derive(Default)]
struct Shape<'a> {
    placeholder: Placeholder,
    /// Where it leads as a whole.
    target: Option<&'a str>,
}

struct Drawing<'a> {
    bodies: Vec<Body>,
    options: Options<'a>,
}

impl<'a> Drawing<'a> {
    /// Recursion goes as deep as the XML, which [`Xml`] limits.
    fn walk(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        shape: &mut Shape<'a>,
    ) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Presentation, "sp" | "pic" | "graphicFrame" | "grpSp") => {
                    self.walk(xml, &child, &mut Shape::default())?;
                }
                (Space::Presentation, "ph") => shape.placeholder = read_placeholder(xml, &child)?,
                (Space::Presentation, "cNvPr") => {
                    if self.options.with_alternatives {
                        self.alternative(xml.attribute(&child, "descr")?.as_deref());
                    }
                    if let Some(links) = self.options.links {
                        shape.target = target_of(xml, &child, links)?;
                    }
                }
                (Space::Presentation | Space::Drawing, "txBody") => {
                    let mut paragraphs = linked_paragraphs(xml, &child, self.options.links)?;
                    if let Some(target) = shape.target {
                        for paragraph in &mut paragraphs {
                            link(xml, &mut paragraph.text, target)?;
                        }
                    }
                    let content = Content::Paragraphs(paragraphs);
                    self.push(shape.placeholder, content);
                }
                (Space::Drawing, "tbl") => {
                    let content = Content::Table(rows(xml, &child, self.options.links)?);
                    self.push(shape.placeholder, content);
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
                _ => self.walk(xml, &child, shape)?,
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
    linked_paragraphs(xml, body, None)
}

/// Makes a text a link, unless it has one of its own.
pub(super) fn link(xml: &mut Xml<'_>, text: &mut String, target: &str) -> Result<(), Error> {
    if !text.trim().is_empty() && !text.contains("](") {
        // One target may stand behind any number of lines.
        xml.count_text(target.len())?;
        *text = markdown::link(text, target);
    }
    Ok(())
}

/// The same, with where their links lead.
pub(super) fn linked_paragraphs(
    xml: &mut Xml<'_>,
    body: &Element<'_>,
    links: Option<&Relationships>,
) -> Result<Vec<Paragraph>, Error> {
    let mut paragraphs = Vec::new();
    while let Some(child) = xml.child(body)? {
        if child.name() == (Space::Drawing, "p") {
            check("paragraphs", MAX_PARAGRAPHS, paragraphs.len() as u64 + 1)?;
            paragraphs.push(paragraph(xml, &child, links)?);
        }
    }
    Ok(paragraphs)
}

/// Runs, fields, breaks and equations, in order and with nothing between them.
fn paragraph(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    links: Option<&Relationships>,
) -> Result<Paragraph, Error> {
    let mut paragraph = Paragraph::default();
    while let Some(child) = xml.child(element)? {
        let text = &mut paragraph.text;
        match child.name() {
            (Space::Drawing, "pPr") => properties(xml, &child, &mut paragraph)?,
            (Space::Drawing, "r" | "fld") => match links {
                Some(links) => linked_run(xml, &child, links, text)?,
                None => texts(xml, &child, text)?,
            },
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

/// A run, and where it leads when that is outside (21.1.2.3.5). Runs that lead to one place, one
/// behind the other, are one link.
fn linked_run(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    links: &Relationships,
    text: &mut String,
) -> Result<(), Error> {
    let mut inner = String::new();
    let mut target = None;
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Drawing, "rPr") => target = target_of(xml, &child, links)?,
            (Space::Drawing, "t") => xml.text(&child, &mut inner)?,
            _ => texts(xml, &child, &mut inner)?,
        }
    }
    let Some(target) = target.filter(|_| !inner.trim().is_empty()) else {
        text.push_str(&inner);
        return Ok(());
    };
    // One target may stand behind any number of links.
    xml.count_text(target.len())?;
    let end = format!("]({})", markdown::target(target));
    match text.strip_suffix(&end).map(str::len) {
        Some(length) => text.truncate(length),
        None => text.push('['),
    }
    text.push_str(&inner);
    text.push_str(&end);
    Ok(())
}

/// Where the properties of a run or a shape lead.
pub(super) fn target_of<'l>(
    xml: &mut Xml<'_>,
    properties: &Element<'_>,
    links: &'l Relationships,
) -> Result<Option<&'l str>, Error> {
    let mut target = None;
    while let Some(child) = xml.child(properties)? {
        if child.name() == (Space::Drawing, "hlinkClick") {
            let id = xml.attribute_in(&child, Space::Relationships, "id")?;
            target = id.as_deref().and_then(|id| links.external(id));
        }
    }
    Ok(target)
}

fn equation(xml: &mut Xml<'_>, element: &Element<'_>, text: &mut String) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        math::push(xml, &child, text)?;
    }
    Ok(())
}

fn rows(
    xml: &mut Xml<'_>,
    table: &Element<'_>,
    links: Option<&Relationships>,
) -> Result<Rows, Error> {
    let mut rows = Rows::new();
    while let Some(child) = xml.child(table)? {
        if child.name() == (Space::Drawing, "tr") {
            rows.push(cells(xml, &child, links)?);
        }
    }
    Ok(rows)
}

fn cells(
    xml: &mut Xml<'_>,
    row: &Element<'_>,
    links: Option<&Relationships>,
) -> Result<Vec<Option<String>>, Error> {
    let mut cells = Vec::new();
    while let Some(child) = xml.child(row)? {
        if child.name() == (Space::Drawing, "tc") {
            let is_continuation = is_continuation(xml, &child)?;
            let text = cell(xml, &child, links)?;
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
fn cell(
    xml: &mut Xml<'_>,
    cell: &Element<'_>,
    links: Option<&Relationships>,
) -> Result<String, Error> {
    let mut text = String::new();
    while let Some(child) = xml.child(cell)? {
        if child.name() == (Space::Drawing, "txBody") {
            text = joined(&linked_paragraphs(xml, &child, links)?);
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
        let options = Options {
            with_alternatives: true,
            ..Options::default()
        };
        read(&mut xml, &root, options).unwrap()
    }

    fn texts_of(inside: &str) -> Vec<String> {
        let bodies = bodies(inside);
        let texts = bodies.iter().map(|body| body.text().into_owned());
        texts.collect()
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
    fn links_are_written_when_that_is_asked_for() {
        let relationship = |id: &str, target: &str| {
            format!("<Relationship Id='{id}' Target='{target}' TargetMode='External' Type='x'/>")
        };
        let links = format!(
            "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{}{}</Relationships>",
            relationship("a", "https://a.example/"),
            relationship("b", "https://b.example/")
        );
        let links = Relationships::parse("s.xml", "rels", &links).unwrap();
        let run = |id: &str, text: &str| {
            format!("<a:r><a:rPr><a:hlinkClick r:id='{id}'/></a:rPr><a:t>{text}</a:t></a:r>")
        };
        let text = format!(
            r#"<a:p xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
            xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">{}{}{}{}{}<a:r><a:t>.</a:t></a:r></a:p>"#,
            run("a", "one "),
            run("a", "link"),
            run("b", "another"),
            run("nowhere", "inside"),
            run("b", " "),
        );
        let read = |links: Option<&Relationships>| {
            let mut xml = Xml::new("slide", &text);
            let root = xml.root().unwrap();
            paragraph(&mut xml, &root, links).unwrap().text
        };
        assert_eq!(read(None), "one linkanotherinside .");
        assert_eq!(
            read(Some(&links)),
            "[one link](https://a.example/)[another](https://b.example/)inside ."
        );
    }

    #[test]
    fn a_shape_leads_as_a_whole_where_its_text_does_not() {
        let links = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>\
            <Relationship Id='a' Target='https://a.example/' TargetMode='External' Type='x'/>\
            <Relationship Id='b' Target='https://b.example/' TargetMode='External' Type='x'/></Relationships>";
        let links = Relationships::parse("s.xml", "rels", links).unwrap();
        let run = |properties: &str, text: &str| {
            format!("<a:p><a:r><a:rPr>{properties}</a:rPr><a:t>{text}</a:t></a:r></a:p>")
        };
        let inside = format!(
            "<p:sp><p:nvSpPr><p:cNvPr><a:hlinkClick r:id='a'/></p:cNvPr></p:nvSpPr><p:txBody>{}{}<a:p/></p:txBody></p:sp>\
             <p:sp><p:txBody>{}</p:txBody></p:sp>",
            run("", "shape"),
            run("<a:hlinkClick r:id='b'/>", "run"),
            run("", "plain"),
        );
        let text = format!(
            r#"<p:spTree xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"
            xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
            xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">{inside}</p:spTree>"#
        );
        let texts = |links: Option<&Relationships>| {
            let mut xml = Xml::new("slide", &text);
            let root = xml.root().unwrap();
            let with_alternatives = false;
            let options = Options {
                with_alternatives,
                links,
            };
            let bodies = read(&mut xml, &root, options).unwrap();
            let texts = bodies.iter().map(|body| body.text().into_owned());
            texts.collect::<Vec<_>>()
        };
        assert_eq!(texts(None), ["shape\nrun\n", "plain"]);
        let linked = "[shape](https://a.example/)\n[run](https://b.example/)\n";
        assert_eq!(texts(Some(&links)), [linked, "plain"]);
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
