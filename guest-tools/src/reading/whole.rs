//! Reading a file at once.

use super::refusals::{not_text, nothing_but_nul};
use super::{Facts, Reading, Wish, sha256};
use crate::files::OpenFile;
use crate::magic::{is_media, media_type};
use crate::text::{Choice, Decoding, Endings};
use crate::tool::{Content, Error};

/// A container of media has a NUL this early; text that starts like one has none.
const HEADER: usize = 32;

pub(super) fn read(
    path: &str,
    file: &OpenFile,
    wish: &Wish,
    mut facts: Facts,
) -> Result<Reading, Error> {
    let bytes = file.read_all()?;
    facts.size = bytes.len() as u64;
    facts.sha256 = wish.hash.then(|| sha256(&bytes));
    if wish.choice == Choice::Base64
        || (may_be_media(wish) && is_plainly_media(wish.choice, &bytes))
    {
        return Ok(as_bytes(facts, bytes));
    }
    if may_be_media(wish) && !bytes.is_empty() && is_blank(&bytes) {
        return Err(nothing_but_nul(path).into());
    }
    wish.refuse_overlooked(path, &bytes)?;
    let encoding = wish.choice.at_start_of(&bytes);
    let decoding = Decoding {
        encoding,
        replace: wish.replace,
    };
    let skipped = encoding.start() as usize;
    match decoding.decode(behind(bytes, skipped), usize::MAX, true) {
        Ok(decoded) => {
            let endings = Endings::of(&decoded.text);
            let mut facts = facts.of_text(encoding, endings);
            facts.lines = Some(endings.lines());
            let content = Content::Text(decoded.text);
            Ok(Reading { facts, content })
        }
        Err(bad) if may_be_media(wish) && skipped == 0 && is_media(media_type(&bad.bytes)) => {
            Ok(as_bytes(facts, bad.bytes))
        }
        Err(bad) => {
            let offset = (skipped + bad.offset) as u64;
            Err(not_text(path, encoding, offset, &bad.bytes, &bad.bytes[bad.offset..]).into())
        }
    }
}

/// The caller did not say that it is text.
fn may_be_media(wish: &Wish) -> bool {
    wish.choice.is_open() && !wish.replace
}

/// Whether it is what a file holds that was made larger and never written to.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Some containers happen to be UTF-8, and in other encodings hardly any bytes are wrong.
fn is_plainly_media(choice: Choice, bytes: &[u8]) -> bool {
    let header = &bytes[..bytes.len().min(HEADER)];
    let is_no_text = || choice != Choice::Detected && str::from_utf8(bytes).is_err();
    (header.contains(&0) || is_no_text()) && is_media(media_type(bytes))
}

fn as_bytes(facts: Facts, data: Vec<u8>) -> Reading {
    let mime_type = media_type(&data).to_owned();
    let content = Content::Bytes { data, mime_type };
    Reading { facts, content }
}

fn behind(mut bytes: Vec<u8>, skipped: usize) -> Vec<u8> {
    bytes.drain(..skipped);
    bytes
}
