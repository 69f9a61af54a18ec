//! Presentations (ECMA-376 part 1, 13 and 19): slides in the order of the show, their text and
//! their notes.

#[cfg(test)]
mod tests;

use super::drawing::{self, Body, Linked, Placeholder, is_true};
use super::package::Package;
use super::relationships::Relationships;
use super::xml::{Element, Space, Xml};
use super::zip::MAX_ENTRIES;
use super::{Error, chart, diagram, sniff};
use serde::Serialize;
use std::io::{Read, Seek};

/// Text of all slides together; a result holds no more.
const MAX_TEXT: u64 = 16 * 1024 * 1024;
/// Warnings that are shown one by one.
const MAX_WARNINGS: usize = 20;

/// A presentation.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Deck {
    pub(crate) slides: Vec<Slide>,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

/// A slide.
#[derive(Debug, Serialize)]
pub(crate) struct Slide {
    /// The position in the show, from 1.
    pub(crate) index: usize,
    pub(crate) title: Option<String>,
    /// All text, the title included, in the order of the document.
    pub(crate) text: String,
    /// The speaker's notes; left out when they were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notes: Option<Option<String>>,
    pub(crate) hidden: bool,
}

/// Reads a presentation.
///
/// # Errors
/// [`Error::Malformed`] when the package or every one of its slides is broken,
/// [`Error::Unsupported`] for other documents, [`Error::Limit`] for bombs.
pub(crate) fn read_deck(reader: impl Read + Seek, with_notes: bool) -> Result<Deck, Error> {
    let mut package = Package::open(reader)?;
    let main = package.main_part()?;
    let ids = slide_ids(&main, &package.part(&main)?)?;
    let relationships = package.relationships(&main)?;
    let mut reading = Reading {
        package,
        relationships,
        with_notes,
        deck: Deck::default(),
        text: 0,
        unshown: 0,
    };
    reading.slides(&ids)?;
    Ok(reading.finish())
}

/// The relationship ids in the slide list.
fn slide_ids(main: &str, text: &str) -> Result<Vec<String>, Error> {
    let mut xml = Xml::new(main, text);
    let root = xml.root()?;
    if root.name() != (Space::Presentation, "presentation") {
        return Err(sniff::other_main_part(main, root.name().1));
    }
    let mut ids = Vec::new();
    while let Some(list) = xml.child(&root)? {
        if list.name() == (Space::Presentation, "sldIdLst") {
            while let Some(slide) = xml.child(&list)? {
                check_count(ids.len())?;
                let id = xml.attribute_in(&slide, Space::Relationships, "id")?;
                // An entry without an id leads nowhere, and is told of like others that do.
                ids.push(id.unwrap_or_default());
            }
        }
    }
    Ok(ids)
}

/// A slide needs an entry of the archive, so no list is longer in earnest.
fn check_count(slides: usize) -> Result<(), Error> {
    if (slides as u64) < MAX_ENTRIES {
        return Ok(());
    }
    Err(Error::Limit {
        limit: "slides",
        value: MAX_ENTRIES,
        actual: slides as u64 + 1,
    })
}

/// A presentation that is being read.
struct Reading<R> {
    package: Package<R>,
    relationships: Relationships,
    with_notes: bool,
    deck: Deck,
    /// Bytes of text so far.
    text: u64,
    /// Warnings beyond those that are shown.
    unshown: usize,
}

