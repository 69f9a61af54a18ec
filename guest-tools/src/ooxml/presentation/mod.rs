//! Presentations (ECMA-376 part 1, 13 and 19): slides in the order of the show, their text and
//! their notes.

#[cfg(test)]
mod tests;

mod comments;
mod markdown;

pub(crate) use comments::Comment;

use super::drawing::{self, Body, Placeholder, is_true};
use super::package::Package;
use super::relationships::Relationships;
use super::sniff::Kind;
use super::warnings::Warnings;
use super::xml::{Element, Space, Xml};
use super::zip::MAX_ENTRIES;
use super::{Error, check, linked, sniff};
use comments::Authors;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::io::{BufRead, Seek};

/// Text of all slides together; a result holds no more.
const MAX_TEXT: u64 = 16 * 1024 * 1024;

/// What of a presentation is read.
#[derive(Default)]
pub(crate) struct DeckOptions<'a> {
    pub(crate) with_notes: bool,
    /// What pictures show, where their author has said so.
    pub(crate) with_alternatives: bool,
    /// Where links lead, written into the text as in Markdown.
    pub(crate) with_links: bool,
    /// Which slides, by their index; all when there is none.
    pub(crate) selection: Option<&'a dyn Fn(usize) -> bool>,
}

/// A presentation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Deck {
    pub(crate) slides: Vec<Slide>,
    /// How many slides there are, when only some were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<usize>,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

/// A slide.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Slide {
    /// The position in the show, from 1.
    pub(crate) index: usize,
    pub(crate) title: Option<String>,
    /// All text, the title included, in the order of the document.
    #[serde(rename = "text", serialize_with = "as_text")]
    #[schemars(with = "String")]
    bodies: Vec<Body>,
    /// The speaker's notes; left out when they were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    // Text, or `null` where there are none: of no one type.
    #[schemars(with = "serde_json::Value")]
    pub(crate) notes: Option<Option<String>>,
    pub(crate) hidden: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) comments: Vec<Comment>,
}

impl Slide {
    /// All text, on lines.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        join(&self.bodies).unwrap_or_default()
    }
}

fn as_text<S: Serializer>(bodies: &[Body], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&join(bodies).unwrap_or_default())
}

/// Reads a presentation.
///
/// # Errors
/// [`Error::Malformed`] when the package or every one of its slides is broken,
/// [`Error::Unsupported`] for other documents, [`Error::Limit`] for bombs.
pub(crate) fn read_deck(
    reader: impl BufRead + Seek,
    options: &DeckOptions<'_>,
) -> Result<Deck, Error> {
    let mut package = Package::open(reader)?;
    let main = package.main_part()?;
    let text = package.part(&main)?;
    read_main(package, &main, &text, options)
}

/// Reads a presentation whose main part has been read.
pub(super) fn read_main(
    mut package: Package<impl BufRead + Seek>,
    main: &str,
    text: &str,
    options: &DeckOptions<'_>,
) -> Result<Deck, Error> {
    let ids = slide_ids(main, text)?;
    let relationships = package.relationships(main)?;
    let mut reading = Reading {
        authors: Authors::default(),
        package,
        relationships,
        options,
        slides: Vec::new(),
        warnings: Warnings::default(),
        text: 0,
    };
    if ids.is_empty() {
        reading.warnings.push("the presentation has no slides");
    }
    reading.authors()?;
    reading.slides(&ids)?;
    Ok(Deck {
        slides: reading.slides,
        count: options.selection.map(|_| ids.len()),
        warnings: reading.warnings.into_list(),
    })
}

/// The relationship ids in the slide list.
fn slide_ids(main: &str, text: &str) -> Result<Vec<String>, Error> {
    let mut xml = Xml::new(main, text);
    let root = xml.root()?;
    if Kind::of_root(root.name()) != Some(Kind::Presentation) {
        return Err(sniff::other_main_part(main, root.name()));
    }
    let mut ids = Vec::new();
    while let Some(list) = xml.child(&root)? {
        if list.name() == (Space::Presentation, "sldIdLst") {
            while let Some(slide) = xml.child(&list)? {
                // A slide needs an entry of the archive, so no list is longer in earnest.
                check("slides", MAX_ENTRIES, ids.len() as u64 + 1)?;
                let id = xml.attribute_in(&slide, Space::Relationships, "id")?;
                // An entry without an id leads nowhere, and is told of like others that do.
                ids.push(id.unwrap_or_default().into_owned());
            }
        }
    }
    Ok(ids)
}

/// A presentation that is being read.
struct Reading<'a, R> {
    package: Package<R>,
    relationships: Relationships,
    options: &'a DeckOptions<'a>,
    authors: Authors,
    slides: Vec<Slide>,
    warnings: Warnings,
    /// Bytes of text so far.
    text: u64,
}

