//! Lines that two readers found in the same file.

use std::collections::HashMap;

/// What the other reader found.
#[derive(Default)]
pub(super) struct Reference {
    /// Lines that ours must have.
    pub(super) required: Vec<String>,
    /// Lines that ours may have: repeated merged cells, branches that are alternatives.
    pub(super) optional: Vec<String>,
}

/// How ours compares.
#[derive(Default)]
pub(super) struct Score {
    pub(super) required: usize,
    pub(super) ours: usize,
    pub(super) missing: Vec<String>,
    pub(super) extra: Vec<String>,
    /// Lines of which ours has more than the other reader.
    pub(super) longer: usize,
}

impl Reference {
    pub(super) fn require(&mut self, text: &str) {
        self.required.extend(lines_of(text));
    }

    pub(super) fn allow(&mut self, text: &str) {
        self.optional.extend(lines_of(text));
    }
}

impl Score {
    /// Matches lines as often as they occur, whatever their order.
    pub(super) fn new(reference: Reference, ours: Vec<String>) -> Self {
        let mut unmatched: HashMap<&str, usize> = HashMap::new();
        for line in &ours {
            *unmatched.entry(line).or_default() += 1;
        }
        let mut take = |line: &String| match unmatched.get_mut(line.as_str()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        };
        let required = reference.required.len();
        let missing = reference.required.into_iter();
        let mut missing: Vec<_> = missing.filter(|line| !take(line)).collect();
        for line in &reference.optional {
            take(line);
        }
        let left = unmatched.into_iter();
        let mut extra: Vec<_> = left
            .flat_map(|(line, count)| std::iter::repeat_n(line.to_owned(), count))
            .collect();
        extra.sort();
        let all = missing.len();
        missing.retain(|line| !take_longer(line, &mut extra));
        Self {
            required,
            ours: ours.len(),
            longer: all - missing.len(),
            missing,
            extra,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.required += other.required;
        self.ours += other.ours;
        self.missing.extend(other.missing.iter().cloned());
        self.extra.extend(other.extra.iter().cloned());
        self.longer += other.longer;
    }

    pub(super) fn recall(&self) -> f64 {
        share(self.required, self.missing.len())
    }

    pub(super) fn precision(&self) -> f64 {
        share(self.ours, self.extra.len())
    }
}

/// Takes the shortest of ours that has all characters of a line in their order, and more.
fn take_longer(line: &str, extra: &mut Vec<String>) -> bool {
    let is_longer = |ours: &str| {
        let mut characters = ours.chars();
        let holds_all = line
            .chars()
            .all(|wanted| characters.any(|found| found == wanted));
        // A short line is found in any long one.
        holds_all && ours.len() <= 2 * line.len() + 80
    };
    let longer = extra.iter().enumerate().filter(|(_, ours)| is_longer(ours));
    let shortest = longer.min_by_key(|(_, ours)| ours.len());
    let index = shortest.map(|(index, _)| index);
    index.map(|index| extra.remove(index)).is_some()
}

fn share(all: usize, less: usize) -> f64 {
    match all {
        0 => 1.0,
        all => (all - less) as f64 / all as f64,
    }
}

/// Lines that can be compared: readers break paragraphs and cells apart differently.
pub(super) fn lines(texts: &[String]) -> Vec<String> {
    texts.iter().flat_map(|text| lines_of(text)).collect()
}

fn lines_of(text: &str) -> impl Iterator<Item = String> {
    let pieces = text.split(['\n', '\t', '\r', '\u{b}']);
    let words = pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" "));
    words.filter(|line| !line.is_empty())
}
