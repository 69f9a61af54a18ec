//! How far it is to the end of an element that nobody reads.

use memchr::{memchr, memchr3, memmem};

/// The length of what stands in an element, from behind its start tag to before its end tag.
/// Names are not compared: what follows is, by whoever reads it.
pub(super) fn length_inside(text: &[u8]) -> Option<usize> {
    let mut depth = 0_u64;
    let mut position = 0;
    loop {
        if text.get(position) != Some(&b'<') {
            position += memchr(b'<', &text[position..])?;
        }
        let markup = &text[position..];
        let length = match markup.get(1)? {
            b'/' if depth == 0 => return Some(position),
            b'/' => {
                depth -= 1;
                memchr(b'>', markup)? + 1
            }
            b'!' => declaration(markup)?,
            b'?' => memmem::find(markup, b"?>")? + 2,
            _ => {
                let length = tag(markup, 1)?;
                depth += u64::from(markup[length - 2] != b'/');
                length
            }
        };
        position += length;
    }
}

/// The length of a comment or of a section of characters; there is nothing else inside.
fn declaration(markup: &[u8]) -> Option<usize> {
    let (start, end) = match markup.starts_with(b"<!--") {
        true => (b"<!--".len(), &b"-->"[..]),
        false if markup.starts_with(b"<![CDATA[") => (b"<![CDATA[".len(), &b"]]>"[..]),
        false => return None,
    };
    Some(start + memmem::find(&markup[start..], end)? + end.len())
}

/// The length of a tag, in whose values `>` may stand, of which some bytes have been read.
pub(super) fn tag(markup: &[u8], read: usize) -> Option<usize> {
    let end = read + memchr(b'>', &markup[read..])?;
    match holds_pairs(markup, read, end) {
        true => Some(end + 1),
        false => tag_by_value(markup, read),
    }
}

/// Whether all values stand in double quotes, and none of them goes on behind this part of a tag:
/// so it is with nearly all tags, but for the last ones of a part, which are not looked at.
///
/// Eight bytes are looked at in one word. Left to a compiler this becomes code of SIMD whose
/// shuffles are calls out of the component where it is compiled for any CPU; and each turn of a
/// loop costs, since a component looks whether it is to stop.
fn holds_pairs(markup: &[u8], mut from: usize, end: usize) -> bool {
    let mut double = 0;
    while from < end {
        let Some(word) = markup.get(from..).and_then(<[u8]>::first_chunk) else {
            return false;
        };
        let behind = (from + 8).saturating_sub(end) as u32;
        let inside = u64::MAX >> (8 * behind);
        let word = u64::from_le_bytes(*word) & inside;
        if places(word, b'\'') != 0 {
            return false;
        }
        double ^= places(word, b'"');
        from += 8;
    }
    is_even(double)
}

/// Whether an even number of bytes has its highest bit set, of bytes that have no other.
fn is_even(places: u64) -> bool {
    let count = (places >> 7).wrapping_mul(u64::from_ne_bytes([1; 8])) >> 56;
    count.is_multiple_of(2)
}

/// The highest bit of each byte of a word that is a certain one.
fn places(word: u64, byte: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let other = word ^ u64::from_ne_bytes([byte; 8]);
    !(((other & LOW) + LOW) | other | LOW)
}

/// The same, value after value.
fn tag_by_value(markup: &[u8], mut length: usize) -> Option<usize> {
    loop {
        length += memchr3(b'>', b'"', b'\'', &markup[length..])? + 1;
        match markup[length - 1] {
            b'>' => return Some(length),
            quote => length += memchr(quote, &markup[length..])? + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_even, length_inside, places};

    #[test]
    fn the_end_is_found_behind_all_that_may_stand_inside() {
        for inside in [
            "",
            "text",
            "<a></a>",
            "<a/><b x='/'/>",
            "<a><a><b></b></a></a>",
            "<a x='</r>' y=\"'>\"></a>",
            "<!-- </r> -- ' --><?p </r> '?><![CDATA[</r>]]>",
            "<!--></r>-->",
            "<a first='1' second=\"it's </r>\" third='\"</r>'></a>",
            "<a first=\"1\" second=\"</r> in a value that is longer than eight bytes\"/>",
        ] {
            let text = format!("{inside}</r></outer>");
            assert_eq!(
                length_inside(text.as_bytes()),
                Some(inside.len()),
                "{inside}"
            );
        }
    }

    #[test]
    fn bytes_are_found_in_words() {
        for word in [*b"\"a\"\0\xff\x22#!", *b"\x21\x23\xa2\x22\x22\x80\x7f\x01"] {
            let found = places(u64::from_le_bytes(word), b'"').to_le_bytes();
            let expected = word.map(|byte| if byte == b'"' { 0x80 } else { 0 });
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn quotes_are_paired_over_words() {
        for count in 0..=8 {
            let word = places(u64::from_le_bytes(*b"        "), b' ');
            let word = word.checked_shl(8 * count).unwrap_or_default();
            assert_eq!(is_even(word), count % 2 == 0);
        }
    }

    #[test]
    fn what_has_no_end_is_told() {
        for text in [
            "",
            "<a>",
            "<a></a>",
            "<",
            "<!-- </r>",
            "<![CDATA[</r>",
            "<!D></r>",
            "<a x='></r>",
        ] {
            assert_eq!(length_inside(text.as_bytes()), None, "{text}");
        }
    }
}
