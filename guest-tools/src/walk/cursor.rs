//! Where a walk was left, so that another call can go on from there.
//!
//! A position is a name and not a number: what comes or goes meanwhile shifts nothing, and
//! what stood there all the time is answered once.

use crate::tool::Failure;
use std::fmt;
use std::str::FromStr;

/// A place between two entries of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The last usable entry before it, relative to the start; empty at the beginning.
    pub(crate) path: String,
    /// How many entries with unusable names stand between that one and the place. They have
    /// no path that could be remembered.
    pub(crate) unusable: usize,
}

/// Cannot stand in a path of a walk, which has no empty names.
const MARK: &str = "//";

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path)?;
        match self.unusable {
            0 => Ok(()),
            count => write!(formatter, "{MARK}{count}"),
        }
    }
}

impl FromStr for Position {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let (path, unusable) = match text.rsplit_once(MARK) {
            Some((path, count)) => match count.parse() {
                Ok(count) if count > 0 => (path, count),
                _ => return Err(foreign(text)),
            },
            None => (text, 0),
        };
        // With a `/` at its end it is before the first entry of a directory.
        let mut names = path.strip_suffix('/').unwrap_or(path).split('/');
        let is_path = names.all(|name| !matches!(name, "" | "." | ".."));
        if !path.is_empty() && !is_path {
            return Err(foreign(text));
        }
        let path = path.to_owned();
        Ok(Self { path, unusable })
    }
}

/// A position in the walks through several roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Which of the starts, in their order.
    pub(crate) start: usize,
    /// What the tool counts besides: a line, a round.
    pub(crate) part: u64,
    pub(crate) position: Position,
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.start, self.part, self.position)
    }
}

impl FromStr for Cursor {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let mut parts = text.splitn(3, ':');
        let mut next = || parts.next().ok_or_else(|| foreign(text));
        Ok(Self {
            start: next()?.parse().map_err(|_| foreign(text))?,
            part: next()?.parse().map_err(|_| foreign(text))?,
            position: next()?.parse()?,
        })
    }
}

impl Cursor {
    /// Of a walk through one directory, whose kind is counted.
    pub(crate) fn of_one(kind: bool, position: Position) -> Self {
        Self {
            start: 0,
            part: kind.into(),
            position,
        }
    }

    /// Where such a walk goes on.
    ///
    /// # Errors
    /// `invalid-arguments` for what no such walk has given.
    pub(crate) fn parsed_of_one(text: Option<&str>, kind: bool) -> Result<Position, Failure> {
        let Some(text) = text else {
            return Ok(Position::default());
        };
        let cursor: Self = text.parse()?;
        let is_own = (cursor.start, cursor.part) == (0, kind.into());
        match is_own && cursor.position != Position::default() {
            true => Ok(cursor.position),
            false => Err(foreign(text)),
        }
    }
}

/// The cursor of an argument that may be left out.
pub(crate) fn parsed<T: FromStr<Err = Failure> + Default>(
    text: Option<&str>,
) -> Result<T, Failure> {
    text.map_or_else(|| Ok(T::default()), str::parse)
}

fn foreign(text: &str) -> Failure {
    Failure::invalid_arguments(format!("`{text}` is not a cursor"))
        .hint("pass `next_cursor` of the answer before, with the other arguments unchanged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_survive_being_text() {
        for (path, unusable) in [
            ("", 0),
            ("", 3),
            ("a/b:c", 0),
            ("a/b", 12),
            ("a/", 0),
            ("a/", 2),
            ("é/7", 1),
        ] {
            let cursor = Cursor {
                start: 2,
                part: 70,
                position: Position {
                    path: path.to_owned(),
                    unusable,
                },
            };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "a",
            "1",
            "1:2",
            "x:0:a",
            "0:x:a",
            "0:0:a//b",
            "-1:0:a",
            "0:0:/a",
            "0:0:a/../b",
            "0:0:.",
            "0:0:a//0",
            "0:0:a////1",
        ] {
            let failure = text.parse::<Cursor>().unwrap_err();
            assert_eq!(failure.code, "invalid-arguments", "{text}");
        }
        assert_eq!(parsed::<Cursor>(None), Ok(Cursor::default()));
    }

    #[test]
    fn a_walk_goes_on_by_its_own_cursor_only() {
        for kind in [false, true] {
            for (path, unusable) in [("a:b/c", 0), ("", 2), ("a", 1)] {
                let path = path.to_owned();
                let position = Position { path, unusable };
                let text = Cursor::of_one(kind, position.clone()).to_string();
                let parsed = |kind| Cursor::parsed_of_one(Some(&text), kind);
                assert_eq!(parsed(kind), Ok(position));
                assert_eq!(parsed(!kind).unwrap_err().code, "invalid-arguments");
            }
            for text in ["", "a", "2", "0:0:", "0:1:", "1:0:a", "1:1:a", "0:2:a"] {
                let failure = Cursor::parsed_of_one(Some(text), kind).unwrap_err();
                assert!(failure.hint.contains("next_cursor"), "{text}");
            }
            assert_eq!(Cursor::parsed_of_one(None, kind), Ok(Position::default()));
        }
    }
}
