//! Times as people write them.

use anyhow::{Context, bail};

/// Parses `5000` (milliseconds), `5s`, `1500ms`, `2m`; answers milliseconds.
pub(crate) fn parse(text: &str) -> anyhow::Result<u64> {
    let milliseconds = match text.parse() {
        Ok(milliseconds) => milliseconds,
        Err(_) => {
            let time = humantime::parse_duration(text).ok();
            let time = time.map(|time| u64::try_from(time.as_millis()));
            let time = time.with_context(|| {
                format!("`{text}` is not a time such as `5s`, `1500ms` or `5000`")
            })?;
            time.with_context(|| format!("`{text}` is too long"))?
        }
    };
    if milliseconds == 0 {
        bail!("`{text}` leaves no time for any call");
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
        ] {
            assert_eq!(parse(text).ok(), Some(milliseconds), "{text}");
        }
        for wrong in ["", "0", "0s", "5 parsecs", "-1", "1.5", "s"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
