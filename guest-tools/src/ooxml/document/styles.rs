//! Paragraph styles (ECMA-376 part 1, 17.7): which of them are headings, and which are numbered.

use super::headings;
use super::properties::{Numbered, Properties, value};
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, shown};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashMap;

/// Styles that one may be based on, one after the other; Word stops at about as many.
const MAX_CHAIN: usize = 32;

/// What the element is called by which a paragraph names its style.
const STYLE: &[u8] = b"pStyle";

/// What a paragraph is by its style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) is_title: bool,
    /// The level of a heading, from 1.
    pub(super) heading: Option<u8>,
    pub(super) numbered: Option<Numbered>,
    /// The styles that may stand for a level of that list: its own, and the one that names the list.
    pub(super) numbered_by: [Option<String>; 2],
    /// How many levels deeper than its list says an item stands.
    pub(super) indent: u8,
}

/// The paragraph styles of a document.
#[derive(Default)]
pub(super) struct Styles {
    by_id: HashMap<String, Style>,
    /// The id of the one that paragraphs without a style have.
    default: Option<String>,
    /// What paragraphs are, by their style, and without one.
    roles: HashMap<String, Role>,
    default_role: Role,
    /// Whether there are more than these.
    has_more: bool,
}

#[derive(Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    properties: Properties,
}

impl Styles {
    pub(super) fn parse(part: &str, text: &str) -> Result<Self, Error> {
        let mut xml = Xml::new(part, text);
        let root = xml.root()?;
        let mut styles = Self::default();
        while let Some(child) = xml.child(&root)? {
            if child.name() == (Space::Word, "style") {
                styles.add(&mut xml, &child)?;
            }
        }
        styles.derive();
        Ok(styles)
    }

    /// Those at the beginning of a part, or nothing where more is wrong with it than that it is
    /// cut off.
    pub(super) fn parse_beginning(part: &str, text: &str) -> Option<Self> {
        let mut xml = Xml::new(part, text);
        let root = xml.root().ok()?;
        let mut styles = Self::default();
        let mut next = || -> Result<bool, Error> {
            let Some(child) = xml.child(&root)? else {
                return Ok(false);
            };
            if child.name() == (Space::Word, "style") {
                styles.add(&mut xml, &child)?;
            }
            Ok(true)
        };
        let error = loop {
            match next() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => break error,
            }
        };
        styles.has_more = true;
        styles.derive();
        (error == xml.too_early()).then_some(styles)
    }

    /// Whether paragraphs in a text may have styles that were not read.
    pub(super) fn are_lacking(&self, text: &str) -> bool {
        if !self.has_more {
            return false;
        }
        let is_default_here = self.default.as_deref().is_some_and(|id| self.is_whole(id));
        let mut last = "";
        let mut is_here = |at: usize| match style_at(&text[at..]) {
            Some(id) if id == last => true,
            Some(id) => {
                last = id;
                self.is_whole(id)
            }
            None => false,
        };
        let mut places = memmem::find_iter(text.as_bytes(), STYLE);
        !is_default_here || !places.all(|at| is_here(at + STYLE.len()))
    }

    /// Whether a style is there with all that it is based on.
    fn is_whole(&self, id: &str) -> bool {
        let mut next = Some(id);
        for _ in 0..MAX_CHAIN {
            let Some(id) = next else {
                return true;
            };
            let Some(style) = self.by_id.get(id) else {
                return false;
            };
            next = style.based_on.as_deref();
        }
        true
    }

    fn add(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        let kind = xml.attribute_in(element, Space::Word, "type")?;
        let id = xml.attribute_in(element, Space::Word, "styleId")?;
        let default = xml.attribute_in(element, Space::Word, "default")?;
        let (Some("paragraph"), Some(id)) = (kind.as_deref(), id.as_deref().map(shown)) else {
            return Ok(());
        };
        if default.is_some_and(|default| matches!(&*default, "1" | "true" | "on")) {
            self.default = Some(id.clone());
        }
        let mut style = Style::default();
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Word, "name") => style.name = value(xml, &child)?.unwrap_or_default(),
                (Space::Word, "basedOn") => style.based_on = value(xml, &child)?,
                (Space::Word, "pPr") => style.properties.read(xml, &child)?,
                _ => {}
            }
        }
        self.by_id.insert(id, style);
        Ok(())
    }

    /// What a paragraph with this style is, or one without any.
    pub(super) fn role(&self, id: Option<&str>) -> Cow<'_, Role> {
        match id {
            None => Cow::Borrowed(&self.default_role),
            Some(id) => match self.roles.get(id) {
                Some(role) => Cow::Borrowed(role),
                None => Cow::Owned(self.derived(Some(id))),
            },
        }
    }

    /// Derives all roles, once: a style is the style of many paragraphs.
    fn derive(&mut self) {
        let ids = self.by_id.keys();
        let roles = ids.map(|id| (id.clone(), self.derived(Some(id))));
        self.roles = roles.collect();
        self.default_role = self.derived(self.default.as_deref());
    }

    fn derived(&self, id: Option<&str>) -> Role {
        let mut role = Role::default();
        let mut decided = false;
        role.numbered_by[0] = id.map(str::to_owned);
        let mut next = id;
        for _ in 0..MAX_CHAIN {
            let Some(id) = next else {
                break;
            };
            let Some(style) = self.by_id.get(id) else {
                // Some applications leave their styles out and keep the ids of Word's.
                role.heading = role.heading.or(headings::level(id).filter(|_| !decided));
                break;
            };
            if !decided {
                decided = style.decide(&mut role);
            }
            let numbered = style.properties.numbered.as_ref();
            if role.numbered.is_none() && numbered.is_some() {
                role.numbered = numbered.cloned();
                role.numbered_by[1] = Some(id.to_owned());
            }
            role.indent = role.indent.max(style.indent());
            next = style.based_on.as_deref();
        }
        role
    }
}

/// The style that a tag names, behind its name and as everybody writes it: `w:val="id"/`.
fn style_at(rest: &str) -> Option<&str> {
    let (tag, _) = rest.split_once('>')?;
    let (before, value) = tag.split_once('"')?;
    let (id, after) = value.split_once('"')?;
    let is_one = !before.contains('\'') && after.trim_end() == "/";
    is_one.then_some(id)
}

impl Style {
    /// Word's own `List Bullet 2` to `List Number 5` are lists of one level each, further in.
    fn indent(&self) -> u8 {
        let name = self.name.to_ascii_lowercase();
        let lists = ["list bullet ", "list number "];
        let number = lists.iter().find_map(|list| name.strip_prefix(list));
        let number = number.and_then(|number| number.trim().parse::<u8>().ok());
        number
            .filter(|number| (2..=5).contains(number))
            .map_or(0, |number| number - 1)
    }

    /// Says whether the style is a heading, if it says anything about that.
    fn decide(&self, role: &mut Role) -> bool {
        if self.name.eq_ignore_ascii_case("title") {
            role.is_title = true;
            return true;
        }
        role.heading = headings::level(&self.name);
        if role.heading.is_none() {
            role.heading = self.properties.heading();
        }
        role.heading.is_some() || self.properties.outline.is_some()
    }
}
