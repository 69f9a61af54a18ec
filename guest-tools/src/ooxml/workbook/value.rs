//! What a cell holds.

use serde::{Serialize, Serializer};

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Flag(bool),
    /// Text, dates as ISO 8601, and errors such as `#DIV/0!`.
    Text(String),
    /// A text that the workbook refers to and does not hold.
    Missing,
}

/// Whole numbers up to this size are written without a point; beyond, not all of them exist.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

impl Value {
    /// The value in words.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Number(number) => match whole(*number) {
                Some(whole) => whole.to_string(),
                None => number.to_string(),
            },
            Self::Flag(flag) => if *flag { "TRUE" } else { "FALSE" }.to_owned(),
            Self::Text(text) => text.clone(),
            Self::Missing => String::new(),
        }
    }

    /// Bytes that it takes, about.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len() + 8,
            _ => 8,
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => match whole(*number) {
                Some(whole) => serializer.serialize_i64(whole),
                None => serializer.serialize_f64(*number),
            },
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Missing => serializer.serialize_unit(),
        }
    }
}

fn whole(number: f64) -> Option<i64> {
    let is_whole = number.trunc() == number && number.abs() <= MAX_WHOLE;
    is_whole.then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_short_as_they_are() {
        for (number, expected) in [
            (2.0, "2"),
            (-0.5, "-0.5"),
            (0.1, "0.1"),
            (1e15, "1000000000000000"),
            (1e300, "1e+300"),
        ] {
            let json = serde_json::to_string(&Value::Number(number)).unwrap();
            assert_eq!(json, expected);
        }
        assert_eq!(Value::Number(3.0).text(), "3");
        assert_eq!(Value::Flag(true).text(), "TRUE");
    }
}
