//! How long a call may take, as people write it.

use anyhow::{Context, bail};

use super::times;

/// Parses `5000` (milliseconds), `5s`, `1500ms`, `2m`; answers milliseconds.
pub(crate) fn parse(text: &str) -> anyhow::Result<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let too_long = || format!("`{text}` is too long");
    let milliseconds = match is_number {
        true => text.parse().with_context(too_long)?,
        false => u64::try_from(times::duration(text)?.as_millis()).with_context(too_long)?,
    };
    if milliseconds == 0 {
        bail!("`{text}` leaves no time for anything");
    }
    Ok(milliseconds)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_are_milliseconds_or_have_a_unit() {
        for (text, milliseconds) in [
            ("5000", 5000),
            ("5s", 5000),
            ("1500ms", 1500),
            ("2m", 120_000),
            ("1.5s", 1500),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text).ok(), Some(milliseconds), "{text}");
        }
        for (text, why) in [
            ("", "is not a time"),
            ("0", "no time for anything"),
            ("0s", "no time for anything"),
            ("999us", "no time for anything"),
            ("5 parsecs", "is not a time"),
            ("-1", "is not a time"),
            ("+1", "is not a time"),
            ("1.5", "is not a time"),
            ("s", "is not a time"),
            ("5M", "not a unit of time"),
            ("18446744073709551616", "is too long"),
            ("1000000000years", "is too long"),
        ] {
            let told = parse(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
