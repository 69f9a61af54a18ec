//! Fields (ECMA-376 part 1, 17.16): an instruction, which nobody sees, and then its result.

use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, check};

/// Fields inside one another; Word stops at 20.
const MAX_DEPTH: u64 = 256;
/// Choices of a list; Word has 25 at most.
const MAX_CHOICES: usize = 256;

/// The fields that are open, innermost last.
#[derive(Default)]
pub(super) struct Fields {
    open: Vec<Field>,
    /// How many of them are still at their instruction.
    instructions: usize,
    /// What instructions hold as text, which comes to light when one of them has no end.
    pub(super) hidden: String,
}

/// A field whose end has not been read.
#[derive(Default)]
pub(super) struct Field {
    instruction: String,
    /// Where the result begins: in which text, and at which place.
    pub(super) result: Option<(u64, usize)>,
    is_result: bool,
    /// What a box or a list of a form is set to.
    pub(super) form: Option<String>,
}

impl Fields {
    /// Whether what is read belongs to an instruction.
    pub(super) fn are_at_instruction(&self) -> bool {
        self.instructions > 0
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn begin(&mut self, xml: &mut Xml<'_>, mark: &Element<'_>) -> Result<(), Error> {
        check(
            "fields inside one another",
            MAX_DEPTH,
            self.open.len() as u64 + 1,
        )?;
        self.open.push(Field {
            form: form(xml, mark)?,
            ..Field::default()
        });
        self.instructions += 1;
        Ok(())
    }

    /// Adds to the instruction of the innermost field.
    pub(super) fn instruct(&mut self, xml: &mut Xml<'_>, text: &Element<'_>) -> Result<(), Error> {
        match self.open.last_mut().filter(|field| !field.is_result) {
            Some(field) => xml.text(text, &mut field.instruction),
            None => Ok(()),
        }
    }

    /// Begins the result of the innermost field, at a place in a text.
    pub(super) fn separate(&mut self, place: (u64, usize)) {
        if let Some(field) = self.open.last_mut().filter(|field| !field.is_result) {
            field.is_result = true;
            field.result = Some(place);
            self.one_instruction_less();
        }
    }

    /// Ends the innermost field.
    pub(super) fn end(&mut self) -> Option<Field> {
        let field = self.open.pop()?;
        if !field.is_result {
            self.one_instruction_less();
        }
        Some(field)
    }

    /// Gives up the fields beyond a depth, which have no end; answers what their instructions hid.
    pub(super) fn give_up(&mut self, depth: usize) -> Option<String> {
        let lost = self.open.drain(depth.min(self.open.len())..);
        let lost = lost.filter(|field| !field.is_result).count();
        self.instructions -= lost;
        (lost > 0).then(|| std::mem::take(&mut self.hidden))
    }

    fn one_instruction_less(&mut self) {
        self.instructions -= 1;
        if self.instructions == 0 {
            self.hidden.clear();
        }
    }
}

impl Field {
    /// Where the field leads, if it is a link.
    pub(super) fn target(&self) -> Option<String> {
        target(&self.instruction)
    }
}

/// Where an instruction such as `HYPERLINK "https://example.org/" \\l "place"` leads (17.16.5.25):
/// nothing for a place in the document itself.
pub(super) fn target(instruction: &str) -> Option<String> {
    let (name, rest) = instruction.trim().split_once(char::is_whitespace)?;
    if !name.eq_ignore_ascii_case("HYPERLINK") {
        return None;
    }
    let mut target = None;
    let mut place = None;
    let mut switch = None;
    let mut rest = rest.trim_start();
    while !rest.is_empty() {
        let (word, after) = word(rest);
        match word.strip_prefix('\\').filter(|_| !rest.starts_with('"')) {
            Some(name) => switch = Some(name.to_owned()),
            None => match switch.take().as_deref() {
                Some("l" | "L") => place = Some(word),
                Some("o" | "O" | "t" | "T") => {}
                _ => target = target.or(Some(word)),
            },
        }
        rest = after.trim_start();
    }
    let target = target.filter(|target| !target.trim().is_empty())?;
    let place = place.map(|place| format!("#{place}"));
    Some(target + &place.unwrap_or_default())
}

/// The first word, or what stands in quotes; and the rest.
fn word(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut word = String::new();
    let mut characters = quoted.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return (word, &quoted[index + 1..]),
            '\\' => word.extend(characters.next().map(|(_, next)| next)),
            other => word.push(other),
        }
    }
    (word, "")
}

/// The state of a box or a list in a form (17.16.17).
fn form(xml: &mut Xml<'_>, mark: &Element<'_>) -> Result<Option<String>, Error> {
    let mut state = None;
    while let Some(data) = xml.child(mark)? {
        if data.name() != (Space::Word, "ffData") {
            continue;
        }
        while let Some(child) = xml.child(&data)? {
            match child.name() {
                (Space::Word, "checkBox") => state = Some(check_box(xml, &child)?),
                (Space::Word, "ddList") => state = choice(xml, &child)?,
                _ => {}
            }
        }
    }
    Ok(state)
}

fn check_box(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<String, Error> {
    let (mut default, mut checked) = (false, None);
    while let Some(child) = xml.child(element)? {
        let value = xml.attribute_in(&child, Space::Word, "val")?;
        let is_on = value.is_none_or(|value| !matches!(value.trim(), "0" | "false" | "off"));
        match child.name() {
            (Space::Word, "default") => default = is_on,
            (Space::Word, "checked") => checked = Some(is_on),
            _ => {}
        }
    }
    let is_on = checked.unwrap_or(default);
    Ok(if is_on { "☒" } else { "☐" }.to_owned())
}

fn choice(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Option<String>, Error> {
    let (mut default, mut result) = (0, None);
    let mut choices = Vec::new();
    while let Some(child) = xml.child(element)? {
        let value = xml.attribute_in(&child, Space::Word, "val")?;
        let value = value.unwrap_or_default();
        match child.name() {
            (Space::Word, "default") => default = value.trim().parse().unwrap_or_default(),
            (Space::Word, "result") => result = value.trim().parse::<usize>().ok(),
            (Space::Word, "listEntry") if choices.len() < MAX_CHOICES => {
                choices.push(value.into_owned());
            }
            _ => {}
        }
    }
    let chosen = result.unwrap_or(default);
    Ok(choices.into_iter().nth(chosen))
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn instructions_say_where_links_lead() {
        for (instruction, expected) in [
            (
                r#" HYPERLINK "http://a.example/b" "#,
                Some("http://a.example/b"),
            ),
            (
                r#"hyperlink http://a.example \o "a tip""#,
                Some("http://a.example"),
            ),
            (
                r#"HYPERLINK "http://a.example" \l "p" \n"#,
                Some("http://a.example#p"),
            ),
            (r#"HYPERLINK "C:\\a b.txt""#, Some(r"C:\a b.txt")),
            (r#"HYPERLINK \l "_Toc1""#, None),
            (
                r#"HYPERLINK \n "http://a.example""#,
                Some("http://a.example"),
            ),
            (r#"HYPERLINK "open"#, Some("open")),
            ("HYPERLINK", None),
            (r#"REF "http://a.example""#, None),
        ] {
            assert_eq!(target(instruction).as_deref(), expected, "{instruction}");
        }
    }
}
