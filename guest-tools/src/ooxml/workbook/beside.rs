//! What stands on a sheet beside its cells: comments (ECMA-376 part 1, 18.7), threads of them
//! that Office writes since 2018, and the text of drawings (20.5).

use super::place::{Place, letters};
use super::sheet::{Sheet, Window};
use super::strings::{rich_text, unescaped};
use crate::ooxml::package::Package;
use crate::ooxml::relationships::Relationships;
use crate::ooxml::warnings::Warnings;
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, check, drawing, linked, shown};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{BufRead, Seek};

/// The kinds of relationship that lead to threads, and to those who write in them.
const THREADS: &str = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment";
const PERSONS: &str = "http://schemas.microsoft.com/office/2017/10/relationships/person";
/// What the author of a comment is called that only says that there is a thread.
const STAND_IN: &str = "tc=";

/// Comments that one sheet may have, replies included.
const MAX_COMMENTS: u64 = 100_000;

/// A comment on a cell, or a reply to one.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Comment {
    pub(crate) cell: String,
    pub(crate) author: Option<String>,
    pub(crate) text: String,
}

/// The names of those who write in threads, by their ids.
#[derive(Default)]
pub(super) struct Persons {
    names: HashMap<String, String>,
}

impl Persons {
    pub(super) fn read<R: BufRead + Seek>(
        package: &mut Package<R>,
        links: &Relationships,
    ) -> Result<Self, Error> {
        let mut persons = Self::default();
        if let Some((part, text)) = package.first_linked(links, PERSONS)? {
            let mut xml = Xml::new(&part, &text);
            let root = xml.root()?;
            while let Some(person) = xml.child(&root)? {
                let id = xml.attribute(&person, "id")?;
                let name = xml.attribute(&person, "displayName")?;
                if let (Some(id), Some(name)) = (id, name) {
                    persons.names.insert(id.into_owned(), shown(&name));
                }
            }
        }
        Ok(persons)
    }
}

/// Reads what stands beside the cells that are asked for.
pub(super) fn read<R: BufRead + Seek>(
    sheet: &mut Sheet,
    part: &str,
    package: &mut Package<R>,
    persons: &Persons,
    window: &Window,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let place = format!("sheet `{}`", shown(&sheet.name));
    let links = package.relationships(part);
    let links = warnings.unless(&format!("{place}: its relationships"), links)?;
    let links = links.unwrap_or_default();
    if window.with_links {
        sheet.write_links(&links)?;
    }
    let comments = comments(package, &links, persons, window);
    let comments = warnings.unless(&format!("{place}: its comments"), comments)?;
    sheet.comments = comments.unwrap_or_default();
    if window.is_whole_sheet() {
        let texts = drawings(package, &links, &place, window.with_links, warnings);
        let texts = warnings.unless(&format!("{place}: its drawings"), texts)?;
        sheet.drawings = texts.unwrap_or_default();
    }
    Ok(())
}

fn comments<R: BufRead + Seek>(
    package: &mut Package<R>,
    links: &Relationships,
    persons: &Persons,
    window: &Window,
) -> Result<Vec<Comment>, Error> {
    let mut found = Vec::new();
    if let Some((part, text)) = package.first_linked(links, THREADS)? {
        threads(&mut Xml::new(&part, &text), persons, window, &mut found)?;
    }
    if let Some((part, text)) = package.first_linked(links, "comments")? {
        notes(&mut Xml::new(&part, &text), window, &mut found)?;
    }
    Ok(found)
}

fn threads(
    xml: &mut Xml<'_>,
    persons: &Persons,
    window: &Window,
    found: &mut Vec<Comment>,
) -> Result<(), Error> {
    let root = xml.root()?;
    while let Some(child) = xml.child(&root)? {
        let author = xml.attribute(&child, "personId")?;
        let author = author.and_then(|id| persons.names.get(&*id).cloned());
        let direct: ReadText = |xml, element, text| xml.text(element, text);
        add(xml, &child, direct, author, window, found)?;
    }
    Ok(())
}

fn notes(xml: &mut Xml<'_>, window: &Window, found: &mut Vec<Comment>) -> Result<(), Error> {
    let root = xml.root()?;
    let has_threads = !found.is_empty();
    let mut authors = Vec::new();
    while let Some(list) = xml.child(&root)? {
        while let Some(child) = xml.child(&list)? {
            match child.name() {
                (Space::Sheet, "author") => {
                    let mut author = String::new();
                    xml.text(&child, &mut author)?;
                    authors.push(shown(&author));
                }
                (Space::Sheet, "comment") => {
                    let author = xml.attribute(&child, "authorId")?;
                    let author = author.and_then(|id| authors.get(id.parse::<usize>().ok()?));
                    let is_stand_in = |author: &String| author.starts_with(STAND_IN);
                    if !(has_threads && author.is_some_and(is_stand_in)) {
                        add(xml, &child, rich_text, author.cloned(), window, found)?;
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// How the text of a comment is read: directly in a thread, from runs in a note.
type ReadText = fn(&mut Xml<'_>, &Element<'_>, &mut String) -> Result<(), Error>;

/// Adds a comment, if its cell is asked for and it says anything.
fn add(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    read: ReadText,
    author: Option<String>,
    window: &Window,
    found: &mut Vec<Comment>,
) -> Result<(), Error> {
    let place = xml.attribute(element, "ref")?;
    let Some(place) = place.as_deref().and_then(Place::parse) else {
        return Ok(());
    };
    if !window.covers(place) {
        return Ok(());
    }
    let mut text = String::new();
    while let Some(child) = xml.child(element)? {
        if child.name() == (Space::Sheet, "text") {
            read(xml, &child, &mut text)?;
        }
    }
    let text = unescaped(text.trim()).into_owned();
    if !text.is_empty() {
        check("comments", MAX_COMMENTS, found.len() as u64 + 1)?;
        found.push(Comment {
            cell: format!("{}{}", letters(place.column), place.row),
            author: author.filter(|author| !author.trim().is_empty()),
            text,
        });
    }
    Ok(())
}

fn drawings<R: BufRead + Seek>(
    package: &mut Package<R>,
    links: &Relationships,
    place: &str,
    with_links: bool,
    warnings: &mut Warnings,
) -> Result<Vec<String>, Error> {
    let Some((part, text)) = package.first_linked(links, "drawing")? else {
        return Ok(Vec::new());
    };
    let mut xml = Xml::new(&part, &text);
    let root = xml.root()?;
    let links = package.relationships(&part)?;
    let options = drawing::Options {
        links: with_links.then_some(&links),
        ..drawing::Options::default()
    };
    let mut bodies = drawing::read(&mut xml, &root, options)?;
    linked::fill_in(package, &links, &mut bodies, place, with_links, warnings)?;
    let texts = bodies.iter().map(|body| body.text().trim().to_owned());
    Ok(texts.filter(|text| !text.is_empty()).collect())
}
