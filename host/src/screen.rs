//! Text of strangers on a person's screen.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes everything that moves the cursor, changes colours or directions, or hides: for
/// showing text of strangers to people. Tabs stay.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if deceives(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The same JSON, in one line, with such characters spelt as JSON escapes them: what reads it
/// reads the same.
///
/// # Examples
///
/// ```
/// assert_eq!(rootbound::escaped_json("{\"a\":\"\u{9b}2J\"}"), r#"{"a":"\u009b2J"}"#);
/// ```
#[must_use]
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte);
    if text.bytes().all(is_plain) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_whitespace() {
            // Outside of strings these are but space, and inside they are escaped.
            shown.push(' ');
        } else if deceives(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

fn deceives(c: char) -> bool {
    let hides = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{1d173}'..='\u{1d17a}');
    hides || (c.is_control() && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::{escaped, escaped_json};

    #[test]
    fn what_would_deceive_is_escaped() {
        assert_eq!(
            escaped("a\u{1b}[31m\u{202e}b\n"),
            "a\\u{1b}[31m\\u{202e}b\\u{a}"
        );
        assert_eq!(escaped("plain ünïcode\t✓"), "plain ünïcode\t✓");
    }

    #[test]
    fn json_stays_what_it_says() {
        let said = serde_json::json!({"\u{9b}a": "\u{7f}\u{202e}\u{1d173}ü\n\t\u{1b}", "b": [" "]});
        let text = said.to_string();
        let shown = escaped_json(&text);
        assert_eq!(shown, escaped(&shown));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            said
        );
        assert_eq!(escaped_json("{\"a\": \"b\"}"), "{\"a\": \"b\"}");
        assert_eq!(escaped_json("{\n\t\"ü\": 1}"), "{  \"ü\": 1}");
    }
}
