//! Relationships between parts (ECMA-376 part 2, 6.5).

use super::xml::{Element, Space, Xml};
use super::{Error, check};
use std::collections::HashMap;

/// What the types of Office's own relationships start with: transitional, and strict.
const OFFICE_TYPES: [&str; 2] = [
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/",
    "http://purl.oclc.org/ooxml/officeDocument/relationships/",
];

/// Relationships that one part may have: as many to other parts as there can be, and some to
/// the outside.
const MAX_RELATIONSHIPS: u64 = 50_000;

/// The relationships of one part.
#[derive(Default)]
pub(super) struct Relationships {
    all: Vec<Relationship>,
    by_id: HashMap<String, usize>,
    /// Where those to the outside lead. They are shown, and never followed.
    external: HashMap<String, String>,
}

struct Relationship {
    /// The type, without what all of Office's types start with.
    kind: String,
    target: String,
}

impl Relationships {
    /// Parses the relationships of the part `source`, which stand in `part`.
    pub(super) fn parse(source: &str, part: &str, text: &str) -> Result<Self, Error> {
        let mut xml = Xml::new(part, text);
        let root = xml.root()?;
        let mut relationships = Self::default();
        let mut count = 0;
        while let Some(element) = xml.child(&root)? {
            count += 1;
            check("relationships", MAX_RELATIONSHIPS, count)?;
            if element.name() == (Space::PackageRelationships, "Relationship") {
                relationships.add(source, &xml, &element)?;
            }
        }
        Ok(relationships)
    }

    /// The part that the relationship with this id leads to.
    pub(super) fn by_id(&self, id: &str) -> Option<&str> {
        let index = *self.by_id.get(id)?;
        Some(&self.all[index].target)
    }

    /// The part that the first relationship of this kind leads to, such as `notesSlide`.
    pub(super) fn first_of_kind(&self, kind: &str) -> Option<&str> {
        let found = self
            .all
            .iter()
            .find(|relationship| relationship.kind == kind);
        found.map(|relationship| relationship.target.as_str())
    }

    /// Where the relationship with this id leads, outside the package.
    pub(super) fn external(&self, id: &str) -> Option<&str> {
        self.external.get(id).map(String::as_str)
    }

    fn add(&mut self, source: &str, xml: &Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        let (mut id, mut kind, mut target) = (None, None, None);
        let mut is_external = false;
        xml.attributes(element, |name, value| match name {
            "Id" => id = Some(value.to_owned()),
            "Type" => kind = Some(short_kind(value).to_owned()),
            "Target" => target = Some(value.to_owned()),
            "TargetMode" => is_external = value == "External",
            _ => {}
        })?;
        if let (Some(id), Some(kind), Some(target)) = (id, kind, target) {
            if is_external {
                self.external.entry(id).or_insert(target);
                return Ok(());
            }
            let target = resolve(source, &target);
            self.by_id.entry(id).or_insert(self.all.len());
            self.all.push(Relationship { kind, target });
        }
        Ok(())
    }
}

/// The part that holds the relationships of a part; of the package for an empty name.
pub(super) fn relationships_part(source: &str) -> String {
    let (folder, name) = split(source);
    format!("{folder}_rels/{name}.rels")
}

fn short_kind(kind: &str) -> &str {
    let short = OFFICE_TYPES
        .iter()
        .find_map(|prefix| kind.strip_prefix(prefix));
    short.unwrap_or(kind)
}

/// The name of the part that a target leads to. `..` stops at the package's root.
fn resolve(source: &str, target: &str) -> String {
    let target = target
        .split(['#', '?'])
        .next()
        .unwrap_or(target)
        .replace('\\', "/");
    let (folder, _) = split(source);
    let folder = if target.starts_with('/') { "" } else { folder };
    let mut segments = Vec::new();
    for segment in folder.split('/').chain(target.split('/')) {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

/// A part name as folder, with its slash, and name.
fn split(part: &str) -> (&str, &str) {
    part.split_at(part.rfind('/').map_or(0, |slash| slash + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relationships_stand_beside_their_part() {
        assert_eq!(relationships_part(""), "_rels/.rels");
        assert_eq!(relationships_part("a.xml"), "_rels/a.xml.rels");
        assert_eq!(
            relationships_part("ppt/slides/s.xml"),
            "ppt/slides/_rels/s.xml.rels"
        );
    }

    #[test]
    fn targets_are_resolved_against_their_source() {
        for (source, target, part) in [
            ("ppt/presentation.xml", "slides/s.xml", "ppt/slides/s.xml"),
            ("ppt/slides/s.xml", "../notes/n.xml", "ppt/notes/n.xml"),
            ("ppt/slides/s.xml", "/ppt/x.xml", "ppt/x.xml"),
            ("ppt/p.xml", "./slides/.././s.xml", "ppt/s.xml"),
            ("ppt/p.xml", "../../../../ppt/s.xml", "ppt/s.xml"),
            ("ppt/p.xml", "slides\\s.xml#a", "ppt/slides/s.xml"),
            ("", "ppt/p.xml", "ppt/p.xml"),
        ] {
            assert_eq!(resolve(source, target), part, "{source} {target}");
        }
    }

    #[test]
    fn transitional_and_strict_types_are_one() {
        let text = r#"<?xml version="1.0"?>
            <Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
            <Relationship Id="a" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/slide" Target="s.xml"/>
            <Relationship Id="b" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/notesSlide" Target="n.xml"/>
            <Relationship Id="c" TargetMode="External" Type="x" Target="http://example.org/"/>
            <Relationship Id="a" Type="x" Target="second.xml"/>
            </Relationships>"#;
        let relationships = Relationships::parse("ppt/p.xml", "rels", text).unwrap();
        assert_eq!(relationships.by_id("a"), Some("ppt/s.xml"));
        assert_eq!(relationships.first_of_kind("slide"), Some("ppt/s.xml"));
        assert_eq!(relationships.first_of_kind("notesSlide"), Some("ppt/n.xml"));
        assert_eq!(relationships.by_id("c"), None);
        assert_eq!(relationships.external("c"), Some("http://example.org/"));
    }
}
