//! UTF-16 that does not say so: without a byte order mark it would pass for UTF-8 with a NUL
//! beside every letter.

use memchr::memchr;

/// Bytes by which it is told.
const TELLING: usize = 4096;

/// Of 100 pairs of bytes so many have a NUL in text of Latin letters, and fewer in random bytes.
const LATIN: usize = 70;
/// Of 100 pairs so many have one in other scripts, in spaces and line ends.
const SPACED: usize = 3;
/// Of 100 letters so many are of one script, or of ASCII.
const OF_ONE_SCRIPT: usize = 90;

/// The label of the UTF-16 that a file without a mark seems to be in, by how it begins.
pub(super) fn unmarked_utf_16(head: &[u8]) -> Option<&'static str> {
    let head = &head[..head.len().min(TELLING)];
    memchr(0, head)?;
    let (even, odd) = (nuls(head, 0), nuls(head, 1));
    match odd > even {
        true => is_utf_16(head, (odd, even), u16::from_le_bytes).then_some("utf-16le"),
        false => is_utf_16(head, (even, odd), u16::from_be_bytes).then_some("utf-16be"),
    }
}

fn nuls(head: &[u8], parity: usize) -> usize {
    let bytes = head.iter().skip(parity).step_by(2);
    bytes.filter(|byte| **byte == 0).count()
}

/// `high` NULs stand where the higher bytes would, `low` ones where the lower.
fn is_utf_16(head: &[u8], (high, low): (usize, usize), unit: fn([u8; 2]) -> u16) -> bool {
    let pairs = head.chunks_exact(2);
    let units: Vec<u16> = pairs.map(|pair| unit([pair[0], pair[1]])).collect();
    let is_enough = high >= 2 && low * 8 <= high;
    let has_of_100 = |most: usize| high * 100 >= units.len() * most;
    is_enough
        && (has_of_100(LATIN) || (has_of_100(SPACED) && is_of_one_script(&units)))
        && is_text(&units)
}

fn is_of_one_script(units: &[u16]) -> bool {
    let mut counts = [0_usize; 256];
    for unit in units {
        counts[usize::from(unit >> 8)] += 1;
    }
    let most = counts[1..].iter().max().unwrap_or(&0);
    (counts[0] + most) * 100 >= units.len() * OF_ONE_SCRIPT
}

/// Whether the units are characters that stand in texts. The last may be cut off.
fn is_text(units: &[u16]) -> bool {
    let mut characters = char::decode_utf16(units.iter().copied()).peekable();
    while let Some(character) = characters.next() {
        let is_last = characters.peek().is_none();
        match character {
            Ok(c) if c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c') => return false,
            Ok('\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}') => return false,
            Err(_) if !is_last => return false,
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn le(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn be(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_be_bytes).collect()
    }

    #[test]
    fn texts_are_recognised_in_either_order() {
        for text in [
            "hi",
            "Name,Wert\r\nM\u{fc}ller,3 \u{20ac}\r\n",
            "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43c}\u{438}\u{440}\n",
            "a \u{1f600} smile\n",
            &"caf\u{e9}\t".repeat(2000),
        ] {
            assert_eq!(unmarked_utf_16(&le(text)), Some("utf-16le"), "{text:?}");
            assert_eq!(unmarked_utf_16(&be(text)), Some("utf-16be"), "{text:?}");
        }
    }

    #[test]
    fn texts_with_a_nul_and_other_bytes_are_not() {
        for bytes in [
            &b""[..],
            b"plain",
            b"a\0b",
            b"ab\0c",
            b"find . -print0\0and more text\0and more\0",
            b"one\0two\0three\0four\0",
            b"abc\0xyz\0klm\0",
            b"PK\x05\x06\0\0\0\0",
            &[0; 64],
            b"\x01\0\x02\0\x03\0",
            b"RIFF\x24\0\0\0WAVE",
        ] {
            assert_eq!(unmarked_utf_16(bytes), None, "{bytes:?}");
        }
    }
}
