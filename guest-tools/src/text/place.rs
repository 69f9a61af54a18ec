//! A place in a text, and how a caller takes it from one answer to the next question.

use std::fmt;
use std::str::FromStr;

/// Where a line starts or, after an answer was cut inside it, goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Counted from 1 or, where only the end of the file was seen, from its end: -1 is the
    /// last line.
    pub(crate) line: i64,
    pub(crate) byte: u64,
    /// Whether this is not where the line starts.
    pub(crate) inside: bool,
}

impl Place {
    /// Where the first line starts.
    pub(crate) fn first(byte: u64) -> Self {
        Self {
            line: 1,
            byte,
            inside: false,
        }
    }

    /// Some bytes on: behind so many line feeds, with or without the last of them at the end.
    pub(crate) fn behind(self, bytes: u64, line_feeds: u64, ends_a_line: bool) -> Self {
        Self {
            line: self.line.saturating_add_unsigned(line_feeds),
            byte: self.byte + bytes,
            inside: !ends_a_line && (bytes > 0 || self.inside),
        }
    }
}

/// `LINE:BYTE`, and `LINE+:BYTE` inside a line.
impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = if self.inside { "+" } else { "" };
        write!(formatter, "{}{inside}:{}", self.line, self.byte)
    }
}

/// The text is no place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoPlace;

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let (line, byte) = text.split_once(':').ok_or(NoPlace)?;
        let (line, inside) = match line.strip_suffix('+') {
            Some(line) => (line, true),
            None => (line, false),
        };
        let line: i64 = line.parse().map_err(|_| NoPlace)?;
        let byte = byte.parse().map_err(|_| NoPlace)?;
        match line {
            0 => Err(NoPlace),
            line => Ok(Self { line, byte, inside }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_being_written() {
        for text in ["1:0", "12+:4096", "-3:10737418240", "-1+:7"] {
            let place: Place = text.parse().unwrap();
            assert_eq!(place.to_string(), text);
        }
        for text in ["", "1", ":", "0:0", "1:-1", "+:1", "a:b", "1:2:3", "1++:2"] {
            assert_eq!(text.parse::<Place>(), Err(NoPlace), "{text}");
        }
    }
}
