//! The text of SmartArt (ECMA-376 part 1, 21.4): the data model, read as the tree it means.

use super::Error;
use super::drawing::{joined, link, linked_paragraphs, target_of};
use super::relationships::Relationships;
use super::xml::{Element, Space, Xml};
use std::collections::{HashMap, HashSet};

/// What a child stands further in than its parent.
const INDENT: &str = "  ";

/// Points that a diagram may have, and connections between them.
const MAX_POINTS: usize = 10_000;

/// The paragraphs of each node on a line each, children below their parents and indented; with
/// where their links lead, if these are given.
pub(super) fn read(part: &str, text: &str, links: Option<&Relationships>) -> Result<String, Error> {
    let mut xml = Xml::new(part, text);
    let root = xml.root()?;
    let mut model = Model::default();
    while let Some(list) = xml.child(&root)? {
        match list.name() {
            (Space::Diagram, "ptLst") => model.points(&mut xml, &list, links)?,
            (Space::Diagram, "cxnLst") => model.connections(&mut xml, &list)?,
            _ => {}
        }
    }
    Ok(model.text())
}

#[derive(Default)]
struct Model {
    points: Vec<Point>,
    /// The children of a point with their order.
    children: HashMap<String, Vec<(u64, String)>>,
}

struct Point {
    id: String,
    kind: Kind,
    text: String,
}

/// What a point is for (`ST_PtType`).
#[derive(PartialEq, Eq)]
enum Kind {
    /// The root of the tree.
    Document,
    /// What the user wrote.
    Node,
    /// Transitions and presentation, which repeat the text or hold none.
    Other,
}

/// Where a point leads as a whole, which Office writes as an extension ([MS-ODRAWXML] 2.8).
fn shape_target<'l>(
    xml: &mut Xml<'_>,
    list: &Element<'_>,
    links: &'l Relationships,
) -> Result<Option<&'l str>, Error> {
    let mut target = None;
    while let Some(extension) = xml.child(list)? {
        while let Some(child) = xml.child(&extension)? {
            if child.name().1 == "cNvPr" {
                target = target.or(target_of(xml, &child, links)?);
            }
        }
    }
    Ok(target)
}

impl Model {
    fn points(
        &mut self,
        xml: &mut Xml<'_>,
        list: &Element<'_>,
        links: Option<&Relationships>,
    ) -> Result<(), Error> {
        while let Some(child) = xml.child(list)? {
            let id = xml.attribute(&child, "modelId")?;
            let id = id.unwrap_or_default().into_owned();
            let kind = match xml.attribute(&child, "type")?.as_deref() {
                None | Some("node" | "asst") => Kind::Node,
                Some("doc") => Kind::Document,
                Some(_) => Kind::Other,
            };
            let mut paragraphs = Vec::new();
            while let Some(inner) = xml.child(&child)? {
                match (inner.name(), links) {
                    ((Space::Diagram, "t"), _) => {
                        paragraphs = linked_paragraphs(xml, &inner, links)?;
                    }
                    ((Space::Diagram, "extLst"), Some(links)) => {
                        if let Some(target) = shape_target(xml, &inner, links)? {
                            for paragraph in &mut paragraphs {
                                link(xml, &mut paragraph.text, target)?;
                            }
                        }
                    }
                    _ => {}
                }
            }
            let text = joined(&paragraphs);
            self.points.push(Point { id, kind, text });
            check_count(xml, self.points.len())?;
        }
        Ok(())
    }

    fn connections(&mut self, xml: &mut Xml<'_>, list: &Element<'_>) -> Result<(), Error> {
        let mut count = 0;
        while let Some(child) = xml.child(list)? {
            count += 1;
            check_count(xml, count)?;
            let kind = xml.attribute(&child, "type")?;
            let parent = xml.attribute(&child, "srcId")?;
            let point = xml.attribute(&child, "destId")?;
            let order = xml.attribute(&child, "srcOrd")?;
            let order = order
                .and_then(|order| order.parse().ok())
                .unwrap_or_default();
            if let (None | Some("parOf"), Some(parent), Some(point)) =
                (kind.as_deref(), parent, point)
            {
                let children = self.children.entry(parent.into_owned()).or_default();
                children.push((order, point.into_owned()));
            }
        }
        Ok(())
    }

