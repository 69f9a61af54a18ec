//! What a drawing shows and keeps in a part of its own.

use super::drawing::{Body, Content, Linked};
use super::package::Package;
use super::relationships::Relationships;
use super::warnings::Warnings;
use super::{Error, chart, diagram};
use std::io::{BufRead, Seek};

/// The text of a chart or a diagram.
pub(super) fn text<R: BufRead + Seek>(
    package: &mut Package<R>,
    links: &Relationships,
    linked: &Linked,
) -> Result<String, Error> {
    let (Linked::Chart(id) | Linked::Diagram(id)) = linked;
    let part = links.by_id(id).ok_or_else(|| {
        let problem = format!("`{}` leads nowhere", super::shown(id));
        Error::malformed("the relationship", problem)
    })?;
    let text = package.part(part)?;
    match linked {
        Linked::Chart(_) => chart::read(part, &text),
        Linked::Diagram(_) => diagram::read(part, &text),
    }
}

/// Puts the text of charts and diagrams where they stand; what cannot be read is a warning about
/// the `place`.
pub(super) fn fill_in<R: BufRead + Seek>(
    package: &mut Package<R>,
    links: &Relationships,
    bodies: &mut [Body],
    place: &str,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    for body in bodies {
        if let Content::Linked(linked, into) = &mut body.content {
            let read = text(package, links, linked);
            let read = warnings.unless(&format!("{place}: {}", linked.name()), read)?;
            *into = read.unwrap_or_default();
        }
    }
    Ok(())
}