impl<R: Read + Seek> Reading<R> {
    /// Reads the slides. One that cannot be read is a warning as long as another one can.
    fn slides(&mut self, ids: &[String]) -> Result<(), Error> {
        let mut first_error = None;
        for (position, id) in ids.iter().enumerate() {
            let index = position + 1;
            match self.slide(index, id) {
                Ok(slide) => self.deck.slides.push(slide),
                Err(error) if error.concerns_one_part() => {
                    self.warn(index, &error.message());
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        match first_error {
            Some(error) if self.deck.slides.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    fn slide(&mut self, index: usize, id: &str) -> Result<Slide, Error> {
        let part = self.slide_part(id)?;
        let (mut bodies, hidden) = read_slide(&part, &self.package.part(&part)?)?;
        let links = self.package.relationships(&part);
        let links = self.or_warning(index, "its relationships", links)?;
        let links = links.unwrap_or_default();
        self.fill_in(index, &links, &mut bodies)?;
        let notes = match self.with_notes {
            true => Some(self.notes(index, &links)?),
            false => None,
        };
        let text = join(&bodies).unwrap_or_default();
        let notes_length = notes.iter().flatten().map(String::len).sum::<usize>();
        self.count_text(text.len() + notes_length)?;
        Ok(Slide {
            index,
            title: title(&bodies),
            text,
            notes,
            hidden,
        })
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
        for body in bodies {
            if let Some(linked) = &body.linked {
                let text = self.linked(links, linked);
                let text = self.or_warning(index, linked.name(), text)?;
                body.text = text.unwrap_or_default();
            }
        }
        Ok(())
    }

    fn notes(&mut self, index: usize, links: &Relationships) -> Result<Option<String>, Error> {
        let Some(part) = links.first_of_kind("notesSlide") else {
            return Ok(None);
        };
        let notes = self.package.part(part);
        let notes = notes.and_then(|text| read_notes(part, &text));
        Ok(self.or_warning(index, "its notes", notes)?.flatten())
    }

    fn linked(&mut self, links: &Relationships, linked: &Linked) -> Result<String, Error> {
        let (Linked::Chart(id) | Linked::Diagram(id)) = linked;
        let part = links.by_id(id).ok_or_else(|| {
            let problem = format!("`{}` leads nowhere", super::shown(id));
            Error::malformed("the relationship", problem)
        })?;
        let text = self.package.part(part)?;
        match linked {
            Linked::Chart(_) => chart::read(part, &text),
            Linked::Diagram(_) => diagram::read(part, &text),
        }
    }

    /// Turns what concerns one part only into a warning.
    fn or_warning<T>(
        &mut self,
        index: usize,
        what: &str,
        answer: Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        match answer {
            Err(error) if error.concerns_one_part() => {
                self.warn(index, &format!("{what}: {}", error.message()));
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    fn count_text(&mut self, length: usize) -> Result<(), Error> {
        self.text += length as u64;
        if self.text > MAX_TEXT {
            return Err(Error::Limit {
                limit: "text bytes",
                value: MAX_TEXT,
                actual: self.text,
            });
        }
        Ok(())
    }

    fn warn(&mut self, index: usize, what: &str) {
        if self.deck.warnings.len() < MAX_WARNINGS {
            self.deck.warnings.push(format!("slide {index}: {what}"));
        } else {
            self.unshown += 1;
        }
    }

    fn finish(mut self) -> Deck {
        if self.unshown > 0 {
            let more = format!("{} more warnings are not shown", self.unshown);
            self.deck.warnings.push(more);
        }
        self.deck
    }
}

impl Linked {
    fn name(&self) -> &'static str {
        match self {
            Self::Chart(_) => "a chart",
            Self::Diagram(_) => "a SmartArt diagram",
        }
    }
}

/// What a slide shows, and whether it is left out of the show.
fn read_slide(part: &str, text: &str) -> Result<(Vec<Body>, bool), Error> {
    let mut xml = Xml::new(part, text);
    let root = root(&mut xml, part, "sld")?;
    let show = xml.attribute(&root, "show")?;
    let bodies = drawing::read(&mut xml, &root)?;
    Ok((bodies, show.is_some_and(|show| !is_true(&show))))
}

/// The text in the body placeholder, without slide number, date, header and footer.
fn read_notes(part: &str, text: &str) -> Result<Option<String>, Error> {
    let mut xml = Xml::new(part, text);
    let root = root(&mut xml, part, "notes")?;
    let mut bodies = drawing::read(&mut xml, &root)?;
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
    titles.next().map(|body| body.text.clone())
}

/// The text of all bodies that have any.
fn join(bodies: &[Body]) -> Option<String> {
    let texts = bodies.iter().map(|body| body.text.as_str());
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