    /// Walks the tree from its root, then adds the nodes that hang nowhere. Each point is taken
    /// once, whatever circles the connections make.
    fn text(mut self) -> String {
        for children in self.children.values_mut() {
            children.sort_by_key(|(order, _)| *order);
        }
        let by_id: HashMap<&str, &Point> = self
            .points
            .iter()
            .map(|point| (&*point.id, point))
            .collect();
        let mut text = String::new();
        let mut seen = HashSet::new();
        let is_root = |point: &&Point| point.kind == Kind::Document;
        let roots = self.points.iter().filter(is_root);
        for start in roots.chain(&self.points) {
            let mut waiting = vec![(start, 0)];
            while let Some((point, depth)) = waiting.pop() {
                if !seen.insert(&*point.id) {
                    continue;
                }
                point.write(depth, &mut text);
                let inner = depth + usize::from(point.kind == Kind::Node);
                let children = self.children.get(&point.id).into_iter().flatten().rev();
                let children = children.filter_map(|(_, id)| by_id.get(&**id));
                waiting.extend(children.map(|child| (*child, inner)));
            }
        }
        text
    }
}

impl Point {
    fn write(&self, depth: usize, text: &mut String) {
        if self.kind != Kind::Node {
            return;
        }
        for line in self.text.lines().filter(|line| !line.trim().is_empty()) {
            if !text.is_empty() {
                text.push('\n');
            }
            // Deeper than any real diagram, and a bound on what an indent can cost.
            text.push_str(&INDENT.repeat(depth.min(16)));
            text.push_str(line);
        }
    }
}

fn check_count(xml: &Xml<'_>, count: usize) -> Result<(), Error> {
    if count <= MAX_POINTS {
        return Ok(());
    }
    Err(xml.malformed(format!(
        "it has more than {MAX_POINTS} points or connections"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(points: &[(&str, &str, &str)], connections: &[(&str, &str, &str)]) -> String {
        let point = |(id, kind, text): &(&str, &str, &str)| {
            format!(
                "<d:pt modelId=\"{id}\" type=\"{kind}\"><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>"
            )
        };
        let connection = |(from, to, order): &(&str, &str, &str)| {
            format!("<d:cxn modelId=\"c\" srcId=\"{from}\" destId=\"{to}\" srcOrd=\"{order}\"/>")
        };
        let points: String = points.iter().map(point).collect();
        let connections: String = connections.iter().map(connection).collect();
        let text = format!(
            r#"<d:dataModel xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"
            xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">
            <d:ptLst>{points}</d:ptLst><d:cxnLst>{connections}</d:cxnLst></d:dataModel>"#
        );
        read("data.xml", &text, None).unwrap()
    }

    #[test]
    fn links_of_text_and_of_points_are_written() {
        let links = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>\
            <Relationship Id='a' Target='https://a.example/' TargetMode='External' Type='x'/>\
            <Relationship Id='b' Target='https://b.example/' TargetMode='External' Type='x'/></Relationships>";
        let links = Relationships::parse("data.xml", "rels", links).unwrap();
        let link = |id: &str| format!("<a:hlinkClick r:id='{id}'/>");
        let point = |id: &str, of_run: &str, of_point: &str| {
            format!(
                "<d:pt modelId='{id}'><d:t><a:p><a:r><a:rPr>{of_run}</a:rPr><a:t>{id}</a:t></a:r></a:p></d:t>\
                 <d:extLst><a:ext><x:cNvPr>{of_point}</x:cNvPr></a:ext></d:extLst></d:pt>"
            )
        };
        let points = [
            point("1", &link("a"), ""),
            point("2", "", &link("b")),
            point("3", &link("a"), &link("b")),
            point("4", "", ""),
        ];
        let text = format!(
            r#"<d:dataModel xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:x="urn:x"
            xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
            xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">
            <d:ptLst>{}</d:ptLst></d:dataModel>"#,
            points.concat()
        );
        let read = |links| read("data.xml", &text, links).unwrap();
        assert_eq!(read(None), "1\n2\n3\n4");
        assert_eq!(
            read(Some(&links)),
            "[1](https://a.example/)\n[2](https://b.example/)\n[3](https://a.example/)\n4"
        );
    }

    #[test]
    fn nodes_stand_in_the_order_of_their_connections() {
        let points = [
            ("3", "node", "third"),
            ("1", "node", "first"),
            ("2", "node", "second"),
            ("4", "node", "child"),
            ("5", "pres", "first"),
            ("0", "doc", ""),
        ];
        let connections = [
            ("0", "3", "2"),
            ("0", "1", "0"),
            ("0", "2", "1"),
            ("2", "4", "0"),
        ];
        assert_eq!(
            text_of(&points, &connections),
            "first\nsecond\n  child\nthird"
        );
    }

    #[test]
    fn circles_end_and_loose_nodes_are_kept() {
        let points = [
            ("1", "node", "a"),
            ("2", "node", "b"),
            ("3", "node", "loose"),
        ];
        let connections = [("1", "2", "0"), ("2", "1", "0")];
        assert_eq!(text_of(&points, &connections), "a\n  b\nloose");
    }
}
