//! Text of strangers on a person's screen.

/// Escapes everything that moves the cursor, changes colours or directions, or hides: for
/// showing text of strangers to people. Tabs stay.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let deceives = c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{1d173}'..='\u{1d17a}');
        if deceives && c != '\t' {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_would_deceive_is_escaped() {
        assert_eq!(
            escaped("a\u{1b}[31m\u{202e}b\n"),
            "a\\u{1b}[31m\\u{202e}b\\u{a}"
        );
        assert_eq!(escaped("plain ünïcode\t✓"), "plain ünïcode\t✓");
    }
}
