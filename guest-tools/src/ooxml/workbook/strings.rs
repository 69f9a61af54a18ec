//! The strings that the cells of a workbook share (ECMA-376 part 1, 18.4).

use crate::ooxml::Error;
use crate::ooxml::xml::{Element, Space, Xml};
use std::borrow::Cow;

/// All strings, one behind the other.
#[derive(Default)]
pub(super) struct Strings {
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Strings {
    pub(super) fn parse(part: &str, text: &str) -> Result<Self, Error> {
        let mut xml = Xml::new(part, text);
        let root = xml.root()?;
        let mut strings = Self::default();
        while let Some(child) = xml.child(&root)? {
            if child.name() == (Space::Sheet, "si") {
                let start = strings.text.len();
                rich_text(&mut xml, &child, &mut strings.text)?;
                if let Cow::Owned(text) = unescaped(&strings.text[start..]) {
                    strings.text.truncate(start);
                    strings.text.push_str(&text);
                }
                strings.ends.push(strings.text.len());
            }
        }
        Ok(strings)
    }

    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }
}

/// The text of a string and its runs, without the phonetic aid beside it.
pub(super) fn rich_text(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    text: &mut String,
) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Sheet, "t") => xml.text(&child, text)?,
            (Space::Sheet, "r") => rich_text(xml, &child, text)?,
            _ => {}
        }
    }
    Ok(())
}

/// Resolves `_xHHHH_`, which stands for characters that XML cannot hold (18.18.97, `ST_Xstring`),
/// without those that no text needs.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains("_x") {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("_x") {
        whole.push_str(&rest[..start]);
        rest = &rest[start..];
        match escape(rest) {
            Some(character) => {
                let is_text = !character.is_control() || "\t\n\r".contains(character);
                whole.extend(is_text.then_some(character));
                rest = &rest[ESCAPE..];
            }
            None => {
                whole.push_str("_x");
                rest = &rest[2..];
            }
        }
    }
    whole.push_str(rest);
    Cow::Owned(whole)
}

/// The length of `_xHHHH_`.
const ESCAPE: usize = 7;

fn escape(text: &str) -> Option<char> {
    let digits = text.get(2..ESCAPE - 1)?;
    let is_closed = text.as_bytes().get(ESCAPE - 1) == Some(&b'_');
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok()?;
    char::from_u32(code).filter(|_| is_closed && is_hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        for (text, expected) in [
            ("a_x000D_b", "a\rb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_x0001_a_x0041_", "aA"),
            ("_xZZZZ_ _x12 _x000D", "_xZZZZ_ _x12 _x000D"),
            ("_xÄÄ_", "_xÄÄ_"),
            ("plain", "plain"),
        ] {
            assert_eq!(unescaped(text), expected);
        }
    }

    #[test]
    fn runs_are_joined_and_phonetics_left_out() {
        let text = r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
            <si><t>a</t></si><si><r><rPr/><t>b </t></r><r><t>c</t></r><rPh><t>aid</t></rPh></si><si/></sst>"#;
        let strings = Strings::parse("strings", text).unwrap();
        let all = [0, 1, 2, 3].map(|index| strings.get(index));
        assert_eq!(all, [Some("a"), Some("b c"), Some(""), None]);
    }
}
