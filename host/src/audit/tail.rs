//! Where the chain of a log file goes on, whether it may, and what the process before left
//! undone.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::entry::Repaired;
use super::intents::{Intents, OpenIntent, session_of};
use super::link::{Last, Link, NO_GENESIS};
use super::{AuditFault, LONGEST_LINE};
use crate::random;

/// How much of a log's end is verified before it is continued, and searched for intents without
/// an outcome: all of a log that is not larger. It takes a few tenths of a second, and holds the
/// entries of all calls that can have been running when the process before was killed.
pub(super) const VERIFIED: u64 = 64 << 20;
/// The same for logs of the state directory, of which one start may look at many: the last line
/// and half of another are in it in any case.
pub(super) const VERIFIED_OF_MANY: u64 = 2 * LONGEST_LINE as u64 + 1;
/// Bytes that are read at a time.
const PIECE: usize = 1 << 18;

/// The end of a log file as it was found.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// `None` when the log has no whole entry.
    pub(super) last: Option<Last>,
    /// Where the last whole line ends.
    pub(super) whole: u64,
    /// What stands behind it: half a line.
    pub(super) torn: Option<Repaired>,
    pub(super) open: Vec<OpenIntent>,
    /// The last checkpoint.
    pub(super) checkpoint: Option<Value>,
}

impl Tail {
    /// Finds where the chain continues. A log in which something is wrong is not continued:
    /// appending to it would hide that. Half a line at its end is what a killed process or a
    /// full disk leaves; whoever continues the log cuts it off and says so.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong in the last `most` bytes, with its line.
    pub(super) fn read_last(most: u64, mut file: impl Read + Seek) -> Result<Self, AuditFault> {
        let size = file.seek(SeekFrom::End(0))?;
        let start = size.saturating_sub(most);
        file.seek(SeekFrom::Start(start))?;
        let mut reading = Reading::new(start);
        let lines = BufReader::with_capacity(PIECE, (&mut file).take(size - start));
        let mut tail = match reading.lines(lines) {
            Err(AuditFault::Line { line, what }) => {
                let line = line + lines_before(&mut file, start)?;
                return Err(AuditFault::Line { line, what });
            }
            result => result.map(|()| reading.tail)?,
        };
        tail.open = reading.intents.open();
        find_geneses(&mut file, &mut tail.open)?;
        Ok(tail)
    }
}

/// The end of a log as its lines go by.
struct Reading {
    tail: Tail,
    intents: Intents,
    line: u64,
    /// Whether the next line is the first of the file.
    begins: bool,
    /// Whether the rest of a line comes first, whose beginning was not read.
    is_inside: bool,
}

impl Reading {
    fn new(start: u64) -> Self {
        let whole = start;
        Self {
            tail: Tail {
                whole,
                ..Tail::default()
            },
            intents: Intents::default(),
            line: 0,
            begins: start == 0,
            is_inside: start > 0,
        }
    }

    fn lines(&mut self, mut log: impl BufRead) -> Result<(), AuditFault> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let most = LONGEST_LINE as u64 + 1;
            let read = (&mut log).take(most).read_until(b'\n', &mut bytes)?;
            self.line += 1;
            match bytes.strip_suffix(b"\n") {
                Some(line) => self.whole_line(line).map_err(|what| self.fault(what))?,
                None if read == 0 => return Ok(()),
                None if read as u64 == most => return Err(self.fault("it is too long")),
                None if !self.is_ours(&bytes) => return Err(self.fault(NO_GENESIS)),
                None => self.tail.torn = Some(described(&bytes)),
            }
        }
    }

    /// Whether half a line is one of a log: behind a whole line, or the beginning of a file's
    /// first. Any other text without a line feed is somebody else's file.
    fn is_ours(&self, torn: &[u8]) -> bool {
        self.tail.last.is_some() || (self.begins && can_begin_a_genesis(torn))
    }

    fn fault(&self, what: &'static str) -> AuditFault {
        let line = self.line;
        AuditFault::Line { line, what }
    }

    fn whole_line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        self.tail.whole += line.len() as u64 + 1;
        if std::mem::take(&mut self.is_inside) {
            return Ok(());
        }
        let link = Link::read(line)?;
        match &self.tail.last {
            Some(last) => link.check_follows(last)?,
            None if self.begins => link.check_begins()?,
            None => {}
        }
        self.note(&link.kind, line);
        self.tail.last = Some(Last {
            seq: link.seq,
            hash: link.hash.into_owned(),
        });
        Ok(())
    }

    /// Remembers what is of use later. Reads are most of a log, and are not.
    fn note(&mut self, kind: &str, line: &[u8]) {
        let matters = match kind {
            "intent" | "checkpoint" => true,
            "outcome" | "call" => !self.intents.is_empty(),
            _ => false,
        };
        let entry = matters.then(|| serde_json::from_slice::<Value>(line));
        match entry {
            Some(Ok(entry)) if kind == "checkpoint" => self.tail.checkpoint = Some(entry),
            Some(Ok(entry)) => self.intents.follow(self.line, &entry),
            _ => {}
        }
    }
}

