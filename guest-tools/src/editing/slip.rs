//! How a text that is in a file was given so that it is not found there.

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A slip, and how to put it right.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slip {
    pub(super) what: &'static str,
    pub(super) hint: &'static str,
}

/// The slip by which `wanted` is not in the content, if without it it would be.
pub(super) fn slip(content: &str, wanted: &str) -> Option<Slip> {
    let content = content.replace("\r\n", "\n");
    let is_there = |text: String| !text.trim().is_empty() && content.contains(&text);
    if without_numbers(wanted).is_some_and(is_there) {
        return Some(Slip {
            what: "it was copied with line numbers",
            hint: "take the numbers and the tabs behind them out of `old_text` and `new_text`",
        });
    }
    if wanted.contains('\\') && is_there(unescaped(wanted)) {
        return Some(Slip {
            what: "it has a backslash and a letter in place of line breaks, tabs or quotes",
            hint: "escape `old_text` and `new_text` once, as JSON does: a line break is `\\n` in \
                   JSON, not `\\\\n`",
        });
    }
    let is_other_form = !wanted.is_ascii()
        && (!is_nfc(wanted) || !is_nfc(&content))
        && content
            .nfc()
            .collect::<String>()
            .contains(&wanted.nfc().collect::<String>());
    is_other_form.then_some(Slip {
        what: "its letters are the same, and composed otherwise (NFC, NFD)",
        hint: "copy the letters with marks from the file as they stand there, or choose an \
               `old_text` without them",
    })
}

/// The text without the number and the tab, `:` or `|` in front of each of its lines.
fn without_numbers(text: &str) -> Option<String> {
    let line = |line: &'_ str| -> Option<String> {
        let line = line.trim_start_matches(' ');
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = rest.len() < line.len();
        let text = rest.strip_prefix(['\t', ':', '|', '→'])?;
        is_numbered.then(|| text.to_owned())
    };
    text.split_inclusive('\n').map(line).collect()
}

fn unescaped(text: &str) -> String {
    let pairs = [
        ("\\r\\n", "\n"),
        ("\\n", "\n"),
        ("\\t", "\t"),
        ("\\\"", "\""),
    ];
    pairs
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_named() {
        for (content, wanted, what) in [
            ("a\none\ntwo\n", "2\tone\n3\ttwo\n", "line numbers"),
            (
                "a\r\none\r\ntwo\r\n",
                "     2\tone\n     3\ttwo",
                "line numbers",
            ),
            ("a\n\tone\n", "a\\n\tone", "backslash"),
            ("say \"a\"\n", "say \\\"a\\\"", "backslash"),
            ("cafe\u{301}\n", "caf\u{e9}", "NFC"),
            ("caf\u{e9}\n", "cafe\u{301}", "NFC"),
        ] {
            let slip = slip(content, wanted).unwrap();
            assert!(slip.what.contains(what), "{wanted}: {slip:?}");
        }
    }

    #[test]
    fn what_is_not_there_in_any_way_is_no_slip() {
        for wanted in ["two", "1\tb", "a\\nb", "caf\u{e9}", "1\t", "\\n"] {
            assert_eq!(slip("a\n", wanted), None, "{wanted}");
        }
    }
}
