//! Relationships between parts (ECMA-376 part 2, 6.5).

use super::xml::{Element, Space, Xml, is_same};
use super::{Error, check};
use std::cell::OnceCell;
use std::collections::HashMap;

/// What the types of Office's own relationships start with: transitional, and strict.
const OFFICE_TYPES: [&str; 2] = [
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/",
    "http://purl.oclc.org/ooxml/officeDocument/relationships/",
];

/// Relationships that one part may have: as many to other parts as there can be, and some to
/// the outside.
const MAX_RELATIONSHIPS: u64 = 50_000;

/// As many are looked through one by one; there is an index of more.
const FEW: usize = 32;

/// The relationships of one part.
#[derive(Default)]
pub(super) struct Relationships {
    all: Vec<Relationship>,
    /// Made when one of many is looked for.
    by_id: OnceCell<HashMap<String, usize>>,
    /// Those to the outside. They are shown, and never followed.
    external: Vec<Relationship>,
    external_by_id: OnceCell<HashMap<String, usize>>,
}

struct Relationship {
    id: String,
    /// The type, without what all of Office's types start with.
    kind: String,
    target: String,
}

/// The first relationship with an id.
fn first<'a>(
    all: &'a [Relationship],
    index: &OnceCell<HashMap<String, usize>>,
    id: &str,
) -> Option<&'a Relationship> {
    if all.len() <= FEW {
        return all
            .iter()
            .find(|relationship| is_same(&relationship.id, id));
    }
    let index = index.get_or_init(|| {
        let ids = all.iter().enumerate();
        let ids = ids.map(|(index, relationship)| (relationship.id.clone(), index));
        // The first one counts, so it comes last.
        ids.rev().collect()
    });
    Some(&all[*index.get(id)?])
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
        let found = first(&self.all, &self.by_id, id)?;
        Some(&found.target)
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
        let found = first(&self.external, &self.external_by_id, id)?;
        Some(&found.target)
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
                self.external.push(Relationship { id, kind, target });
                return Ok(());
            }
            let target = resolve(source, &target);
            self.all.push(Relationship { id, kind, target });
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
    let target = target.split(['#', '?']).next().unwrap_or(target);
    let (folder, _) = split(source);
    let is_absolute = target.starts_with(['/', '\\']);
    let folder = if is_absolute { "" } else { folder };
    let mut part = String::with_capacity(folder.len() + target.len());
    for segment in folder.split('/').chain(target.split(['/', '\\'])) {
        match segment {
            "" | "." => {}
            ".." => part.truncate(part.rfind('/').unwrap_or_default()),
            segment => {
                if !part.is_empty() {
                    part.push('/');
                }
                part.push_str(segment);
            }
        }
    }
    part
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
    fn the_first_of_an_id_counts_among_few_and_many() {
        for count in [1, FEW + 1] {
            let more = (0..count).map(|number| {
                format!("<Relationship Id='i{number}' Type='x' Target='{number}.xml'/>")
            });
            let first = "<Relationship Id='i0' Type='x' Target='first.xml'/>
                <Relationship Id='i0' Type='x' Target='second.xml'/>";
            let all = [first.to_owned(), more.collect()].concat();
            let all = all.clone() + &all.replace("Type", "TargetMode='External' Type");
            let text = format!(
                "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{all}</Relationships>"
            );
            let relationships = Relationships::parse("", "rels", &text).unwrap();
            assert_eq!(relationships.by_id("i0"), Some("first.xml"));
            assert_eq!(relationships.external("i0"), Some("first.xml"));
            assert_eq!(relationships.by_id("none"), None);
            let last = format!("i{}", count - 1);
            assert!(relationships.by_id(&last).is_some());
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