/// What a `genesis` that is written to a file begins with, piece by piece, each in one of these
/// forms; `#` is a hexadecimal digit. What follows the format has no fixed form.
const GENESIS: [&[&str]; 9] = [
    &["{\"audit\":{\"arguments\":"],
    &["\"digest\"", "\"full\""],
    &[",\"durability\":"],
    &["\"fast\"", "\"full\""],
    &[
        "}",
        ",\"public_key\":\"################################################################\"}",
    ],
    &[",\"component\":"],
    &["\"################################################################\""],
    &[
        "",
        ",\"confinement\":\"landlock\"",
        ",\"confinement\":\"none\"",
    ],
    &[",\"format\":\"rootbound-audit/1\""],
];

/// Whether a process that was stopped while it wrote the first line of a log can have left these
/// bytes. They are cut off for the next, so nothing else may look like it.
fn can_begin_a_genesis(torn: &[u8]) -> bool {
    can_go_on(torn, &GENESIS)
}

fn can_go_on(bytes: &[u8], pieces: &[&[&str]]) -> bool {
    let Some((forms, further)) = pieces.split_first() else {
        return bytes.iter().all(|byte| *byte >= b' ');
    };
    forms.iter().any(|form| {
        let pairs = bytes.iter().zip(form.bytes());
        let is_like = |(byte, like): (&u8, u8)| match like {
            b'#' => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            like => *byte == like,
        };
        pairs.into_iter().all(is_like)
            && (bytes.len() < form.len() || can_go_on(&bytes[form.len()..], further))
    })
}

fn described(torn: &[u8]) -> Repaired {
    Repaired {
        bytes: torn.len() as u64,
        sha256: random::hex_of(&Sha256::digest(torn)),
    }
}

/// How many lines end before a place.
pub(super) fn lines_before(file: &mut (impl Read + Seek), place: u64) -> io::Result<u64> {
    file.rewind()?;
    let mut before = BufReader::with_capacity(PIECE, file.take(place));
    let mut lines = 0;
    loop {
        let piece = before.fill_buf()?;
        if piece.is_empty() {
            return Ok(lines);
        }
        lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        let length = piece.len();
        before.consume(length);
    }
}

/// Finds what was granted to the sessions of intents. Few logs end that badly, so all of it is
/// read again.
fn find_geneses(file: &mut (impl Read + Seek), open: &mut [OpenIntent]) -> io::Result<()> {
    let mut geneses: HashMap<String, Option<Arc<Value>>> = (open
        .iter()
        .map(|intent| (intent.session().to_owned(), None)))
    .collect();
    if geneses.is_empty() {
        return Ok(());
    }
    file.rewind()?;
    for line in BufReader::with_capacity(PIECE, file).split(b'\n') {
        let line = line?;
        let line = std::str::from_utf8(&line).unwrap_or_default();
        if kind_of(line) == "genesis"
            && let Ok(entry) = serde_json::from_str::<Value>(line)
            && let Some(genesis) = geneses.get_mut(session_of(&entry))
        {
            *genesis = Some(Arc::new(entry));
        }
    }
    for intent in open {
        intent.genesis = geneses.get(intent.session()).cloned().flatten();
    }
    Ok(())
}

/// The kind of an entry that the writer wrote. Nothing behind it has a member of that name;
/// what stands before it may.
fn kind_of(line: &str) -> &str {
    let rest = line.rsplit_once("\"kind\":\"").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split('"').next())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::audit::verify::tests::log_of;

    fn read_last(most: usize, lines: &[String]) -> Result<Tail, AuditFault> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Tail::read_last(most as u64, Cursor::new(text))
    }

    #[test]
    fn a_long_log_is_verified_from_the_first_line_that_is_read_whole() {
        let lines = log_of(10);
        let long = lines[7..].iter().map(|line| line.len() + 1).sum::<usize>();
        let edited = |at: usize| {
            let mut lines = lines.clone();
            lines[at] = lines[at].replace("\"path\":\"p", "\"path\":\"q");
            lines
        };
        for most in [long, long + 1, long + 20] {
            let tail = read_last(most, &lines).expect("whole");
            assert_eq!(tail.last.map(|last| last.seq), Some(9));
            assert!(read_last(most, &edited(5)).is_ok());
            for at in 8..10 {
                match read_last(most, &edited(at)) {
                    Err(AuditFault::Line { line, .. }) => assert_eq!(line, at as u64 + 1),
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    #[test]
    fn a_line_that_is_longer_than_any_is_none() {
        let long = Cursor::new("x".repeat(LONGEST_LINE + 1));
        let fault = Tail::read_last(VERIFIED, long).expect_err("too long");
        assert_eq!(fault.to_string(), "line 1: it is too long");
    }
}
