//! Whole files, for tools that need no more.

use super::{ErrorCode, Miss, PathFlags, Roots, open, put};
use crate::{Error, Failure};
use serde_json::json;

/// The bytes of a file.
///
/// # Errors
/// `not-granted` without a read root; `not-a-file` for a directory; else the host's.
///
/// # Limits
/// The host's on bytes that are read.
pub fn read(path: &str) -> Result<Vec<u8>, Error> {
    open(path)?.read_all()
}

/// The text of a file in UTF-8; a byte order mark at its start is left out.
///
/// # Errors
/// As [`read`]; `not-text` with the place of what is not UTF-8.
pub fn read_to_string(path: &str) -> Result<String, Error> {
    Ok(text(path, read(path)?)?)
}

/// Whether there is anything at a path, in any read root. Links are followed.
///
/// # Errors
/// `not-granted` without a read root; else the host's, such as `escape`.
pub fn exists(path: &str) -> Result<bool, Error> {
    let follow = PathFlags::SYMLINK_FOLLOW;
    match Roots::preopened().look_up(|root| root.stat_at(follow, path)) {
        Ok(_) => Ok(true),
        Err(Miss::Absent) => Ok(false),
        Err(miss) => Err(miss.into()),
    }
}

/// Writes a file that does not exist yet, and makes the directories it stands in.
///
/// # Errors
/// `not-granted` without a write root; `exists` when the name is taken; else the host's.
pub fn create(path: &str, content: &[u8]) -> Result<(), Error> {
    match put(Roots::preopened().writable()?, path, content, false) {
        Err(ErrorCode::Exist) => Err(taken(path).into()),
        created => Ok(created.map(drop)?),
    }
}

/// Writes a file, new or in the place of an existing one; true when it is new. Whether one is
/// replaced is the user's decision, and asked by the host.
///
/// # Errors
/// `not-granted` without a write root; `overwrite-denied` and the like; else the host's.
pub fn write(path: &str, content: &[u8]) -> Result<bool, Error> {
    Ok(put(Roots::preopened().writable()?, path, content, true)?)
}

fn text(path: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    const MARK: &str = "\u{feff}";
    let mut text = String::from_utf8(bytes)
        .map_err(|error| not_text(path, error.utf8_error().valid_up_to()))?;
    if text.starts_with(MARK) {
        text.drain(..MARK.len());
    }
    Ok(text)
}

fn not_text(path: &str, offset: usize) -> Failure {
    let message = format!("`{path}` is not UTF-8 text: the first bad byte is at offset {offset}");
    Failure::new("not-text", message)
        .hint("name a text file, or have this one written as UTF-8")
        .details(&json!({ "offset": offset }))
}

fn taken(path: &str) -> Failure {
    Failure::new("exists", format!("`{path}` exists already")).hint("choose another name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf_8_without_its_mark() {
        assert_eq!(
            text("a", b"\xef\xbb\xbfcaf\xc3\xa9".to_vec()).unwrap(),
            "café"
        );
        let failure = text("a", b"ab\xff".to_vec()).unwrap_err();
        assert_eq!(
            (failure.code, &*failure.details),
            ("not-text", r#"{"offset":2}"#)
        );
    }

    #[test]
    fn a_taken_name_is_refused_with_the_way_on() {
        assert_eq!(taken("a").code, "exists");
        assert!(!taken("a").hint.is_empty());
    }
}
