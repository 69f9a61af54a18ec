//! The pieces of Markdown that the three kinds of documents share.
//!
//! Text stands as it is: escaping each `*` and `_` would cost a reader more than it saves.

/// Appends a block, a blank line before it unless it comes first. Empty blocks leave no trace.
pub(super) fn append(text: &mut String, block: &str) {
    let block = block.trim_end();
    if block.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(block);
}

/// An item of a list, its further lines indented as far as its text.
pub(super) fn item(level: usize, mark: &str, text: &str) -> String {
    let indent = "  ".repeat(level);
    let further = format!("\n{indent}{}", " ".repeat(mark.len() + 1));
    let lines: Vec<_> = text.trim_end().lines().collect();
    format!("{indent}{mark} {}", lines.join(&further))
}

/// A paragraph whose line breaks stay.
pub(super) fn broken(text: &str) -> String {
    let lines: Vec<_> = text.trim().lines().map(str::trim_end).collect();
    lines.join("\\\n")
}

/// What stands beside the text, after who or what says it.
pub(super) fn quoted(who: &str, text: &str) -> String {
    let lines: Vec<_> = text.trim().lines().collect();
    format!("> {who}: {}", lines.join("\n> "))
}

/// Words for a heading.
pub(super) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
