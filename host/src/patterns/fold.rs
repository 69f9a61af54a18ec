//! Spellings that a file system can take for the same name.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::characters::Class;

/// A path in the spelling by which what narrows is compared: capital and small letters alike,
/// and without characters that have no width. File systems that fold names, such as ext4 with
/// `casefold`, take such names for one.
pub(crate) fn fold(path: &[u8]) -> Cow<'_, [u8]> {
    let is_folded = |byte: &u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if path.iter().all(is_folded) {
        return Cow::Borrowed(path);
    }
    let mut folded = Vec::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        folded.extend_from_slice(fold_letters(chunk.valid()).as_bytes());
        folded.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(folded)
}

/// A path without the dots and spaces at the end of its names, which FAT and its like leave
/// out; `None` where there are none. A name of nothing else stays.
pub(crate) fn trim_names(path: &[u8]) -> Option<Vec<u8>> {
    let names = || path.split(|byte| *byte == b'/');
    if names().all(|name| trim_name(name) == name) {
        return None;
    }
    Some(names().map(trim_name).collect::<Vec<_>>().join(&b'/'))
}

/// The other spellings by which a path is compared: that of all that Unicode takes for the same,
/// and one in which a letter that folds to several, such as `ß`, still is one character.
pub(crate) fn other_spellings(path: &[u8], folded: &[u8]) -> Vec<Vec<u8>> {
    let mut others = Vec::new();
    if path.is_ascii() {
        return others;
    }
    for fold in [fold_text, fold_to_single] {
        let mut other = Vec::with_capacity(path.len());
        for chunk in path.utf8_chunks() {
            fold_pieces(chunk.valid(), fold, &mut other);
            other.extend_from_slice(chunk.invalid());
        }
        if other != folded && !others.contains(&other) {
            others.push(other);
        }
    }
    others
}

/// Folds what is not ASCII, with one letter before it that a mark may be composed with. The rest is
/// most of a path, and its own spelling.
fn fold_pieces(text: &str, fold: impl Fn(&str) -> String, folded: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let (plain, other) = rest.split_at(at.saturating_sub(1));
        let letter = usize::from(at > 0);
        let end = other.bytes().skip(letter).position(|byte| byte.is_ascii());
        let (other, behind) = other.split_at(end.map_or(other.len(), |end| letter + end));
        folded.extend(plain.bytes().map(|byte| byte.to_ascii_lowercase()));
        folded.extend_from_slice(fold(other).as_bytes());
        rest = behind;
    }
    folded.extend(rest.bytes().map(|byte| byte.to_ascii_lowercase()));
}

fn trim_name(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| !matches!(byte, b'.' | b' '));
    end.map_or(name, |end| &name[..=end])
}

