//! Random names, and bytes as hexadecimal text.

use rustix::rand::{GetRandomFlags, getrandom};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// `N` random bytes as lower-case hexadecimal text.
pub(crate) fn hex<const N: usize>() -> String {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        // Linux answers short only when a signal interrupts; other errors cannot happen
        // with a valid buffer and no flags (getrandom(2)).
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty()).unwrap_or(0);
    }
    hex_of(&bytes)
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
