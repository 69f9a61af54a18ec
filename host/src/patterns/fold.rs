//! Spellings that a file system can take for the same name.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

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

/// A folded path with its letters composed (NFC); `None` where they are. Without that, a rule in
/// the one form would say nothing of a name in the other.
pub(crate) fn composed(path: &[u8]) -> Option<Vec<u8>> {
    if path.utf8_chunks().all(|chunk| is_nfc(chunk.valid())) {
        return None;
    }
    let mut composed = Vec::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        composed.extend_from_slice(chunk.valid().nfc().collect::<String>().as_bytes());
        composed.extend_from_slice(chunk.invalid());
    }
    Some(composed)
}

fn trim_name(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| !matches!(byte, b'.' | b' '));
    end.map_or(name, |end| &name[..=end])
}

/// Letters by way of their capitals, so that `ſ` is `s` and `K` is `k`.
pub(crate) fn fold_letters(text: &str) -> String {
    text.chars()
        .filter(|c| !has_no_width(*c))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

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

    #[test]
    fn letters_are_composed_where_they_are_not() {
        assert_eq!(composed(b"a/cafe\xcc\x81"), Some("a/café".into()));
        for path in ["a/café", "a/cafe"] {
            assert_eq!(composed(path.as_bytes()), None, "{path:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_stay() {
        assert_eq!(&*fold(b"A\xff.PEM"), b"a\xff.pem");
    }
}
