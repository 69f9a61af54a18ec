//! Numbers in a range.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// A whole number from `LEAST` to `MOST`, both included.
///
/// As an argument it stands in the schema with its range, and a number outside of it is
/// refused with the range. A `MOST` of `u64::MAX` is no limit and not shown.
///
/// # Examples
/// ```
/// use rootbound_tool::Within;
///
/// let limit: Within<1, 100> = serde_json::from_str("20")?;
/// assert_eq!(limit.get(), 20);
/// assert!(serde_json::from_str::<Within<1, 100>>("0").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Within<const LEAST: u64, const MOST: u64>(u64);

impl<const LEAST: u64, const MOST: u64> Within<LEAST, MOST> {
    /// The number, if it is in the range.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        (LEAST..=MOST).contains(&number).then_some(Self(number))
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

impl<const LEAST: u64, const MOST: u64> From<Within<LEAST, MOST>> for u64 {
    fn from(number: Within<LEAST, MOST>) -> Self {
        number.0
    }
}

/// A number that is too large to be counted by this machine counts as the largest that is not.
impl<const LEAST: u64, const MOST: u64> From<Within<LEAST, MOST>> for usize {
    fn from(number: Within<LEAST, MOST>) -> Self {
        Self::try_from(number.0).unwrap_or(Self::MAX)
    }
}

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Within<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        let expected = &*format!("a number from {LEAST} to {MOST}");
        Self::new(number)
            .ok_or_else(|| D::Error::invalid_value(Unexpected::Unsigned(number), &expected))
    }
}

impl<const LEAST: u64, const MOST: u64> JsonSchema for Within<LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Within_{LEAST}_{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({ "type": "integer", "minimum": LEAST });
        if MOST < u64::MAX {
            schema.insert("maximum".to_owned(), MOST.into());
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_in_the_range_are_taken() {
        let read = |text| {
            serde_json::from_str::<Within<2, 4>>(text)
                .ok()
                .map(Within::get)
        };
        assert_eq!(read("2"), Some(2));
        assert_eq!(read("4"), Some(4));
        for text in ["1", "5", "-3", "2.0", "\"3\"", "null"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(Within::<0, 9>::new(10), None);
        assert_eq!(usize::from(Within::<0, 9>::new(9).unwrap()), 9);
    }
}
