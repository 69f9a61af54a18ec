//! Sizes as people write them.

use anyhow::{Context, bail, ensure};

/// The units, and how far each shifts a number.
const UNITS: [(&str, u32); 5] = [("B", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];

/// Parses `4096`, `64KiB`, `10 MiB`, `1GiB`.
pub(crate) fn parse(text: &str) -> anyhow::Result<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        bail!("`{text}` is not a size such as `4096` or `10MiB`");
    }
    if unit.starts_with(['.', ',']) {
        bail!("`{text}` is a fraction; write a whole number of a smaller unit");
    }
    let shift = match unit.strip_prefix(' ') {
        Some("") => bail!("`{text}` has no unit behind its space"),
        Some(unit) => shift_of(unit)?,
        None => shift_of(unit)?,
    };
    let too_large = || format!("`{text}` is too large");
    let number: u64 = number.parse().with_context(too_large)?;
    number.checked_mul(1 << shift).with_context(too_large)
}

/// The same, and not 0, where that would leave room for nothing.
pub(crate) fn some(text: &str) -> anyhow::Result<u64> {
    let size = parse(text)?;
    ensure!(
        size != 0,
        "`{text}` leaves room for nothing: leave it out, or give a size such as `10MiB`"
    );
    Ok(size)
}

fn shift_of(unit: &str) -> anyhow::Result<u32> {
    if unit.is_empty() {
        return Ok(0);
    }
    if let Some((_, shift)) = UNITS.iter().find(|(name, _)| *name == unit) {
        return Ok(*shift);
    }
    // `MB` is a million to some and 1,048,576 to others.
    let means = |name: &str| {
        let (letter, given) = (name[..1].to_lowercase(), unit.to_lowercase());
        [letter.clone(), format!("{letter}b"), format!("{letter}ib")].contains(&given)
    };
    match UNITS.iter().find(|(name, _)| means(name)) {
        Some((name, _)) => bail!("`{unit}` is not a unit; did you mean `{name}`?"),
        None => bail!("`{unit}` is not a unit; use `B`, `KiB`, `MiB`, `GiB` or `TiB`"),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, some};

    #[test]
    fn nothing_is_no_size_where_some_room_is_needed() {
        assert_eq!(some("1").ok(), Some(1));
        for text in ["0", "0MiB"] {
            let told = some(text).unwrap_err().to_string();
            assert!(told.contains("leaves room for nothing"), "{told}");
        }
    }

    #[test]
    fn sizes_have_exact_units() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("4096B", 4096),
            ("10MiB", 10 << 20),
            ("10 MiB", 10 << 20),
            ("1TiB", 1 << 40),
            ("18446744073709551615", u64::MAX),
            ("17179869183GiB", 17_179_869_183 << 30),
        ] {
            assert_eq!(parse(text).ok(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_told_why() {
        for (text, why) in [
            ("", "is not a size"),
            ("MiB", "is not a size"),
            ("-1", "is not a size"),
            ("+1", "is not a size"),
            (" 1", "is not a size"),
            ("1 ", "no unit behind its space"),
            ("1  MiB", "is not a unit"),
            ("1_000", "is not a unit"),
            ("1e3", "is not a unit"),
            ("0x10", "is not a unit"),
            ("10MB", "did you mean `MiB`?"),
            ("10 mb", "did you mean `MiB`?"),
            ("10M", "did you mean `MiB`?"),
            ("10mib", "did you mean `MiB`?"),
            ("10k", "did you mean `KiB`?"),
            ("10b", "did you mean `B`?"),
            ("1.5MiB", "is a fraction"),
            ("1,5MiB", "is a fraction"),
            ("18446744073709551616", "is too large"),
            ("17179869184GiB", "is too large"),
            ("99999999999GiB", "is too large"),
        ] {
            let told = parse(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
