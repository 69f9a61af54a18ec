//! Random names, and bytes as hexadecimal text.

use rustix::rand::{GetRandomFlags, getrandom};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// `N` random bytes as lower-case hexadecimal text.
pub(crate) fn hex<const N: usize>() -> String {
    hex_of(&bytes::<N>())
}

/// `N` random bytes.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}

/// Fills a buffer with random bytes.
pub(crate) fn fill(bytes: &mut [u8]) {
    let mut filled = 0;
    while filled < bytes.len() {
        // Linux answers short only when a signal interrupts; other errors cannot happen
        // with a valid buffer and no flags (getrandom(2)).
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty()).unwrap_or(0);
    }
}

/// Bytes as lower-case hexadecimal text.
pub(crate) fn hex_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

/// The bytes that hexadecimal text stands for, if there are exactly `N`.
pub(crate) fn bytes_of<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}
