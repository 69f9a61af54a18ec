//! What a drawing shows and keeps in a part of its own.

use super::drawing::{Body, Content, Linked};
use super::package::Package;
use super::relationships::Relationships;
use super::warnings::Warnings;
use super::{Error, chart, diagram};
use std::io::{BufRead, Seek};

/// The text of a chart or a diagram; of the latter with its links, if that is asked for.
pub(super) fn text<R: BufRead + Seek>(
    package: &mut Package<R>,
    links: &Relationships,
    linked: &Linked,
    with_links: bool,
) -> Result<String, Error> {
    let (Linked::Chart(id) | Linked::Diagram(id)) = linked;
    let part = links.by_id(id).ok_or_else(|| {
        let problem = format!("`{}` leads nowhere", super::shown(id));
        Error::malformed("the relationship", problem)
    })?;
    let text = package.part(part)?;
    match linked {
        Linked::Chart(_) => chart::read(part, &text),
        Linked::Diagram(_) if with_links => {
            let links = package.relationships(part).unwrap_or_default();
            diagram::read(part, &text, Some(&links))
        }
        Linked::Diagram(_) => diagram::read(part, &text, None),
    }
}

/// Puts the text of charts and diagrams where they stand; what cannot be read is a warning about
/// the `place`.
pub(super) fn fill_in<R: BufRead + Seek>(
    package: &mut Package<R>,
    links: &Relationships,
    bodies: &mut [Body],
    place: &str,
    with_links: bool,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    for body in bodies {
        if let Content::Linked(linked, into) = &mut body.content {
            let read = text(package, links, linked, with_links);
            let read = warnings.unless(&format!("{place}: {}", linked.name()), read)?;
            *into = read.unwrap_or_default();
        }
    }
    Ok(())
}
