//! Text in drawings (ECMA-376 part 1, 21.1): bodies of text and tables, wherever they stand.

use super::Error;
use super::xml::{Element, Space, Xml};

/// A text body or something else that holds text, in the order of the document.
pub(super) struct Body {
    /// The type of the placeholder that the shape fills (`ST_PlaceholderType`), if it says one.
    pub(super) placeholder: Option<String>,
    /// One string for each paragraph, or for each row of a table.
    pub(super) lines: Vec<String>,
    /// Where the lines are to be had from, when they stand in a part of their own.
    pub(super) linked: Option<Linked>,
}

/// A drawing in a part of its own, by the id of the relationship that leads there.
pub(super) enum Linked {
    Chart(String),
    Diagram(String),
}

impl Body {
    /// The lines as one string, or nothing if all are empty.
    pub(super) fn text(&self) -> Option<String> {
        let has_text = self.lines.iter().any(|line| !line.trim().is_empty());
        has_text.then(|| self.lines.join("\n"))
    }
}

/// Reads all shapes in an element, groups and graphic frames included.
///
/// A text body is text wherever it stands: in a shape, in a group, on a locked canvas.
pub(super) fn read(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Vec<Body>, Error> {
    let mut drawing = Drawing::default();
    drawing.walk(xml, element, &mut None)?;
    Ok(drawing.bodies)
}

#[derive(Default)]
struct Drawing {
    bodies: Vec<Body>,
}

impl Drawing {
    /// Recursion goes as deep as the XML, which [`Xml`] limits.
    fn walk(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        placeholder: &mut Option<String>,
    ) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Presentation, "sp" | "pic" | "graphicFrame" | "grpSp") => {
                    self.walk(xml, &child, &mut None)?;
                }
                (Space::Presentation, "ph") => *placeholder = xml.attribute(&child, "type")?,
                (Space::Presentation | Space::Drawing, "txBody") => {
                    let lines = paragraphs(xml, &child)?;
                    self.push(placeholder.clone(), lines);
                }
                (Space::Drawing, "tbl") => {
                    let rows = rows(xml, &child)?;
                    self.push(placeholder.clone(), rows);
                }
                (Space::Chart, "chart") => {
                    let id = xml.attribute_in(&child, Space::Relationships, "id")?;
                    self.link(id.map(Linked::Chart));
                }
                (Space::Diagram, "relIds") => {
                    let id = xml.attribute_in(&child, Space::Relationships, "dm")?;
                    self.link(id.map(Linked::Diagram));
                }
                (_, "extLst") => {}
                _ => self.walk(xml, &child, placeholder)?,
            }
        }
        Ok(())
    }

    fn push(&mut self, placeholder: Option<String>, lines: Vec<String>) {
        self.bodies.push(Body {
            placeholder,
            lines,
            linked: None,
        });
    }

    fn link(&mut self, linked: Option<Linked>) {
        self.bodies.push(Body {
            placeholder: None,
            lines: Vec::new(),
            linked,
        });
    }
}

/// The paragraphs of a text body.
pub(super) fn paragraphs(xml: &mut Xml<'_>, body: &Element<'_>) -> Result<Vec<String>, Error> {
    let mut paragraphs = Vec::new();
    while let Some(child) = xml.child(body)? {
        if child.name() == (Space::Drawing, "p") {
            paragraphs.push(paragraph(xml, &child)?);
        }
    }
    Ok(paragraphs)
}

/// Runs, fields, breaks and equations, in order and with nothing between them.
fn paragraph(xml: &mut Xml<'_>, paragraph: &Element<'_>) -> Result<String, Error> {
    let mut text = String::new();
    while let Some(child) = xml.child(paragraph)? {
        match child.name() {
            (Space::Drawing, "r" | "fld") => texts(xml, &child, Space::Drawing, &mut text)?,
            (Space::Drawing, "br") => text.push('\n'),
            (Space::Drawing2010, "m") => texts(xml, &child, Space::Math, &mut text)?,
            _ => {}
        }
    }
    Ok(text)
}

/// All `t` elements of one namespace in an element, however deep.
fn texts(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    space: Space,
    text: &mut String,
) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        if child.name() == (space, "t") {
            xml.text(&child, text)?;
        } else {
            texts(xml, &child, space, text)?;
        }
    }
    Ok(())
}

/// The rows of a table, cells joined by tabs.
fn rows(xml: &mut Xml<'_>, table: &Element<'_>) -> Result<Vec<String>, Error> {
    let mut rows = Vec::new();
    while let Some(child) = xml.child(table)? {
        if child.name() == (Space::Drawing, "tr") {
            rows.push(cells(xml, &child)?.join("\t"));
        }
    }
    Ok(rows)
}

fn cells(xml: &mut Xml<'_>, row: &Element<'_>) -> Result<Vec<String>, Error> {
    let mut cells = Vec::new();
    while let Some(child) = xml.child(row)? {
        if child.name() == (Space::Drawing, "tc") && !is_continuation(xml, &child)? {
            cells.push(cell(xml, &child)?);
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

/// The text of a cell on one line, so that a row stays a row.
fn cell(xml: &mut Xml<'_>, cell: &Element<'_>) -> Result<String, Error> {
    let mut lines = Vec::new();
    while let Some(child) = xml.child(cell)? {
        if child.name() == (Space::Drawing, "txBody") {
            lines = paragraphs(xml, &child)?;
        }
    }
    let lines = lines.iter().flat_map(|line| line.split('\n'));
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    Ok(lines.join(" "))
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
        read(&mut xml, &root).unwrap()
    }

    fn texts_of(inside: &str) -> Vec<String> {
        bodies(inside)
            .iter()
            .map(|body| body.lines.join("|"))
            .collect()
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
        assert_eq!(texts_of(&inside), ["a\n7 x=1|"]);
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
        assert_eq!(texts_of(&inside), ["a\t|two lines"]);
    }

    #[test]
    fn placeholders_belong_to_their_shape() {
        let inside = "<p:sp><p:nvSpPr><p:nvPr><p:ph type=\"title\"/></p:nvPr></p:nvSpPr><p:txBody><a:p/></p:txBody></p:sp>\
                      <p:sp><p:txBody><a:p/></p:txBody></p:sp>";
        let bodies = bodies(inside);
        assert_eq!(bodies[0].placeholder.as_deref(), Some("title"));
        assert_eq!(bodies[1].placeholder, None);
        assert_eq!(bodies[0].text(), None);
    }

    #[test]
    fn charts_are_links_in_their_place() {
        let bodies = bodies("<p:graphicFrame><c:chart r:id=\"rId2\"/></p:graphicFrame>");
        assert!(matches!(&bodies[0].linked, Some(Linked::Chart(id)) if id == "rId2"));
    }
}
