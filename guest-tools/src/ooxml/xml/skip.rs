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
    let inside = &markup[read..end];
    // Nearly all values stand in double quotes, and hold no `>`. Bytes are added up, since many of
    // them fit into one register.
    let (mut double, mut single) = (0, 0);
    for byte in inside {
        double ^= u8::from(*byte == b'"');
        single |= u8::from(*byte == b'\'');
    }
    match (double, single) {
        (0, 0) => Some(end + 1),
        _ => tag_by_value(markup, read),
    }
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
    use super::length_inside;

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
