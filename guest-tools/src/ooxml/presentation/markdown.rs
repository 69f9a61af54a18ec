//! A presentation as Markdown.

use super::{Deck, Slide};
use crate::ooxml::drawing::{Body, Content, Paragraph, Placeholder};
use crate::ooxml::{markdown, table};

impl Deck {
    /// Each slide below a heading with its number and title, and its notes below it.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        for slide in &self.slides {
            markdown::append(&mut text, &slide.markdown());
        }
        text
    }
}

impl Slide {
    fn markdown(&self) -> String {
        let mut text = self.heading();
        for body in &self.bodies {
            if body.placeholder != Placeholder::Title {
                markdown::append(&mut text, &body_markdown(body));
            }
        }
        if let Some(notes) = self.notes.iter().flatten().next() {
            markdown::append(&mut text, &markdown::quoted("Notes", notes));
        }
        for comment in &self.comments {
            let author = comment.author.as_deref().unwrap_or("somebody");
            let who = format!("Comment by {author}");
            markdown::append(&mut text, &markdown::quoted(&who, &comment.text));
        }
        text
    }

    fn heading(&self) -> String {
        let title = self.title.as_deref().map(markdown::on_one_line);
        let title = title.filter(|title| !title.is_empty());
        let hidden = if self.hidden { " (hidden)" } else { "" };
        match title {
            Some(title) => format!("## Slide {}{hidden}: {title}", self.index),
            None => format!("## Slide {}{hidden}", self.index),
        }
    }
}

fn body_markdown(body: &Body) -> String {
    match &body.content {
        Content::Paragraphs(paragraphs) => paragraphs_markdown(paragraphs, body.placeholder),
        Content::Table(rows) => table::markdown(rows),
        Content::Linked(_, text) => listed(text),
        Content::Alternative(_) => body.text().into_owned(),
    }
}

/// Paragraphs with bullets as a list, others by themselves.
fn paragraphs_markdown(paragraphs: &[Paragraph], placeholder: Placeholder) -> String {
    let has_bullets = matches!(placeholder, Placeholder::Body | Placeholder::Object);
    let mut text = String::new();
    let mut in_list = false;
    for paragraph in paragraphs {
        if paragraph.text.trim().is_empty() {
            continue;
        }
        let is_item = paragraph.bullet.unwrap_or(has_bullets);
        let line = match is_item {
            true => markdown::item(paragraph.level, "-", &paragraph.text),
            false => markdown::broken(&paragraph.text),
        };
        match is_item && in_list {
            true => text.push('\n'),
            false if !text.is_empty() => text.push_str("\n\n"),
            false => {}
        }
        text.push_str(&line);
        in_list = is_item;
    }
    text
}

/// Lines of charts and diagrams as a list, as far in as they are indented.
fn listed(text: &str) -> String {
    let item = |line: &str| {
        let words = line.trim_start();
        markdown::item((line.len() - words.len()) / 2, "-", words)
    };
    let items: Vec<_> = text.lines().map(item).collect();
    items.join("\n")
}
