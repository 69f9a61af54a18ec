//! Times and durations as people write them.

use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};

/// Parses `90s`, `15min`, `24h`, `7d`.
pub(crate) fn duration(text: &str) -> anyhow::Result<Duration> {
    // humantime's `M` is a month, and whoever writes it means a minute.
    if text.contains('M') {
        bail!("`M` is not a unit of time; use `min` or `month`");
    }
    match humantime::parse_duration(text) {
        Ok(time) => Ok(time),
        Err(humantime::DurationError::NumberOverflow) => bail!("`{text}` is too long, or too fine"),
        Err(_) => bail!("`{text}` is not a time such as `90s`, `24h` or `7d`"),
    }
}

/// The same, and not 0.
pub(crate) fn some(text: &str) -> anyhow::Result<Duration> {
    let time = duration(text)?;
    if time.is_zero() {
        bail!("`{text}` is no time: leave it out, or give one such as `24h`");
    }
    Ok(time)
}

/// Parses `2026-01-31T12:00:00Z`, or how long ago.
pub(crate) fn since(text: &str) -> anyhow::Result<SystemTime> {
    if let Ok(time) = humantime::parse_rfc3339(text) {
        return Ok(time);
    }
    let ago = humantime::parse_duration(text).with_context(|| {
        format!("`{text}` is neither a time such as `2026-01-31T12:00:00Z` nor one such as `90min`")
    })?;
    // No log is as old as the epoch, and nothing before it can be written as such a time.
    let time = SystemTime::now().checked_sub(ago);
    Ok(time
        .filter(|time| *time > SystemTime::UNIX_EPOCH)
        .unwrap_or(SystemTime::UNIX_EPOCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        let seconds = |text| duration(text).ok().map(|time| time.as_secs_f32());
        for (text, expected) in [
            ("90s", 90.0),
            ("1h 30min", 5400.0),
            ("1.5s", 1.5),
            ("7 days", 604_800.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for (text, why) in [
            ("", "is not a time"),
            ("7", "is not a time"),
            ("-7d", "is not a time"),
            ("7 fortnights", "is not a time"),
            ("5M", "not a unit of time"),
            ("18446744073709551616s", "is too long"),
            ("0.5ns", "or too fine"),
        ] {
            let told = duration(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }

    #[test]
    fn no_time_is_none_where_some_is_needed() {
        assert!(some("1s").is_ok() && duration("0s").is_ok());
        let told = some("0s").unwrap_err().to_string();
        assert!(told.contains("is no time"), "{told}");
    }

    #[test]
    fn times_are_absolute_or_ago() {
        let absolute = since("1970-01-01T00:01:00Z").ok();
        assert_eq!(
            absolute,
            Some(SystemTime::UNIX_EPOCH + Duration::from_secs(60))
        );
        let ago = since("1h").ok().and_then(|time| time.elapsed().ok());
        assert!(ago.is_some_and(|ago| ago.as_secs() / 60 == 60));
        for all in ["9000y", "99999999999d", "18446744073709551615s"] {
            assert_eq!(since(all).ok(), Some(SystemTime::UNIX_EPOCH), "{all}");
        }
        for wrong in ["", "yesterday", "1970-01-01"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
