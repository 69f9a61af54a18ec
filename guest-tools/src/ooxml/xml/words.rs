//! Short texts, eight bytes at a time: a component has no routines of a processor for them.

/// The lowest and the highest bit of each byte.
const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Whether two texts are the same.
pub(in crate::ooxml) fn is_same(one: &str, other: &str) -> bool {
    are_same(one.as_bytes(), other.as_bytes())
}

/// The same of bytes. What differs in names of namespaces is their end.
pub(super) fn are_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    if one.len() <= 8 {
        return ends(one) == ends(other);
    }
    let (words, other_words) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
    let mut words = words.iter().zip(other_words).rev();
    one.last_chunk::<8>() == other.last_chunk::<8>() && words.all(|(one, other)| one == other)
}

/// Whether a value stands for itself: without control characters, such as line ends, and without
/// references.
pub(super) fn is_plain(value: &str) -> bool {
    let bytes = value.as_bytes();
    let (words, _) = bytes.as_chunks::<8>();
    match bytes.last_chunk::<8>() {
        Some(last) => {
            let mut words = words.iter().chain([last]);
            words.all(|word| are_plain(u64::from_ne_bytes(*word)))
        }
        None => match bytes.len() {
            0..4 => bytes.iter().all(|byte| *byte >= b' ' && *byte != b'&'),
            _ => are_plain(ends(bytes)),
        },
    }
}

/// All of up to eight bytes, some of them twice; of one number of bytes only one text has a word.
fn ends(bytes: &[u8]) -> u64 {
    match (bytes, bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        ([first], ..) => u64::from(*first),
        (_, Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ => {
            let byte = |index| u64::from(bytes.get(index).copied().unwrap_or_default());
            byte(0) | byte(1) << 8 | byte(2) << 16
        }
    }
}

/// The same of eight bytes: a byte below another is one that borrows when that is taken from it,
/// unless its highest bit is set; `&` is one whose difference from that is below 1.
fn are_plain(word: u64) -> bool {
    let below = |word: u64, byte: u8| word.wrapping_sub(ONES * u64::from(byte)) & !word & HIGH;
    let differences = word ^ (ONES * u64::from(b'&'));
    below(word, b' ') | below(differences, 1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_counts_wherever_it_stands() {
        for length in 0..20 {
            let text = "x".repeat(length);
            assert!(is_same(&text, &text.clone()) && is_plain(&text));
            assert!(!is_same(&text, &"x".repeat(length + 1)));
            for place in 0..length {
                for byte in 0..0x80_u8 {
                    let mut bytes = text.clone().into_bytes();
                    bytes[place] = byte;
                    let changed = String::from_utf8(bytes).unwrap();
                    assert_eq!(is_same(&text, &changed), byte == b'x');
                    assert_eq!(is_plain(&changed), byte >= b' ' && byte != b'&');
                }
            }
        }
        assert!(is_plain("Grüße, 世界 🙂 und mehr"));
        assert!(!is_plain("Grüße, 世界 🙂 &amp; mehr"));
    }
}
