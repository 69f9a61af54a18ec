//! A document as Markdown.

use super::{Block, BlockKind, Document};
use crate::ooxml::{markdown, table};

impl Document {
    /// Headings, lists and tables as such; notes below the text, and then what stands beside it.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::new();
        let mut in_list = false;
        for block in &self.blocks {
            let is_item = block.kind == BlockKind::ListItem;
            let piece = block.markdown();
            if is_item && in_list {
                text.push('\n');
                text.push_str(&piece);
            } else {
                markdown::append(&mut text, &piece);
            }
            in_list = is_item;
        }
        text
    }
}

impl Block {
    fn markdown(&self) -> String {
        let label = self.label.as_deref();
        let level = usize::from(self.level.unwrap_or(1));
        match self.kind {
            BlockKind::Title => format!("# {}", markdown::on_one_line(&self.text)),
            BlockKind::Heading => {
                let words = [label.unwrap_or_default(), &self.text].join(" ");
                format!(
                    "{} {}",
                    "#".repeat(level.min(6)),
                    markdown::on_one_line(&words)
                )
            }
            BlockKind::Paragraph => {
                let label = label.map(|label| format!("{label} "));
                label.unwrap_or_default() + &markdown::broken(&self.text)
            }
            BlockKind::ListItem => markdown::item(level - 1, label.unwrap_or("-"), &self.text),
            BlockKind::Table => table::markdown(&self.rows),
            BlockKind::Footnote => self.note(""),
            BlockKind::Endnote => self.note("e"),
            BlockKind::TextBox => markdown::quoted("Text box", &self.text),
            BlockKind::Chart => markdown::quoted("Chart", &self.text),
            BlockKind::Diagram => markdown::quoted("Diagram", &self.text),
            BlockKind::Header => markdown::quoted("Header", &self.text),
            BlockKind::Footer => markdown::quoted("Footer", &self.text),
            BlockKind::Comment => {
                let author = self.author.as_deref().unwrap_or("somebody");
                markdown::quoted(&format!("Comment by {author}"), &self.text)
            }
        }
    }

    fn note(&self, mark: &str) -> String {
        let Some(label) = &self.label else {
            return markdown::quoted("Note", &self.text);
        };
        let lines: Vec<_> = self.text.lines().map(markdown::line).collect();
        format!("[^{mark}{label}]: {}", lines.join("\n    "))
    }
}
