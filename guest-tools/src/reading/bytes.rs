//! Reading bytes as they are.

use super::part::{From, Part, Reader};
use super::refusals::foreign_cursor;
use super::{Facts, Reading};
use crate::magic::media_type;
use crate::text::Place;
use crate::tool::{Content, Error};

/// A part of the bytes themselves.
pub(super) fn read(
    path: &str,
    read: Reader<'_>,
    part: &Part,
    mut facts: Facts,
) -> Result<Reading, Error> {
    let start = match part.from {
        From::Cursor(place, _) => place.byte,
        From::Line(_) | From::Last(_) => 0,
    };
    if start > facts.size {
        return Err(foreign_cursor(path, facts.size).into());
    }
    let wanted = (facts.size - start).min(part.most.map_or(u64::MAX, |most| most as u64));
    let mut data = Vec::new();
    while (data.len() as u64) < wanted {
        let got = data.len() as u64;
        let (more, at_end) = read(wanted - got, start + got)?;
        let is_short = (more.len() as u64) < wanted - got;
        data.extend_from_slice(&more);
        if at_end || is_short {
            break;
        }
    }
    let end = start + data.len() as u64;
    if end < facts.size {
        facts = facts.continued_at(Place {
            line: 1,
            byte: end,
            inside: true,
        });
    }
    let mime_type = match start {
        0 => media_type(&data),
        _ => "application/octet-stream",
    };
    let mime_type = mime_type.to_owned();
    let content = Content::Bytes { data, mime_type };
    Ok(Reading { facts, content })
}
