//! Lists and their numbers (ECMA-376 part 1, 17.9).

use super::properties::Numbered;
use crate::ooxml::xml::{Element, Space, Xml};
use crate::ooxml::{Error, shown};
use std::collections::{HashMap, HashSet};

/// Levels of a list.
const LEVELS: usize = 9;
/// The longest label; Word's have a number and a few signs a level.
const MAX_LABEL: usize = 100;

/// The lists of a document, and how far each has been counted.
#[derive(Default)]
pub(super) struct Numbering {
    /// What lists look like, by the ids of their definitions.
    definitions: HashMap<String, Levels>,
    lists: HashMap<String, List>,
    /// Counts by definition: lists that share one are counted on.
    counts: HashMap<String, [Option<u64>; LEVELS]>,
    /// Levels of lists that have started anew.
    started: HashSet<(String, u8)>,
}

type Levels = [Level; LEVELS];

#[derive(Clone, Default)]
struct Level {
    start: Option<u64>,
    format: String,
    /// Such as `%1.%2)`.
    text: String,
    /// Whether all numbers in it are decimal (17.9.4).
    is_legal: bool,
}

#[derive(Default)]
struct List {
    definition: String,
    starts: HashMap<u8, u64>,
}

impl Numbering {
    pub(super) fn parse(part: &str, text: &str) -> Result<Self, Error> {
        let mut xml = Xml::new(part, text);
        let root = xml.root()?;
        let mut numbering = Self::default();
        while let Some(child) = xml.child(&root)? {
            match child.name() {
                (Space::Word, "abstractNum") => {
                    let id = xml.attribute_in(&child, Space::Word, "abstractNumId")?;
                    let levels = levels(&mut xml, &child)?;
                    let id = shown(&id.unwrap_or_default());
                    numbering.definitions.insert(id, levels);
                }
                (Space::Word, "num") => {
                    let id = xml.attribute_in(&child, Space::Word, "numId")?;
                    let list = list(&mut xml, &child)?;
                    let id = shown(&id.unwrap_or_default());
                    numbering.lists.insert(id, list);
                }
                _ => {}
            }
        }
        Ok(numbering)
    }

    /// Counts a paragraph, and says what stands before it: nothing for a bullet.
    pub(super) fn label(&mut self, paragraph: &Numbered) -> Option<String> {
        let list = self.lists.get(&paragraph.list)?;
        let levels = self.definitions.get(&list.definition)?;
        let level = usize::from(paragraph.level).min(LEVELS - 1);
        let counts = self.counts.entry(list.definition.clone()).or_default();
        let start = levels[level].start.unwrap_or(1);
        let restart = list.starts.get(&paragraph.level).copied();
        let key = (paragraph.list.clone(), paragraph.level);
        let restart = restart.filter(|_| self.started.insert(key));
        let next = counts[level].map_or(start, |count| count.saturating_add(1));
        counts[level] = Some(restart.unwrap_or(next));
        counts[level + 1..].fill(None);
        label(levels, counts, level)
    }

    /// Whether a paragraph belongs to a list. List `0` takes it out of the one of its style.
    pub(super) fn is_list(paragraph: &Numbered) -> bool {
        paragraph.list.trim() != "0"
    }
}

fn levels(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Levels, Error> {
    let mut levels = Levels::default();
    while let Some(child) = xml.child(element)? {
        if child.name() != (Space::Word, "lvl") {
            continue;
        }
        let index = xml.attribute_in(&child, Space::Word, "ilvl")?;
        let index = index.and_then(|index| index.parse::<usize>().ok());
        if let Some(level) = index.and_then(|index| levels.get_mut(index)) {
            level.read(xml, &child)?;
        }
    }
    Ok(levels)
}

impl Level {
    fn read(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            let value = xml
                .attribute_in(&child, Space::Word, "val")?
                .unwrap_or_default();
            match child.name() {
                (Space::Word, "start") => self.start = value.trim().parse().ok(),
                (Space::Word, "isLgl") => self.is_legal = !matches!(&*value, "0" | "false"),
                (Space::Word, "numFmt") => self.format = shown(&value),
                (Space::Word, "lvlText") => self.text = shown(&value),
                _ => {}
            }
        }
        Ok(())
    }
}

