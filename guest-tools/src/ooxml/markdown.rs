//! The pieces of Markdown that the three kinds of documents share.
//!
//! Text stands as it is: escaping each `*` and `_` would cost a reader more than it saves. What
//! would make a line a heading, a quotation, a note or a table is escaped, as those say what is
//! what in an answer.

use std::borrow::Cow;

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
    let lines: Vec<_> = text.trim_end().lines().map(line).collect();
    format!("{indent}{mark} {}", lines.join(&further))
}

/// A paragraph whose line breaks stay.
pub(super) fn broken(text: &str) -> String {
    let lines = text.trim().lines();
    let lines: Vec<_> = lines.map(|text| line(text.trim_end())).collect();
    lines.join("\\\n")
}

/// What stands beside the text, after who or what says it.
pub(super) fn quoted(who: &str, text: &str) -> String {
    let lines: Vec<_> = text.trim().lines().map(line).collect();
    format!("> {who}: {}", lines.join("\n> "))
}

/// A line of text that stays text.
pub(super) fn line(text: &str) -> Cow<'_, str> {
    let start = text.trim_start();
    let after_hashes = start.trim_start_matches('#');
    let is_heading = after_hashes.len() < start.len()
        && (after_hashes.is_empty() || after_hashes.starts_with([' ', '\t']));
    let is_note = start.starts_with("[^") && start.contains("]:");
    let is_rule = start.len() >= 2
        && ['-', '=', '_', '*']
            .iter()
            .any(|sign| start.chars().all(|c| c == *sign || c == ' '));
    let is_fence = start.starts_with("```") || start.starts_with("~~~");
    if is_heading || is_note || is_rule || is_fence || start.starts_with(['>', '|']) {
        let indent = &text[..text.len() - start.len()];
        return Cow::Owned(format!("{indent}\\{start}"));
    }
    Cow::Borrowed(text)
}

/// A link. The target has no character that ends it before its time.
pub(super) fn link(text: &str, target: &str) -> String {
    let text = text.replace("](", "\\](");
    format!("[{text}]({})", self::target(target))
}

/// Where a link leads, as it stands between brackets.
pub(super) fn target(target: &str) -> String {
    let mut safe = String::with_capacity(target.len());
    for character in target.trim().chars() {
        match character {
            '(' | ')' | '<' | '>' | '\\' | '\0'..=' ' | '\u{7f}' => {
                safe.push_str(&format!("%{:02X}", u32::from(character)));
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// Words for a heading.
pub(super) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_looks_like_structure_stays_text() {
        for (text, expected) in [
            ("# x", r"\# x"),
            ("###", r"\###"),
            ("  ## x", r"  \## x"),
            ("#1 of all", "#1 of all"),
            ("> x", r"\> x"),
            ("[^1]: x", r"\[^1]: x"),
            ("[^1] x", "[^1] x"),
            ("| a | b |", r"\| a | b |"),
            ("```", r"\```"),
            ("---", r"\---"),
            ("===", r"\==="),
            ("- - -", r"\- - -"),
            ("- x", "- x"),
            ("-", "-"),
            ("plain", "plain"),
            ("", ""),
        ] {
            assert_eq!(line(text), expected);
        }
        assert_eq!(broken("a\n# b"), "a\\\n\\# b");
        assert_eq!(item(0, "-", "# a\n> b"), "- \\# a\n  \\> b");
        assert_eq!(quoted("Note", "a\n# b"), "> Note: a\n> \\# b");
    }

    #[test]
    fn targets_end_where_they_end() {
        assert_eq!(
            link("a](b", "http://x/a (b)\n"),
            "[a\\](b](http://x/a%20%28b%29)"
        );
        assert_eq!(target("http://x/?a=%20&b=ä"), "http://x/?a=%20&b=ä");
    }
}
