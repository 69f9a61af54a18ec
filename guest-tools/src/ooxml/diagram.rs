//! The text of SmartArt (ECMA-376 part 1, 21.4): the data model, read as the tree it means.

use super::Error;
use super::drawing::paragraphs;
use super::xml::{Element, Space, Xml};
use std::collections::{HashMap, HashSet};

/// What a child stands further in than its parent.
const INDENT: &str = "  ";

/// One line for each paragraph of each node, children below their parents and indented.
pub(super) fn read(part: &str, text: &str) -> Result<Vec<String>, Error> {
    let mut xml = Xml::new(part, text);
    let root = xml.root()?;
    let mut model = Model::default();
    while let Some(list) = xml.child(&root)? {
        match list.name() {
            (Space::Diagram, "ptLst") => model.points(&mut xml, &list)?,
            (Space::Diagram, "cxnLst") => model.connections(&mut xml, &list)?,
            _ => {}
        }
    }
    Ok(model.lines())
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
    lines: Vec<String>,
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

impl Model {
    fn points(&mut self, xml: &mut Xml<'_>, list: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(list)? {
            let id = xml.attribute(&child, "modelId")?.unwrap_or_default();
            let kind = match xml.attribute(&child, "type")?.as_deref() {
                None | Some("node" | "asst") => Kind::Node,
                Some("doc") => Kind::Document,
                Some(_) => Kind::Other,
            };
            let mut lines = Vec::new();
            while let Some(inner) = xml.child(&child)? {
                if inner.name() == (Space::Diagram, "t") {
                    lines = paragraphs(xml, &inner)?;
                }
            }
            self.points.push(Point { id, kind, lines });
        }
        Ok(())
    }

    fn connections(&mut self, xml: &mut Xml<'_>, list: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(list)? {
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
                self.children
                    .entry(parent)
                    .or_default()
                    .push((order, point));
            }
        }
        Ok(())
    }

    /// Walks the tree from its root, then adds the nodes that hang nowhere. Each point is taken
    /// once, whatever circles the connections make.
    fn lines(mut self) -> Vec<String> {
        for children in self.children.values_mut() {
            children.sort_by_key(|(order, _)| *order);
        }
        let by_id: HashMap<&str, &Point> = self
            .points
            .iter()
            .map(|point| (&*point.id, point))
            .collect();
        let mut lines = Vec::new();
        let mut seen = HashSet::new();
        let is_root = |point: &&Point| point.kind == Kind::Document;
        let roots = self.points.iter().filter(is_root);
        for start in roots.chain(&self.points) {
            let mut waiting = vec![(start, 0)];
            while let Some((point, depth)) = waiting.pop() {
                if !seen.insert(&*point.id) {
                    continue;
                }
                point.write(depth, &mut lines);
                let inner = depth + usize::from(point.kind == Kind::Node);
                let children = self.children.get(&point.id).into_iter().flatten().rev();
                let children = children.filter_map(|(_, id)| by_id.get(&**id));
                waiting.extend(children.map(|child| (*child, inner)));
            }
        }
        lines
    }
}

impl Point {
    fn write(&self, depth: usize, lines: &mut Vec<String>) {
        // Deeper than any real diagram, and a bound on what an indent can cost.
        let indent = INDENT.repeat(depth.min(16));
        let has_text = |line: &&String| !line.trim().is_empty();
        if self.kind == Kind::Node {
            let texts = self.lines.iter().filter(has_text);
            lines.extend(texts.map(|line| format!("{indent}{line}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(points: &[(&str, &str, &str)], connections: &[(&str, &str, &str)]) -> Vec<String> {
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
        read("data.xml", &text).unwrap()
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
            lines(&points, &connections),
            ["first", "second", "  child", "third"]
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
        assert_eq!(lines(&points, &connections), ["a", "  b", "loose"]);
    }
}