/// Letters one by one, by way of their capitals, so that `ſ` is `s` and `K` is `k`; before that
/// by way of small ones, so that `ẞ` is `ss` as `ß` is.
pub(crate) fn fold_letters(text: &str) -> String {
    text.chars()
        .filter(|c| !has_no_width(*c))
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// One text for all that are canonical caseless matches (Unicode, section 3.13, D145), composed.
/// Marks are put in order first: the iota below a letter folds to a letter, and no mark that was
/// behind it would find its place any more.
pub(crate) fn fold_text(text: &str) -> String {
    let visible = text.chars().filter(|c| !has_no_width(*c));
    fold_letters(&visible.nfd().collect::<String>())
        .nfc()
        .collect()
}

/// As [`fold_text`], but letters that fold to several characters stay.
fn fold_to_single(text: &str) -> String {
    let fold = |c: char| {
        if c.is_ascii() {
            return c.to_ascii_lowercase();
        }
        let folded = fold_text(c.encode_utf8(&mut [0; 4]));
        let mut folded = folded.chars();
        match (folded.next(), folded.next()) {
            (Some(one), None) => one,
            _ => c,
        }
    };
    composed(text).chars().map(fold).nfc().collect()
}

/// Without characters that have no width, and composed.
pub(crate) fn composed(text: &str) -> String {
    let visible = text.chars().filter(|c| !has_no_width(*c));
    visible.nfc().collect()
}

/// Adds to a class what its characters fold to, which it is compared with.
pub(crate) fn fold_class(class: &mut Class) {
    let mut texts = BTreeSet::new();
    for (first, last) in class.ranges.clone() {
        // As many as there are: capitals of ASCII, and what of the others folds.
        let ascii = (first..=last.min('\x7f')).filter(char::is_ascii_uppercase);
        let ascii = ascii.map(|c| c.to_ascii_lowercase());
        class.ranges.extend(ascii.map(|c| (c, c)));
        let start = FOLDING.partition_point(|(c, _)| *c < first);
        for (_, folded) in FOLDING[start..].iter().take_while(|(c, _)| *c <= last) {
            let mut chars = folded.chars();
            match (chars.next(), chars.next()) {
                (Some(one), None) => class.ranges.push((one, one)),
                _ => drop(texts.insert(&**folded)),
            }
        }
    }
    if !class.negated {
        class.texts.extend(texts.into_iter().map(str::to_owned));
    }
}

/// The characters beyond ASCII that fold to something else, in order.
static FOLDING: LazyLock<Vec<(char, String)>> = LazyLock::new(|| {
    let folded = ('\u{80}'..=char::MAX).map(|c| (c, fold_text(c.encode_utf8(&mut [0; 4]))));
    let folding = folded.filter(|(c, folded)| !folded.chars().eq([*c]));
    folding.collect()
});

/// Unicode's `Default_Ignorable_Code_Point` (DerivedCoreProperties.txt, 16.0), which the kernel
/// leaves out when it folds names (`utf8nfdicf`).
fn has_no_width(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::char::canonical_combining_class;

    #[test]
    fn spellings_of_one_name_fold_to_one() {
        for spelling in [".env", ".ENV", ".e\u{ad}nv", ".En\u{200d}v"] {
            assert_eq!(&*fold(spelling.as_bytes()), b".env", "{spelling:?}");
        }
        assert_eq!(&*fold("Ab/\u{212a}ey.PEM".as_bytes()), b"ab/key.pem");
    }

    #[test]
    fn dots_and_spaces_at_the_end_of_a_name_are_left_out() {
        assert_eq!(trim_names(b"a. /.env. ."), Some(b"a/.env".to_vec()));
        for path in ["a/.env", "a/.../b", ""] {
            assert_eq!(trim_names(path.as_bytes()), None, "{path:?}");
        }
    }

    fn every() -> impl Iterator<Item = (char, String)> {
        (char::MIN..=char::MAX).map(|c| (c, c.to_string()))
    }

    #[test]
    fn a_letter_is_folded_with_its_capital_and_its_small_one() {
        for (c, text) in every() {
            let folded = fold_letters(&text);
            assert_eq!(fold_letters(&folded), folded, "{c:?}");
            if !has_no_width(c) {
                assert_eq!(fold_letters(&text.to_uppercase()), folded, "{c:?}");
                assert_eq!(fold_letters(&text.to_lowercase()), folded, "{c:?}");
            }
        }
        assert_eq!(fold_letters("stra\u{1e9e}e"), "strasse");
    }

    /// Each mark that folds, beside each other mark, in either order and composed.
    #[test]
    fn marks_are_put_in_order_before_they_are_folded() {
        let marks = || every().filter(|(c, _)| canonical_combining_class(*c) > 0);
        let folding = marks().filter(|(_, mark)| fold_letters(mark) != *mark);
        let folding: Vec<_> = folding.collect();
        assert!(folding.iter().any(|(c, _)| *c == '\u{345}'));
        for (first, mark) in &folding {
            let is_other = |c| canonical_combining_class(c) != canonical_combining_class(*first);
            for (_, other) in marks().filter(|(c, _)| is_other(*c)) {
                let one = format!("α{mark}{other}");
                let spellings = [
                    format!("α{other}{mark}"),
                    one.nfc().collect(),
                    one.nfd().collect(),
                ];
                for spelling in spellings {
                    assert_eq!(fold_text(&spelling), fold_text(&one), "{spelling:?}");
                }
            }
        }
    }

    #[test]
    fn a_letter_is_folded_as_its_parts_are() {
        for (c, text) in every() {
            // Alone, and with a mark that goes before the iota below and behind a cedilla.
            for text in [text.clone(), format!("{text}\u{301}")] {
                let parts = text.nfd().collect::<String>();
                assert_eq!(fold_text(&text), fold_text(&parts), "{c:?}");
                let folded = fold_text(&text);
                assert_eq!(fold_text(&folded), folded, "{c:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_path_is_folded_in_pieces_as_in_one(
            text in "[a-cA-C/<=;Kßẞé語αΑᾳ\u{300}\u{301}\u{338}\u{345}\u{34f}\u{212a}\u{1100}\u{1161}]{0,12}",
        ) {
            for fold in [fold_text, fold_to_single] {
                let mut folded = Vec::new();
                fold_pieces(&text, fold, &mut folded);
                prop_assert_eq!(String::from_utf8(folded), Ok(fold(&text)));
            }
        }
    }

    #[test]
    fn a_class_has_what_its_characters_fold_to() {
        let folded = |negated, first, last| {
            let (ranges, texts) = (vec![(first, last)], Vec::new());
            let mut class = Class {
                negated,
                ranges,
                texts,
            };
            fold_class(&mut class);
            class
        };
        for (first, last) in [('Z', 'a'), ('À', 'ü'), ('\u{df}', '\u{178}'), ('0', 'ﬆ')] {
            let class = folded(false, first, last);
            for c in first..=last {
                let folded = fold_text(&c.to_string());
                let is_in = |(first, last): &(char, char)| {
                    folded.chars().count() == 1
                        && folded.starts_with(|c| (*first..=*last).contains(&c))
                };
                let is_text = || class.texts.contains(&folded);
                assert!(class.ranges.iter().any(is_in) || is_text(), "{c:?}");
            }
        }
        assert_eq!(folded(true, 'ß', 'ß').texts, [] as [&str; 0]);
    }

    #[test]
    fn bytes_that_are_not_text_stay() {
        assert_eq!(&*fold(b"A\xff.PEM"), b"a\xff.pem");
    }
}
