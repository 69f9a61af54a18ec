//! Lists and their numbers (ECMA-376 part 1, 17.9).

use super::properties::{Numbered, number as number_of, value};
use super::words;
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
    started: HashSet<(String, usize)>,
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
    /// The style whose paragraphs stand on it (17.9.23).
    style: Option<String>,
    /// The level, from 1, after which it starts anew (17.9.10): 0 is none; any before it where
    /// nothing is said.
    restart: Option<usize>,
}

impl Level {
    /// Whether a level starts anew after another, both from 0, and this one the deeper.
    fn starts_anew_after(&self, own: usize, other: usize) -> bool {
        // One that does not come before it says nothing.
        let restart = self.restart.filter(|restart| *restart <= own);
        restart.is_none_or(|restart| other < restart)
    }
}

/// What a definition says of its levels, or where it says so (17.9.21, 17.9.27).
#[derive(Default)]
struct Definition {
    levels: Levels,
    /// The style of lists that it defines.
    defines: Option<String>,
    /// The style of lists that it takes over.
    takes_over: Option<String>,
}

/// A list: a definition, and what is other than there (17.9.8).
#[derive(Default)]
struct List {
    definition: String,
    starts: HashMap<usize, u64>,
    levels: HashMap<usize, Level>,
}

/// The levels of one list.
#[derive(Clone, Copy)]
struct View<'a> {
    list: &'a List,
    defined: &'a Levels,
}

impl<'a> View<'a> {
    fn level(self, level: usize) -> &'a Level {
        self.list.levels.get(&level).unwrap_or(&self.defined[level])
    }

    /// Where a level starts, also when it starts anew (17.9.26); at 0 where nothing is said
    /// (17.9.25).
    fn start(self, level: usize) -> u64 {
        let start = self.list.starts.get(&level).copied();
        start.or(self.level(level).start).unwrap_or_default()
    }
}

