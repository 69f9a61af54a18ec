//! How lines are shown: numbered, and clipped where they are long.

use super::decoding::cut;
use super::place::Place;
use std::fmt::Write as _;

/// What is done to the lines of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Each line starts with its number and a tab.
    pub(crate) numbers: bool,
    /// Longer lines end after so many characters, with a mark that says how many follow.
    pub(crate) clip: Option<usize>,
}

/// Lines as they are shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// How many bytes of the text they are.
    pub(crate) taken: usize,
}

impl Style {
    /// Whether the text is shown as it is.
    pub(crate) fn is_plain(self) -> bool {
        !self.numbers && self.clip.is_none()
    }

    /// Shows whole lines in up to `most` bytes; a first line that is longer in part.
    pub(crate) fn show(self, text: &str, place: Place, most: usize) -> Shown {
        let mut shown = String::with_capacity(text.len().min(most));
        let mut taken = 0;
        let mut place = place;
        for line in text.split_inclusive('\n') {
            let before = shown.len();
            self.add(&mut shown, line, place);
            if shown.len() > most {
                shown.truncate(before);
                if taken == 0 {
                    return self.part(line, place, most);
                }
                break;
            }
            taken += line.len();
            place = place.behind(0, 1, true);
        }
        Shown { text: shown, taken }
    }

    /// As much of one line as fits.
    fn part(self, line: &str, place: Place, most: usize) -> Shown {
        let mut text = String::new();
        self.add(&mut text, "", place);
        let room = most.saturating_sub(text.len());
        let end = cut(line.as_bytes(), room);
        text.push_str(&line[..end]);
        Shown { text, taken: end }
    }

    fn add(self, shown: &mut String, line: &str, place: Place) {
        if self.numbers && !place.inside {
            let _ = write!(shown, "{}\t", place.line);
        }
        let mark = place.line == 1 && place.byte == 0 && self.numbers;
        let line = match line.strip_prefix('\u{feff}') {
            Some(rest) if mark => rest,
            _ => line,
        };
        match self.clip.and_then(|most| clipped(line, most)) {
            None => shown.push_str(line),
            Some((start, left_out, ending)) => {
                let _ = write!(shown, "{start}…[+{left_out}]{ending}");
            }
        }
    }
}

/// The start of a long line, how many characters are left out, and how the line ends.
fn clipped(line: &str, most: usize) -> Option<(&str, usize, &str)> {
    // No character takes less than a byte.
    if line.len() <= most {
        return None;
    }
    let content = line.strip_suffix('\n').unwrap_or(line);
    let content = content.strip_suffix('\r').unwrap_or(content);
    let (end, _) = content.char_indices().nth(most)?;
    let left_out = content[end..].chars().count();
    Some((&content[..end], left_out, &line[content.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(style: Style, text: &str, most: usize) -> (String, usize) {
        let shown = style.show(text, Place::first(0), most);
        (shown.text, shown.taken)
    }

    const NUMBERED: Style = Style {
        numbers: true,
        clip: None,
    };

    #[test]
    fn lines_are_numbered_and_keep_their_endings() {
        let shown = show(NUMBERED, "a\r\nb\n\nc", 1000);
        assert_eq!(shown, ("1\ta\r\n2\tb\n3\t\n4\tc".to_owned(), 7));
        let last = Place {
            line: -2,
            byte: 9,
            inside: false,
        };
        assert_eq!(NUMBERED.show("a\nb\n", last, 1000).text, "-2\ta\n-1\tb\n");
        let inside = Place {
            inside: true,
            ..last
        };
        assert_eq!(NUMBERED.show("a\nb\n", inside, 1000).text, "a\n-1\tb\n");
    }

    #[test]
    fn what_does_not_fit_waits_for_the_next_answer() {
        assert_eq!(
            show(NUMBERED, "aa\nbb\ncc", 10),
            ("1\taa\n2\tbb\n".into(), 6)
        );
        assert_eq!(show(NUMBERED, "aaaaあ\nb", 8), ("1\taaaa".into(), 4));
        assert_eq!(show(NUMBERED, "aaaaa\r\nb", 8), ("1\taaaaa".into(), 5));
    }

    #[test]
    fn long_lines_are_clipped_with_a_mark() {
        let style = Style {
            numbers: false,
            clip: Some(3),
        };
        let shown = show(style, "äöüß\r\nabc\nabcdef", 1000);
        assert_eq!(shown.0, "äöü…[+1]\r\nabc\nabc…[+3]");
    }
}