fn list(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<List, Error> {
    let mut list = List::default();
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Word, "abstractNumId") => {
                let value = xml.attribute_in(&child, Space::Word, "val")?;
                list.definition = shown(&value.unwrap_or_default());
            }
            (Space::Word, "lvlOverride") => {
                let level = xml.attribute_in(&child, Space::Word, "ilvl")?;
                let level = level.and_then(|level| level.parse::<u8>().ok());
                while let Some(inner) = xml.child(&child)? {
                    let value = xml.attribute_in(&inner, Space::Word, "val")?;
                    let start = value.and_then(|value| value.trim().parse().ok());
                    if let ((Space::Word, "startOverride"), Some(level), Some(start)) =
                        (inner.name(), level, start)
                    {
                        list.starts.insert(level, start);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(list)
}

/// Fills the counts into the text of a level.
fn label(levels: &Levels, counts: &[Option<u64>; LEVELS], level: usize) -> Option<String> {
    if matches!(&*levels[level].format, "bullet" | "none") {
        return None;
    }
    let mut label = String::new();
    let mut characters = levels[level].text.chars().peekable();
    while let Some(character) = characters.next() {
        let place = characters.peek().and_then(|digit| digit.to_digit(10));
        let place = place.and_then(|digit| (digit as usize).checked_sub(1));
        match place {
            Some(place) if character == '%' && place < LEVELS => {
                characters.next();
                let start = levels[place].start.unwrap_or(1);
                let format = match levels[level].is_legal {
                    true => "decimal",
                    false => &levels[place].format,
                };
                label.push_str(&number(counts[place].unwrap_or(start), format));
            }
            _ => label.push(character),
        }
    }
    let label: String = label.trim().chars().take(MAX_LABEL).collect();
    (!label.is_empty()).then_some(label)
}

/// A number in one of the formats of `ST_NumberFormat`; those of other scripts are decimal here.
fn number(number: u64, format: &str) -> String {
    match format {
        "lowerLetter" => letters(number),
        "upperLetter" => letters(number).to_uppercase(),
        "lowerRoman" => roman(number),
        "upperRoman" => roman(number).to_uppercase(),
        "decimalZero" => format!("{number:02}"),
        _ => number.to_string(),
    }
}

/// `a` to `z`, then `aa` to `zz`, and so on.
fn letters(number: u64) -> String {
    let Some(index) = number.checked_sub(1) else {
        return number.to_string();
    };
    // Beyond a dozen times the alphabet nobody counts.
    let times = (index / 26 + 1).min(12);
    let letter = char::from(b'a' + (index % 26) as u8);
    std::iter::repeat_n(letter, times as usize).collect()
}

fn roman(mut number: u64) -> String {
    const DIGITS: [(u64, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    // As far as Roman digits go.
    if number == 0 || number > 3999 {
        return number.to_string();
    }
    let mut text = String::new();
    for (value, digits) in DIGITS {
        while number >= value {
            text.push_str(digits);
            number -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbering(inside: &str) -> Numbering {
        let text = format!(
            r#"<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{inside}</w:numbering>"#
        );
        Numbering::parse("numbering", &text).unwrap()
    }

    fn level(level: u8, format: &str, text: &str) -> String {
        format!(
            r#"<w:lvl w:ilvl="{level}"><w:numFmt w:val="{format}"/><w:lvlText w:val="{text}"/></w:lvl>"#
        )
    }

    const LISTS: &str = r#"<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
        <w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>"#;

    #[test]
    fn paragraphs_are_counted_level_by_level() {
        let levels = level(0, "decimal", "%1.") + &level(1, "lowerLetter", "%1.%2)");
        let definition = format!(r#"<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>"#);
        let mut numbering = numbering(&(definition + LISTS));
        let mut next = |list: &str, level: u8| {
            let list = list.to_owned();
            numbering
                .label(&Numbered { list, level })
                .unwrap_or_default()
        };
        let labels = [
            ("1", 0),
            ("1", 1),
            ("1", 1),
            ("1", 0),
            ("1", 1),
            ("2", 0),
            ("2", 0),
        ];
        let labels = labels.map(|(list, level)| next(list, level));
        assert_eq!(labels, ["1.", "1.a)", "1.b)", "2.", "2.a)", "5.", "6."]);
    }

    #[test]
    fn legal_numbers_are_decimal_throughout() {
        let first = level(0, "upperRoman", "%1");
        let second = level(1, "lowerLetter", "%1.%2");
        let legal = second.replace("<w:numFmt", "<w:isLgl/><w:numFmt");
        for (second, label) in [(second, "I.a"), (legal, "1.1")] {
            let levels =
                format!(r#"<w:abstractNum w:abstractNumId="0">{first}{second}</w:abstractNum>"#);
            let mut numbering = numbering(&(levels + LISTS));
            let list = "1".to_owned();
            numbering.label(&Numbered { list, level: 0 });
            let list = "1".to_owned();
            assert_eq!(
                numbering.label(&Numbered { list, level: 1 }).as_deref(),
                Some(label)
            );
        }
    }

    #[test]
    fn bullets_and_unknown_lists_have_no_label() {
        let levels = level(0, "bullet", "\u{f0b7}");
        let definition = format!(r#"<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>"#);
        let mut numbering = numbering(&(definition + LISTS));
        for list in ["1", "9"] {
            let list = list.to_owned();
            assert_eq!(numbering.label(&Numbered { list, level: 0 }), None);
        }
    }

    #[test]
    fn formats_are_written_as_word_does() {
        for (value, format, text) in [
            (27, "lowerLetter", "aa"),
            (2, "upperLetter", "B"),
            (1994, "upperRoman", "MCMXCIV"),
            (4000, "lowerRoman", "4000"),
            (3, "decimalZero", "03"),
            (3, "chicago", "3"),
        ] {
            assert_eq!(number(value, format), text);
        }
        assert!(letters(u64::MAX).len() <= 12);
    }
}