impl Numbering {
    pub(super) fn parse(part: &str, text: &str) -> Result<Self, Error> {
        let mut xml = Xml::new(part, text);
        let root = xml.root()?;
        let mut numbering = Self::default();
        let mut definitions = HashMap::new();
        while let Some(child) = xml.child(&root)? {
            match child.name() {
                (Space::Word, "abstractNum") => {
                    let id = xml.attribute_in(&child, Space::Word, "abstractNumId")?;
                    let definition = Definition::read(&mut xml, &child)?;
                    let id = shown(&id.unwrap_or_default());
                    definitions.insert(id, definition);
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
        numbering.definitions = resolved(definitions);
        Ok(numbering)
    }

    /// Counts a paragraph, and says what stands before it: nothing for a bullet.
    pub(super) fn label(&mut self, paragraph: &Numbered) -> Option<String> {
        let list = self.lists.get(&paragraph.list)?;
        let defined = self.definitions.get(&list.definition)?;
        let view = View { list, defined };
        let level = usize::from(paragraph.level).min(LEVELS - 1);
        let counts = self.counts.entry(list.definition.clone()).or_default();
        let restart = list.starts.get(&level).copied();
        let key = (paragraph.list.clone(), level);
        let restart = restart.filter(|_| self.started.insert(key));
        let next = counts[level].map_or(view.start(level), |count| count.saturating_add(1));
        counts[level] = Some(restart.unwrap_or(next));
        // Levels that were skipped have their first number, as Word shows it.
        for (skipped, count) in counts[..level].iter_mut().enumerate() {
            count.get_or_insert_with(|| view.start(skipped));
        }
        for (deeper, count) in counts.iter_mut().enumerate().skip(level + 1) {
            if view.level(deeper).starts_anew_after(deeper, level) {
                *count = None;
            }
        }
        label(view, counts, level)
    }

    /// The same list, at the level that is linked to one of these styles.
    pub(super) fn at_level_of(&self, numbered: &Numbered, styles: &[Option<String>]) -> Numbered {
        let level = styles
            .iter()
            .flatten()
            .find_map(|style| self.level_of(numbered, style));
        Numbered {
            list: numbered.list.clone(),
            level: level.unwrap_or(numbered.level),
        }
    }

    fn level_of(&self, numbered: &Numbered, style: &str) -> Option<u8> {
        let list = self.lists.get(&numbered.list)?;
        let defined = self.definitions.get(&list.definition)?;
        let view = View { list, defined };
        let is_linked = |level: &usize| view.level(*level).style.as_deref() == Some(style);
        (0..LEVELS).find(is_linked).map(|level| level as u8)
    }

    /// Whether a paragraph belongs to a list. List `0` takes it out of the one of its style.
    pub(super) fn is_list(paragraph: &Numbered) -> bool {
        paragraph.list.trim() != "0"
    }
}

/// The levels of all definitions: of one that only takes over a style of lists, those of the one
/// that defines it.
fn resolved(definitions: HashMap<String, Definition>) -> HashMap<String, Levels> {
    let defining = definitions.values().filter_map(|definition| {
        let style = definition.defines.clone()?;
        Some((style, definition.levels.clone()))
    });
    let defining: HashMap<_, _> = defining.collect();
    let levels = |definition: Definition| {
        let style = definition.takes_over.as_ref();
        let defined = style.and_then(|style| defining.get(style)).cloned();
        defined.unwrap_or(definition.levels)
    };
    let all = definitions.into_iter();
    all.map(|(id, definition)| (id, levels(definition)))
        .collect()
}

impl Definition {
    fn read(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Self, Error> {
        let mut definition = Self::default();
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Word, "styleLink") => definition.defines = value(xml, &child)?,
                (Space::Word, "numStyleLink") => definition.takes_over = value(xml, &child)?,
                (Space::Word, "lvl") => {
                    let index = level_of(xml, &child)?;
                    if let Some(level) = index.and_then(|index| definition.levels.get_mut(index)) {
                        level.read(xml, &child)?;
                    }
                }
                _ => {}
            }
        }
        Ok(definition)
    }
}

/// Which level an element is about.
fn level_of(xml: &Xml<'_>, element: &Element<'_>) -> Result<Option<usize>, Error> {
    let level = xml.attribute_in(element, Space::Word, "ilvl")?;
    let level = level.and_then(|level| level.trim().parse().ok());
    Ok(level.filter(|level| *level < LEVELS))
}

impl Level {
    fn read(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Word, "start") => self.start = number_of(xml, &child)?,
                (Space::Word, "isLgl") => {
                    let value = value(xml, &child)?;
                    self.is_legal = !matches!(value.as_deref(), Some("0" | "false"));
                }
                (Space::Word, "numFmt") => self.format = value(xml, &child)?.unwrap_or_default(),
                (Space::Word, "pStyle") => self.style = value(xml, &child)?,
                (Space::Word, "lvlText") => self.text = value(xml, &child)?.unwrap_or_default(),
                (Space::Word, "lvlRestart") => self.restart = number_of(xml, &child)?,
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
                if let Some(level) = level_of(xml, &child)? {
                    list.read_other(xml, &child, level)?;
                }
            }
            _ => {}
        }
    }
    Ok(list)
}

