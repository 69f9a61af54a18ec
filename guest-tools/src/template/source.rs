//! From a template to what the engine reads.
//!
//! A placeholder is `{{name}}`, where the name is one of the variables, whatever its
//! letters, or looks like a name; or an expression that the engine can read. One that begins
//! with a name and is not closed is a slip. All other braces are text, and the engine is told so.

use super::{ALL, Variables};
use minijinja::Environment;
use std::collections::BTreeSet;

/// A template for the engine.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Source<'a> {
    pub(super) text: String,
    /// Variables that placeholders name directly.
    pub(super) named: BTreeSet<&'a str>,
    /// Names in placeholders that are no variables, and that the engine could not look up.
    pub(super) unknown: BTreeSet<&'a str>,
    /// The first placeholder that is not closed.
    pub(super) unclosed: Option<Unclosed<'a>>,
}

/// A `{{name` without its `}}`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unclosed<'a> {
    pub(super) name: &'a str,
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
}

impl<'a> Source<'a> {
    pub(super) fn of(template: &'a str, variables: &Variables) -> Self {
        let mut source = Self::default();
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            source.text.push_str(&rest[..at]);
            let before = &template[..template.len() - rest.len() + at];
            if source.unclosed.is_none()
                && let Some(name) = unclosed(&rest[at..])
            {
                source.unclosed = Some(Unclosed {
                    name,
                    line: before.matches('\n').count() + 1,
                    column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
                });
            }
            let taken = source.braces(&rest[at..], variables);
            rest = &rest[at + taken..];
        }
        source.text.push_str(rest);
        source
    }

    /// Takes what begins with a brace; answers how much that is.
    fn braces(&mut self, text: &'a str, variables: &Variables) -> usize {
        if let Some(block) = block(text) {
            self.text.push_str(block);
            return block.len();
        }
        if let Some((inside, length)) = inside(text) {
            let name = inside.trim();
            if variables.contains_key(name) {
                self.variable(name);
                return length;
            }
            if is_name(name) {
                self.path(name);
                return length;
            }
            if is_expression(inside) {
                self.text.push_str(&text[..length]);
                return length;
            }
        }
        // One brace at a time, so that nothing is left that the engine takes for its own.
        self.text
            .push_str(if is_harmless(text) { "{" } else { "{{ '{' }}" });
        1
    }

    fn variable(&mut self, name: &'a str) {
        self.named.insert(name);
        match is_identifier(name) {
            true => self.push_expression(name),
            false => self.push_expression(&format!("{ALL}[{}]", quoted(name))),
        }
    }

    /// Names with dots between them lead into a value.
    fn path(&mut self, path: &'a str) {
        let mut names = path.split('.');
        let first = names.next().unwrap_or_default();
        if !is_identifier(first) {
            self.unknown.insert(path);
            return;
        }
        let step = |name: &str| match name {
            name if is_identifier(name) => format!(".{name}"),
            name if name.bytes().all(|byte| byte.is_ascii_digit()) => format!("[{name}]"),
            name => format!("[{}]", quoted(name)),
        };
        let steps: String = names.map(step).collect();
        self.push_expression(&format!("{first}{steps}"));
    }

    fn push_expression(&mut self, expression: &str) {
        self.text.push_str("{{ ");
        self.text.push_str(expression);
        self.text.push_str(" }}");
    }
}

/// A `{% … %}`, and a raw one with all it holds.
fn block(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("{%")?;
    let end = inside.find("%}")? + "{%%}".len();
    if inside
        .trim_start_matches('-')
        .trim_start()
        .starts_with("raw")
    {
        let close = text.find("endraw")?;
        return Some(&text[..close + text[close..].find("%}")? + "%}".len()]);
    }
    Some(&text[..end])
}

/// What stands in a `{{…}}` at the start of the text, and how long it is with its braces.
fn inside(text: &str) -> Option<(&str, usize)> {
    let inside = text.strip_prefix("{{")?;
    let end = inside.find(['{', '}'])?;
    inside[end..].starts_with("}}").then_some(())?;
    Some((&inside[..end], end + "{{}}".len()))
}

/// The name in a placeholder at the start of the text that its line, or another brace, ends
/// before `}}` does.
fn unclosed(text: &str) -> Option<&str> {
    let after = text.strip_prefix("{{")?;
    if inside(text).is_some() {
        return None;
    }
    let inside = after.strip_prefix('-').unwrap_or(after);
    let end = inside.find(['{', '}', '\n']).unwrap_or(inside.len());
    let (inside, behind) = inside.split_at(end);
    let name = inside.trim_start();
    let name = &name[..name.find(|c| !is_of_name(c)).unwrap_or(name.len())];
    let is_meant = !behind.starts_with('}') || inside.trim() == name || is_expression(inside);
    (is_meant && name.starts_with(|c: char| c.is_alphabetic() || c == '_')).then_some(name)
}

/// Letters, digits, `_`, `-` and `.`.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_expression(text: &str) -> bool {
    let marked = text.strip_prefix('-').unwrap_or(text);
    let marked = marked.strip_suffix('-').unwrap_or(marked);
    !marked.trim().is_empty() && Environment::empty().compile_expression(marked).is_ok()
}

/// Whether the engine takes the brace for text by itself.
fn is_harmless(text: &str) -> bool {
    text[1..].starts_with(|c| !matches!(c, '{' | '%' | '#'))
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(template: &str) -> String {
        let variables = serde_json::from_str(r#"{"a b":1,"x":2,"if":3}"#).unwrap();
        Source::of(template, &variables).text
    }

    #[test]
    fn placeholders_become_expressions_and_other_braces_text() {
        for (template, expected) in [
            ("{{x}}", "{{ x }}"),
            ("{{a b}}", "{{ __variables[\"a b\"] }}"),
            ("{{x.0.y-z.w}}", "{{ x[0][\"y-z\"].w }}"),
            ("{{ x|upper }}", "{{ x|upper }}"),
            ("{{no such}}", "{{ '{' }}{no such}}"),
            ("{x}", "{x}"),
            ("{", "{{ '{' }}"),
            ("{#", "{{ '{' }}#"),
            ("{% if x %}{%", "{% if x %}{{ '{' }}%"),
            ("{% raw %}{{x}}{% endraw %}", "{% raw %}{{x}}{% endraw %}"),
        ] {
            assert_eq!(source(template), expected, "{template}");
        }
    }
}