impl<R: BufRead + Seek> Reading<'_, R> {
    /// Reads the slides. One that cannot be read is a warning as long as another one can.
    fn slides(&mut self, ids: &[String]) -> Result<(), Error> {
        let mut first_error = None;
        let options = self.options;
        let is_wanted = |index| options.selection.is_none_or(|selection| selection(index));
        for (position, id) in ids.iter().enumerate() {
            let index = position + 1;
            if !is_wanted(index) {
                continue;
            }
            match self.slide(index, id) {
                Ok(slide) => self.slides.push(slide),
                Err(error) if error.concerns_one_part() => {
                    self.warn(index, &error.message());
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        match first_error {
            Some(error) if self.slides.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    fn slide(&mut self, index: usize, id: &str) -> Result<Slide, Error> {
        let part = self.slide_part(id)?;
        let text = self.package.part(&part)?;
        let links = self.package.relationships(&part);
        let links = self.or_warning(index, "its relationships", links)?;
        let links = links.unwrap_or_default();
        let options = drawing::Options {
            with_alternatives: self.options.with_alternatives,
            links: self.options.with_links.then_some(&links),
        };
        let (mut bodies, hidden) = read_slide(&part, &text, options)?;
        self.fill_in(index, &links, &mut bodies)?;
        let notes = match self.options.with_notes {
            true => Some(self.notes(index, &links)?),
            false => None,
        };
        let comments = self.comments(index, &links)?;
        let lengths = bodies.iter().map(|body| body.text().len() + 1);
        let lengths = lengths.chain(notes.iter().flatten().map(String::len));
        let lengths = lengths.chain(comments.iter().map(|comment| comment.text.len()));
        self.text += lengths.sum::<usize>() as u64;
        check("text bytes", MAX_TEXT, self.text)?;
        Ok(Slide {
            index,
            title: title(&bodies),
            bodies,
            notes,
            hidden,
            comments,
        })
    }

    /// The names behind the numbers in comments.
    fn authors(&mut self) -> Result<(), Error> {
        for kind in ["commentAuthors", comments::AUTHORS] {
            let part = self.package.first_linked(&self.relationships, kind);
            let read = part.and_then(|part| match part {
                Some((part, text)) => self.authors.read(&part, &text),
                None => Ok(()),
            });
            self.warnings.unless("the authors of comments", read)?;
        }
        Ok(())
    }

    fn comments(&mut self, index: usize, links: &Relationships) -> Result<Vec<Comment>, Error> {
        let mut found = Vec::new();
        for kind in ["comments", comments::COMMENTS] {
            let part = self.package.first_linked(links, kind);
            let read = part.and_then(|part| match part {
                Some((part, text)) => self.authors.comments(&part, &text),
                None => Ok(Vec::new()),
            });
            found.extend(
                self.or_warning(index, "its comments", read)?
                    .unwrap_or_default(),
            );
        }
        Ok(found)
    }

    fn slide_part(&self, id: &str) -> Result<String, Error> {
        let part = self.relationships.by_id(id).map(str::to_owned);
        part.ok_or_else(|| {
            let id = super::shown(id);
            let problem = format!("the slide list names `{id}`, which leads nowhere");
            Error::malformed("the presentation", problem)
        })
    }

    /// Puts the text of charts and diagrams where they stand.
    fn fill_in(
        &mut self,
        index: usize,
        links: &Relationships,
        bodies: &mut [Body],
    ) -> Result<(), Error> {
        let place = format!("slide {index}");
        let (package, warnings) = (&mut self.package, &mut self.warnings);
        let with_links = self.options.with_links;
        linked::fill_in(package, links, bodies, &place, with_links, warnings)
    }

    fn notes(&mut self, index: usize, links: &Relationships) -> Result<Option<String>, Error> {
        let Some(part) = links.first_of_kind("notesSlide") else {
            return Ok(None);
        };
        let own = match self.options.with_links {
            true => self.package.relationships(part).unwrap_or_default(),
            false => Relationships::default(),
        };
        let links = self.options.with_links.then_some(&own);
        let notes = self.package.part(part);
        let notes = notes.and_then(|text| read_notes(part, &text, links));
        Ok(self.or_warning(index, "its notes", notes)?.flatten())
    }

    /// Turns what concerns one part only into a warning.
    fn or_warning<T>(
        &mut self,
        index: usize,
        what: &str,
        answer: Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let what = format!("slide {index}: {what}");
        self.warnings.unless(&what, answer)
    }

    fn warn(&mut self, index: usize, what: &str) {
        self.warnings.push(&format!("slide {index}: {what}"));
    }
}

/// What a slide shows, and whether it is left out of the show.
fn read_slide(
    part: &str,
    text: &str,
    options: drawing::Options<'_>,
) -> Result<(Vec<Body>, bool), Error> {
    let mut xml = Xml::new(part, text);
    let root = root(&mut xml, part, "sld")?;
    let show = xml.attribute(&root, "show")?;
    let bodies = drawing::read(&mut xml, &root, options)?;
    Ok((bodies, show.is_some_and(|show| !is_true(&show))))
}

/// The text in the body placeholder, without slide number, date, header and footer.
fn read_notes(
    part: &str,
    text: &str,
    links: Option<&Relationships>,
) -> Result<Option<String>, Error> {
    let mut xml = Xml::new(part, text);
    let root = root(&mut xml, part, "notes")?;
    let options = drawing::Options {
        links,
        ..drawing::Options::default()
    };
    let mut bodies = drawing::read(&mut xml, &root, options)?;
    bodies.retain(|body| body.placeholder == Placeholder::Body);
    Ok(join(&bodies))
}

fn root<'a>(xml: &mut Xml<'a>, part: &str, name: &str) -> Result<Element<'a>, Error> {
    let root = xml.root()?;
    if root.name() == (Space::Presentation, name) {
        return Ok(root);
    }
    let problem = format!("its root element is `{}`", super::shown(root.name().1));
    Err(Error::in_part(part, problem))
}

fn title(bodies: &[Body]) -> Option<String> {
    let mut titles = bodies
        .iter()
        .filter(|body| body.placeholder == Placeholder::Title);
    titles.next().map(|body| body.text().into_owned())
}

/// The text of all bodies that have any.
fn join(bodies: &[Body]) -> Option<String> {
    let texts = bodies.iter().map(Body::text);
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
