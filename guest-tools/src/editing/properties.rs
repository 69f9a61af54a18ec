//! What holds for every edit of every file: the bytes around it stay what they were.

use super::{Edit, Encoded, edit};
use crate::text::Choice;
use proptest::prelude::*;

/// Pieces of text files: all endings, byte order marks, characters of every length.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\r".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("\0".to_owned()),
        Just("äあ🙂".to_owned()),
        "[a-c \t$\\\\]{1,4}",
    ]
}

fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), pieces).prop_map(|pieces| pieces.concat())
}

fn replace(old: &str, new: &str, replace_all: bool) -> Edit {
    Edit {
        old_text: old.to_owned(),
        new_text: new.to_owned(),
        replace_all,
    }
}

/// The file's bytes, in one of the encodings that are taken.
fn encoded(text: &str, encoding: usize) -> Vec<u8> {
    let marked = || std::iter::once(0xfeff).chain(text.encode_utf16());
    match encoding {
        0 => text.as_bytes().to_vec(),
        1 => format!("\u{feff}{text}").into_bytes(),
        2 => marked().flat_map(u16::to_le_bytes).collect(),
        _ => marked().flat_map(u16::to_be_bytes).collect(),
    }
}

proptest! {
    /// The marker occurs once, so the answer is known without our own search.
    #[test]
    fn untouched_bytes_stay_what_they_were(
        before in text(0..12), after in text(0..12), new in "[x-z]{0,5}", encoding in 0..4_usize,
    ) {
        let (old, expected) = (format!("{before}<mark>{after}"), format!("{before}{new}{after}"));
        let bytes = encoded(&old, encoding);
        // The mark of UTF-32.
        prop_assume!(!bytes.starts_with(b"\xff\xfe\0\0"));
        let file = Encoded::decode("f", bytes, Choice::Detected).unwrap();
        let edited = edit("f", &file.text, &[replace("<mark>", &new, false)]).unwrap();
        prop_assert_eq!(file.encode("f", edited.text), Ok(encoded(&expected, encoding)));
    }

    /// Any bytes at all, whatever encoding is named: where it does not give them back, nothing
    /// is edited.
    #[test]
    fn bytes_of_other_encodings_stay_what_they_were(
        before in prop::collection::vec(any::<u8>(), 0..20),
        after in prop::collection::vec(any::<u8>(), 0..20),
        label in prop::sample::select(vec![
            "windows-1252", "koi8-r", "shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "big5",
            "euc-kr", "utf-16le", "utf-8",
        ]),
    ) {
        let file = [&before, &b"<mark>"[..], &after].concat();
        let Ok(file) = Encoded::decode("f", file, Choice::named(label).unwrap()) else {
            return Ok(());
        };
        let Ok(edited) = edit("f", &file.text, &[replace("<mark>", "new", false)]) else {
            return Ok(());
        };
        let expected = [&before, &b"new"[..], &after].concat();
        prop_assert_eq!(file.encode("f", edited.text), Ok(expected));
    }

    /// Every stretch outside the noted changes is the same before and after.
    #[test]
    fn changes_are_all_that_changed(
        content in text(0..30), pairs in prop::collection::vec((piece(), piece(), any::<bool>()), 1..4),
    ) {
        let edits: Vec<_> = pairs.iter().map(|(old, new, all)| replace(old, new, *all)).collect();
        let Ok(edited) = edit("f", &content, &edits) else { return Ok(()) };
        let (mut old_at, mut new_at) = (0, 0);
        for change in edited.changes.iter() {
            prop_assert_eq!(
                &content.as_bytes()[old_at..change.old.start],
                &edited.text.as_bytes()[new_at..change.new.start]
            );
            (old_at, new_at) = (change.old.end, change.new.end);
        }
        prop_assert_eq!(&content.as_bytes()[old_at..], &edited.text.as_bytes()[new_at..]);
    }

    /// An ending is a CR or a LF of the file, or one that the new text brought.
    #[test]
    fn text_with_lf_finds_its_place_whatever_the_endings(
        lines in prop::collection::vec("[a-z]{1,3}", 2..6), crlf in prop::collection::vec(any::<bool>(), 6),
    ) {
        let ending = |number: usize| if crlf[number] { "\r\n" } else { "\n" };
        let with = |lines: &[String]| -> String {
            lines.iter().enumerate().map(|(number, line)| format!("{line}{}", ending(number))).collect()
        };
        let upper: Vec<String> = lines.iter().map(|line| line.to_uppercase()).collect();
        let edits = [replace(&lines.join("\n"), &upper.join("\n"), false)];
        let edited = edit("f", &with(&lines), &edits).unwrap();
        prop_assert_eq!(edited.text, with(&upper));
    }
}
