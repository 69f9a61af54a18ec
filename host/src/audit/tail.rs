//! Where the chain of a log file goes on, and what the process before left undone.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::LONGEST_LINE;
use super::entry::Repaired;
use super::intents::{Intents, OpenIntent, session_of};
use crate::random;

/// How far the reader of a tail looks back for the last entry, and for intents without an
/// outcome: the entries of calls that were running when the process before was killed. The last
/// line and half of another are in it in any case.
const TAIL: u64 = 2 * LONGEST_LINE as u64 + 1;

/// The last entry of a log that is continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) seq: u64,
    pub(super) hash: String,
}

/// The end of a log file as it was found.
#[derive(Debug)]
pub(super) struct Tail {
    /// `None` when the log has no whole entry.
    pub(super) last: Option<Last>,
    /// Where the last whole line ends.
    pub(super) whole: u64,
    /// What stands behind it: half a line.
    pub(super) torn: Option<Repaired>,
    pub(super) open: Vec<OpenIntent>,
}

impl Tail {
    /// Finds where the chain continues. A log whose last whole line is not a valid entry is
    /// not continued: appending to it would hide that something is wrong. Half a line behind
    /// that is what a killed process or a full disk leaves; whoever continues the log cuts it
    /// off and says so.
    pub(super) fn read(mut file: impl Read + Seek) -> io::Result<Self> {
        let size = file.seek(SeekFrom::End(0))?;
        let start = size.saturating_sub(TAIL);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        (&mut file).take(TAIL).read_to_end(&mut bytes)?;
        let end = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(line_feed) => line_feed + 1,
            None if start == 0 => 0,
            None => return Err(damaged()),
        };
        let (whole, torn) = bytes.split_at(end);
        let whole_lines = if start == 0 { whole } else { after_line(whole) };
        let last = match last_line(whole_lines) {
            Some(line) => Some(last_of(line).ok_or_else(damaged)?),
            None => None,
        };
        let mut open = open_intents(whole_lines);
        for intent in open.iter_mut().filter(|intent| intent.genesis.is_none()) {
            intent.genesis = genesis_of(&mut file, intent.session())?.map(Arc::new);
        }
        Ok(Self {
            last,
            whole: start + end as u64,
            torn: (!torn.is_empty()).then(|| described(torn)),
            open,
        })
    }
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "its last line is not a whole entry; keep it and name a new file",
    )
}

fn described(torn: &[u8]) -> Repaired {
    Repaired {
        bytes: torn.len() as u64,
        sha256: random::hex_of(&Sha256::digest(torn)),
    }
}

/// What follows the first line, of which the beginning may be missing.
fn after_line(bytes: &[u8]) -> &[u8] {
    let line_feed = bytes.iter().position(|byte| *byte == b'\n');
    line_feed.map_or(&[], |at| &bytes[at + 1..])
}

fn last_line(whole: &[u8]) -> Option<&[u8]> {
    let text = whole.strip_suffix(b"\n")?;
    text.rsplit(|byte| *byte == b'\n').next()
}

/// Recomputes a line's hash. Our own lines carry it last.
fn last_of(line: &[u8]) -> Option<Last> {
    let line = std::str::from_utf8(line).ok()?;
    let value: Value = serde_json::from_str(line).ok()?;
    let hash = value.get("hash")?.as_str()?;
    let suffix = format!(",\"hash\":\"{hash}\"}}");
    let canonical = format!("{}}}", line.strip_suffix(&suffix)?);
    (random::hex_of(&Sha256::digest(canonical.as_bytes())) == hash).then_some(Last {
        seq: value.get("seq")?.as_u64()?,
        hash: hash.to_owned(),
    })
}

fn open_intents(whole: &[u8]) -> Vec<OpenIntent> {
    let mut intents = Intents::default();
    for line in whole.split(|byte| *byte == b'\n') {
        let line = std::str::from_utf8(line).unwrap_or_default();
        // Reads are most of a log, and need not be parsed.
        let matters = match kind_of(line) {
            "genesis" | "intent" => true,
            "outcome" | "call" => !intents.is_empty(),
            _ => false,
        };
        if matters && let Ok(entry) = serde_json::from_str(line) {
            intents.follow(0, &entry);
        }
    }
    intents.open()
}

/// The `genesis` of a session that began before the end that was read. Few logs are that long
/// and end that badly, so all of it is read again.
fn genesis_of(file: &mut (impl Read + Seek), session: &str) -> io::Result<Option<Value>> {
    file.rewind()?;
    let mut found = None;
    for line in BufReader::new(file).split(b'\n') {
        let line = line?;
        let line = std::str::from_utf8(&line).unwrap_or_default();
        if kind_of(line) == "genesis"
            && let Ok(entry) = serde_json::from_str::<Value>(line)
            && session_of(&entry) == session
        {
            found = Some(entry);
        }
    }
    Ok(found)
}

/// The kind of an entry that the writer wrote. Nothing behind it has a member of that name;
/// what stands before it may.
fn kind_of(line: &str) -> &str {
    let rest = line.rsplit_once("\"kind\":\"").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split('"').next())
        .unwrap_or_default()
}
