//! Numbers of things.

use std::num::IntErrorKind;
use std::str::FromStr;

use anyhow::{bail, ensure};

/// Parses a whole number.
pub(crate) fn parse<T: FromStr<Err = std::num::ParseIntError>>(text: &str) -> anyhow::Result<T> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
            bail!("`{text}` is too large")
        }
        Err(_) => bail!("`{text}` is not a whole number such as `100`"),
    }
}

/// The same, and not 0, where that would leave no call possible.
pub(crate) fn some<T>(text: &str) -> anyhow::Result<T>
where
    T: FromStr<Err = std::num::ParseIntError> + PartialEq + Default,
{
    let number = parse(text)?;
    ensure!(
        number != T::default(),
        "`{text}` leaves no call possible: leave it out, or give a number such as `100`"
    );
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::{parse, some};

    #[test]
    fn none_is_no_number_where_some_are_needed() {
        assert_eq!(parse::<u32>("0").ok(), Some(0));
        assert_eq!(some::<u32>("1").ok(), Some(1));
        for text in ["0", "00"] {
            let told = some::<u32>(text).unwrap_err().to_string();
            assert!(told.contains("leaves no call possible"), "{told}");
        }
    }

    #[test]
    fn numbers_are_whole_and_fit() {
        assert_eq!(parse::<u32>("100").ok(), Some(100));
        assert_eq!(parse::<u32>("4294967295").ok(), Some(u32::MAX));
        for (text, why) in [
            ("", "whole number"),
            ("-1", "whole number"),
            ("1.0", "whole number"),
            ("10KiB", "whole number"),
            ("many", "whole number"),
            ("4294967296", "too large"),
        ] {
            let told = parse::<u32>(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