impl List {
    /// What is other for one level: where it starts, or all of it.
    fn read_other(
        &mut self,
        xml: &mut Xml<'_>,
        element: &Element<'_>,
        level: usize,
    ) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Word, "startOverride") => {
                    let value = xml.attribute_in(&child, Space::Word, "val")?;
                    let start = value.and_then(|value| value.trim().parse().ok());
                    self.starts.extend(start.map(|start| (level, start)));
                }
                (Space::Word, "lvl") => {
                    let mut other = Level::default();
                    other.read(xml, &child)?;
                    self.levels.insert(level, other);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Fills the counts into the text of a level.
fn label(view: View<'_>, counts: &[Option<u64>; LEVELS], level: usize) -> Option<String> {
    let own = view.level(level);
    if own.format == "bullet" {
        return None;
    }
    let mut label = String::new();
    let mut characters = own.text.chars().peekable();
    while let Some(character) = characters.next() {
        let place = characters.peek().and_then(|digit| digit.to_digit(10));
        let place = place.and_then(|digit| (digit as usize).checked_sub(1));
        match place {
            Some(place) if character == '%' && place < LEVELS => {
                characters.next();
                let format = match own.is_legal {
                    true => "decimal",
                    false => &view.level(place).format,
                };
                let count = counts[place].unwrap_or_else(|| view.start(place));
                label.push_str(&number(count, format));
            }
            _ => label.push(character),
        }
    }
    let label: String = label.trim().chars().take(MAX_LABEL).collect();
    (!label.is_empty()).then_some(label)
}

/// A number in one of the formats of `ST_NumberFormat`; those of other scripts are decimal here.
/// A bullet is none in the label of another level.
fn number(number: u64, format: &str) -> String {
    match format {
        "bullet" | "none" => String::new(),
        "ordinal" => ordinal(number),
        "cardinalText" => words::cardinal(number),
        "ordinalText" => words::ordinal(number),
        "hex" => format!("{number:X}"),
        "numberInDash" => format!("- {number} -"),
        "decimalEnclosedParen" => format!("({number})"),
        "decimalEnclosedFullstop" => format!("{number}."),
        "decimalEnclosedCircle" => circled(number),
        "chicago" => chicago(number),
        "lowerLetter" => letters(number),
        "upperLetter" => letters(number).to_uppercase(),
        "lowerRoman" => roman(number),
        "upperRoman" => roman(number).to_uppercase(),
        "decimalZero" => format!("{number:02}"),
        _ => number.to_string(),
    }
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// `①` to `⑳`, as far as there are signs.
fn circled(number: u64) -> String {
    let sign = (1..=20)
        .contains(&number)
        .then(|| 0x2460 + number as u32 - 1);
    let sign = sign.and_then(char::from_u32);
    sign.map_or_else(|| number.to_string(), String::from)
}

/// `*`, `†`, `‡`, `§`, then each of them twice, and so on.
fn chicago(number: u64) -> String {
    let Some(index) = number.checked_sub(1) else {
        return number.to_string();
    };
    let sign = ["*", "†", "‡", "§"][(index % 4) as usize];
    // Beyond a dozen nobody counts.
    sign.repeat((index / 4 + 1).min(12) as usize)
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
            r#"<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{format}"/><w:lvlText w:val="{text}"/></w:lvl>"#
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

    /// The labels of paragraphs by list and level.
    fn labels(numbering: &mut Numbering, paragraphs: &[(&str, u8)]) -> Vec<String> {
        let label = |(list, level): &(&str, u8)| {
            let (list, level) = ((*list).to_owned(), *level);
            numbering
                .label(&Numbered { list, level })
                .unwrap_or_default()
        };
        paragraphs.iter().map(label).collect()
    }

    #[test]
    fn a_level_starts_anew_where_its_list_says() {
        let levels = level(0, "decimal", "%1.") + &level(1, "decimal", "%1.%2");
        let definition = format!(r#"<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>"#);
        let list = r#"<w:num w:numId="1"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="1"><w:startOverride w:val="4"/></w:lvlOverride></w:num>"#;
        let mut numbering = numbering(&(definition + list));
        let paragraphs = [("1", 0), ("1", 1), ("1", 1), ("1", 0), ("1", 1)];
        let expected = ["1.", "1.4", "1.5", "2.", "2.4"];
        assert_eq!(labels(&mut numbering, &paragraphs), expected);
    }

    #[test]
    fn a_list_may_write_a_level_in_its_own_way() {
        let levels = level(0, "decimal", "%1.") + &level(1, "decimal", "%1.%2");
        let definition = format!(r#"<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>"#);
        let other = level(0, "upperRoman", "Part %1").replace("\"1\"", "\"3\"");
        let list = format!(
            r#"<w:num w:numId="1"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">{other}</w:lvlOverride></w:num>
            <w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num>"#
        );
        let mut numbering = numbering(&(definition + &list));
        let paragraphs = [("1", 0), ("1", 1), ("1", 0), ("2", 0), ("2", 1)];
        let expected = ["Part III", "III.1", "Part IV", "5.", "5.1"];
        assert_eq!(labels(&mut numbering, &paragraphs), expected);
    }

    #[test]
    fn a_level_counts_on_as_far_as_it_says() {
        let counted = |restart: &str| {
            let third = level(2, "decimal", "%3").replace(
                "<w:numFmt",
                &format!("<w:lvlRestart w:val=\"{restart}\"/><w:numFmt"),
            );
            let levels = level(0, "decimal", "%1") + &level(1, "decimal", "%2") + &third;
            let definition =
                format!(r#"<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>"#);
            let mut numbering = numbering(&(definition + LISTS));
            let paragraphs = [("1", 2), ("1", 1), ("1", 2), ("1", 0), ("1", 2)];
            let labels = labels(&mut numbering, &paragraphs);
            [labels[0].clone(), labels[2].clone(), labels[4].clone()]
        };
        assert_eq!(counted("0"), ["1", "2", "3"]);
        assert_eq!(counted("1"), ["1", "2", "1"]);
        assert_eq!(counted("2"), ["1", "1", "1"]);
        // What does not come before it.
        assert_eq!(counted("9"), ["1", "1", "1"]);
    }

    /// What Word shows of `testWORD_override_list_numbering.docx` of Apache Tika, whose paragraphs
    /// say it.
    #[test]
    fn skipped_levels_and_levels_without_a_number_are_as_in_word() {
        let third = level(2, "upperRoman", "%1.%2.%3")
            .replace("<w:numFmt", "<w:lvlRestart w:val=\"1\"/><w:numFmt");
        let skipped = level(0, "decimal", "%1") + &level(1, "lowerLetter", "%1.%2") + &third;
        let first = level(0, "decimalZero", "%1").replace("<w:start w:val=\"1\"/>", "");
        let without = first + &level(1, "none", "%1.%2") + &level(2, "decimal", "%1.%2.%3");
        let bullets = level(0, "ordinal", "%1") + &level(1, "bullet", "*");
        let bullets = bullets + &level(2, "decimal", "%1.%2.%3");
        let rows: [(&str, &[u8], &[&str]); 3] = [
            (
                &skipped,
                &[0, 1, 2, 2, 1, 2, 0, 2, 1],
                &[
                    "1", "1.a", "1.a.I", "1.a.II", "1.b", "1.b.III", "2", "2.a.I", "2.b",
                ],
            ),
            (
                &without,
                &[0, 0, 1, 1, 2, 0],
                &["00", "01", "01.", "01.", "01..1", "02"],
            ),
            (&bullets, &[0, 1, 2, 0], &["1st", "", "1st..1", "2nd"]),
        ];
        for (levels, paragraphs, expected) in rows {
            let definition =
                format!(r#"<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>"#);
            let mut numbering = numbering(&(definition + LISTS));
            let paragraphs: Vec<_> = paragraphs.iter().map(|level| ("1", *level)).collect();
            assert_eq!(labels(&mut numbering, &paragraphs), expected);
        }
    }

    #[test]
    fn a_definition_may_take_over_a_style_of_lists() {
        let levels = level(0, "upperLetter", "%1)");
        let definitions = format!(
            r#"<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="S"/></w:abstractNum>
            <w:abstractNum w:abstractNumId="1"><w:styleLink w:val="S"/>{levels}</w:abstractNum>"#
        );
        let mut numbering = numbering(&(definitions + LISTS));
        assert_eq!(labels(&mut numbering, &[("1", 0), ("1", 0)]), ["A)", "B)"]);
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
            (112, "ordinal", "112th"),
            (122, "ordinal", "122nd"),
            (7, "none", ""),
            (3, "chicago", "‡"),
            (6, "chicago", "††"),
            (0, "chicago", "0"),
            (21, "cardinalText", "Twenty-one"),
            (21, "ordinalText", "Twenty-first"),
            (28, "hex", "1C"),
            (5, "numberInDash", "- 5 -"),
            (5, "decimalEnclosedParen", "(5)"),
            (5, "decimalEnclosedFullstop", "5."),
            (20, "decimalEnclosedCircle", "⑳"),
            (21, "decimalEnclosedCircle", "21"),
            (3, "hebrew1", "3"),
        ] {
            assert_eq!(number(value, format), text);
        }
        assert!(letters(u64::MAX).len() <= 12);
    }
}
