//! Sizes as people write them.

use anyhow::{Context, bail};

/// Parses `4096`, `64KiB`, `10MiB`, `1GiB`.
pub(crate) fn parse(text: &str) -> anyhow::Result<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number
        .parse()
        .with_context(|| format!("`{text}` is not a size such as `4096` or `10MiB`"))?;
    let shift = match unit {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        other => bail!("`{other}` is not a unit; use `B`, `KiB`, `MiB` or `GiB`"),
    };
    number
        .checked_mul(1 << shift)
        .with_context(|| format!("`{text}` is too large"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_have_exact_units() {
        assert_eq!(parse("4096").ok(), Some(4096));
        assert_eq!(parse("10MiB").ok(), Some(10 << 20));
        for wrong in ["", "MiB", "10MB", "-1", "1.5MiB", "99999999999GiB"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
