//! Comments on slides: those of ECMA-376 (part 1, 13.3.2), and the threads that Office writes
//! since 2018.

use crate::ooxml::drawing::{joined, paragraphs};
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, check, shown};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// The kinds of relationship that lead to threads and to their authors.
pub(super) const COMMENTS: &str =
    "http://schemas.microsoft.com/office/2018/10/relationships/comments";
pub(super) const AUTHORS: &str =
    "http://schemas.microsoft.com/office/2018/10/relationships/authors";

/// Comments that one slide may have, replies included.
const MAX_COMMENTS: u64 = 10_000;

/// A comment or a reply to one.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Comment {
    pub(crate) author: Option<String>,
    pub(crate) text: String,
}

/// The names of authors by what comments call them.
#[derive(Default)]
pub(super) struct Authors {
    names: HashMap<String, String>,
}

impl Authors {
    pub(super) fn read(&mut self, part: &str, text: &str) -> Result<(), Error> {
        let mut xml = Xml::new(part, text);
        let root = xml.root()?;
        while let Some(author) = xml.child(&root)? {
            let id = xml.attribute(&author, "id")?;
            let name = xml.attribute(&author, "name")?;
            if let (Some(id), Some(name)) = (id, name) {
                check("authors", MAX_COMMENTS, self.names.len() as u64 + 1)?;
                self.names.insert(id.into_owned(), shown(&name));
            }
        }
        Ok(())
    }

    /// The comments in a part, each before its replies.
    pub(super) fn comments(&self, part: &str, text: &str) -> Result<Vec<Comment>, Error> {
        let mut xml = Xml::new(part, text);
        let root = xml.root()?;
        let mut comments = Vec::new();
        while let Some(comment) = xml.child(&root)? {
            if comment.name() == (Space::Presentation, "cm") {
                self.thread(&mut xml, &comment, &mut comments)?;
            }
        }
        Ok(comments)
    }

    fn thread(
        &self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        comments: &mut Vec<Comment>,
    ) -> Result<(), Error> {
        check("comments", MAX_COMMENTS, comments.len() as u64 + 1)?;
        let author = xml.attribute(element, "authorId")?;
        let author = author.and_then(|id| self.names.get(&*id).cloned());
        let mut text = String::new();
        let mut replies = Vec::new();
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Presentation, "text") => xml.text(&child, &mut text)?,
                (Space::Presentation, "txBody") => text = joined(&paragraphs(xml, &child)?),
                (Space::Presentation, "replyLst") => {
                    while let Some(reply) = xml.child(&child)? {
                        self.thread(xml, &reply, &mut replies)?;
                    }
                }
                _ => {}
            }
        }
        if !text.trim().is_empty() {
            comments.push(Comment { author, text });
        }
        comments.extend(replies);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_have_authors_and_replies() {
        let mut authors = Authors::default();
        let list = r#"<authorLst xmlns="http://schemas.microsoft.com/office/powerpoint/2018/8/main">
            <author id="{1}" name="Ada"/></authorLst>"#;
        authors.read("authors", list).unwrap();
        let body = |text: &str| format!("<txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></txBody>");
        let list = format!(
            r#"<cmLst xmlns="http://schemas.microsoft.com/office/powerpoint/2018/8/main"
            xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">
            <cm authorId="{{1}}"><replyLst><reply authorId="{{2}}">{}</reply></replyLst>{}</cm></cmLst>"#,
            body("so do I"),
            body("I agree")
        );
        let comments = authors.comments("comments", &list).unwrap();
        let texts: Vec<_> = comments.iter().map(|comment| &*comment.text).collect();
        assert_eq!(texts, ["I agree", "so do I"]);
        assert_eq!(comments[0].author.as_deref(), Some("Ada"));
        assert_eq!(comments[1].author, None);
    }

    #[test]
    fn comments_of_the_standard_are_read_too() {
        let list = r#"<p:cmLst xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main">
            <p:cm authorId="0"><p:pos x="1" y="2"/><p:text>why?</p:text></p:cm></p:cmLst>"#;
        let comments = Authors::default().comments("comments", list).unwrap();
        assert_eq!(comments[0].text, "why?");
    }
}
