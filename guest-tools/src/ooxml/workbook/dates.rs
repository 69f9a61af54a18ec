//! Dates as numbers of days, in both systems (ECMA-376 part 1, 18.17.4).

/// What a number with a format means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ooxml) enum Meaning {
    Number,
    Date,
    Time,
    DateTime,
    /// Hours, minutes or seconds that have passed.
    Duration,
}

/// Days from the start of one system to that of the other.
const FROM_1904: f64 = 1462.0;
/// The first day that the 1900 system counts right: it has a 29th of February 1900.
const MARCH_1900: i64 = 61;
/// The last day of the year 9999, where Excel ends.
const LAST_DAY: f64 = 2_958_465.0;
/// Days from the first of January 1970 to day 0 of the 1900 system, as counted from March on.
const EPOCH: i64 = -25_569;
const DAY_IN_MILLISECONDS: i64 = 86_400_000;

/// A number as ISO 8601; nothing when it is no date.
pub(in crate::ooxml) fn iso(number: f64, meaning: Meaning, from_1904: bool) -> Option<String> {
    if meaning == Meaning::Duration {
        return duration(number);
    }
    let shift = if from_1904 { FROM_1904 } else { 0.0 };
    if !(0.0..=LAST_DAY + 1.0).contains(&(number + shift)) || number < 0.0 {
        return None;
    }
    let milliseconds = (number * DAY_IN_MILLISECONDS as f64).round() as i64;
    let days = milliseconds / DAY_IN_MILLISECONDS;
    let time = milliseconds % DAY_IN_MILLISECONDS;
    let is_time_only = days == 0 && (!from_1904 || meaning == Meaning::Time);
    if is_time_only {
        return Some(clock(time));
    }
    let date = date(days + shift as i64);
    Some(match (meaning, time) {
        (Meaning::Date, 0) => date,
        (Meaning::Time, 0) | (Meaning::DateTime, _) | (_, 1..) => format!("{date}T{}", clock(time)),
        _ => date,
    })
}

fn duration(number: f64) -> Option<String> {
    if !(-LAST_DAY..=LAST_DAY).contains(&number) {
        return None;
    }
    let milliseconds = (number.abs() * DAY_IN_MILLISECONDS as f64).round() as i64;
    let sign = if number < 0.0 { "-" } else { "" };
    let (hours, minutes) = (milliseconds / 3_600_000, milliseconds / 60_000 % 60);
    let seconds = seconds(milliseconds % 60_000);
    let seconds = seconds.trim_start_matches('0');
    let mut text = format!("{sign}PT");
    if hours > 0 {
        text.push_str(&format!("{hours}H"));
    }
    if minutes > 0 {
        text.push_str(&format!("{minutes}M"));
    }
    if !seconds.is_empty() || text.ends_with('T') {
        let zero = if seconds.is_empty() || seconds.starts_with('.') {
            "0"
        } else {
            ""
        };
        text.push_str(&format!("{zero}{seconds}S"));
    }
    Some(text)
}

fn clock(milliseconds: i64) -> String {
    let (hours, minutes) = (milliseconds / 3_600_000, milliseconds / 60_000 % 60);
    let seconds = seconds(milliseconds % 60_000);
    format!("{hours:02}:{minutes:02}:{seconds}")
}

/// Seconds with two digits, and what is behind the point if anything is.
fn seconds(milliseconds: i64) -> String {
    match (milliseconds / 1000, milliseconds % 1000) {
        (seconds, 0) => format!("{seconds:02}"),
        (seconds, rest) => {
            let text = format!("{seconds:02}.{rest:03}");
            text.trim_end_matches('0').to_owned()
        }
    }
}

/// A day of the 1900 system.
fn date(day: i64) -> String {
    // Day 60 never was; Excel shows it like this.
    if day == MARCH_1900 - 1 {
        return "1900-02-29".to_owned();
    }
    let day = if day < MARCH_1900 { day + 1 } else { day };
    let (year, month, day) = civil(day + EPOCH);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day from days since 1970, after Howard Hinnant's `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::Meaning::{Date, DateTime, Duration, Time};
    use super::*;

    #[test]
    fn dates_are_iso_8601() {
        for (number, meaning, expected) in [
            (1.0, Date, "1900-01-01"),
            (59.0, Date, "1900-02-28"),
            (60.0, Date, "1900-02-29"),
            (61.0, Date, "1900-03-01"),
            (25_569.0, Date, "1970-01-01"),
            (46_205.0, Date, "2026-07-02"),
            (2_958_465.0, Date, "9999-12-31"),
            (46_205.5, Date, "2026-07-02T12:00:00"),
            (46_205.0, DateTime, "2026-07-02T00:00:00"),
            (46_205.999_999_999_9, DateTime, "2026-07-03T00:00:00"),
            (0.437_5, Time, "10:30:00"),
            (0.0, Time, "00:00:00"),
            (33_966.260_424_62, DateTime, "1992-12-28T06:15:00.687"),
        ] {
            assert_eq!(
                iso(number, meaning, false).as_deref(),
                Some(expected),
                "{number}"
            );
        }
    }

    #[test]
    fn the_other_system_starts_in_1904() {
        assert_eq!(iso(44_743.0, Date, true).as_deref(), Some("2026-07-02"));
        assert_eq!(iso(0.0, Date, true).as_deref(), Some("1904-01-01"));
        assert_eq!(iso(0.5, Time, true).as_deref(), Some("12:00:00"));
    }

    #[test]
    fn durations_are_iso_8601_too() {
        for (number, expected) in [
            (1.104_166_666_666_667, "PT26H30M"),
            (0.0, "PT0S"),
            (-0.5, "-PT12H"),
            (1.5 / 86_400.0, "PT1.5S"),
            (0.5 / 86_400.0, "PT0.5S"),
            (10.0 / 86_400.0, "PT10S"),
        ] {
            assert_eq!(iso(number, Duration, false).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for number in [-1.0, 3e9, f64::NAN, f64::INFINITY] {
            assert_eq!(iso(number, Date, false), None);
            assert_eq!(iso(number * 1e9, Duration, false), None);
        }
    }
}
