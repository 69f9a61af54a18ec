//! Reading a log as someone who trusts nobody: is it whole, and what does it say?

use std::io::{self, BufRead, Read, Seek};

use serde_json::Value;

use super::intents::Intents;
use super::key::AuditPublicKey;
use super::link::{Last, Link, has_hash};
use super::tail::{Tail, VERIFIED, lines_before};
use super::{CLOSED, LONGEST_LINE, NO_PREVIOUS, ROTATED};

const CUT_OFF: &str = "it is cut off";
/// Bytes of a line that are read at most: no writer writes that many.
const MAX_LINE: u64 = LONGEST_LINE as u64 + 1;

/// A log that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedLog {
    /// How many entries it has.
    pub entries: u64,
    /// How many entries of the chain stand before these, and were not read: none, unless
    /// [`LogVerifier::after`] says where they end.
    pub before: u64,
    /// The hash of the last one: whoever knows it can tell when the end is cut off.
    pub head: String,
    /// Changes whose outcome the log does not tell: the process was killed, or it is still
    /// at work.
    pub unsettled: Vec<Unsettled>,
    /// Checkpoints whose signature was verified.
    pub checkpoints: u64,
    /// Lines at which a process continued a log that the process before had not closed with
    /// a checkpoint. Looked for with a public key only.
    pub not_closed: Vec<u64>,
}

/// A change that was announced and whose outcome is not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsettled {
    /// The line of its `intent`, counted from 1 over all files.
    pub line: u64,
    /// The call.
    pub call: String,
    /// The operation.
    pub operation: String,
    /// The label of the root.
    pub root: String,
    /// The path as it was asked for.
    pub path: String,
}

/// Why a log is not whole.
#[derive(Debug, thiserror::Error)]
pub enum AuditFault {
    /// The log cannot be read.
    #[error("the log cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// There is nothing in it.
    #[error("it has no entries: its process was killed before the first, or they were removed")]
    Empty,
    /// Something is wrong with an entry or its place.
    #[error("line {line}: {what}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The log begins with a file that continues others, which were not read, or follows others
    /// than it should.
    #[error(
        "line 1: the log begins at entry {before}, which follows {prev}, and not where it should: the files before it were removed, or are to be named before it, or with `--after`"
    )]
    Beginning {
        /// How many entries are not here: the number of the first one that is.
        before: u64,
        /// The hash of the last one that is not here.
        prev: String,
    },
    /// The log ends elsewhere than it should.
    #[error("the log ends with {found} and not with {expected}: its end was cut off or rewritten")]
    Head {
        /// The hash that was to be the last.
        expected: String,
        /// The last hash.
        found: String,
    },
}

/// Verifies a log: every hash, every link to the entry before, every number, from the very first
/// entry on. With the head that was noted elsewhere, also that nothing is missing at the end.
///
/// [`LogVerifier`] does the same over several files and with signatures.
///
/// # Errors
///
/// The first thing that is wrong, with its line.
pub fn verify_log(log: impl BufRead, head: Option<&str>) -> Result<VerifiedLog, AuditFault> {
    let mut verifier = LogVerifier::new();
    verifier.read(log)?;
    verifier.finish(head)
}

/// The hash of a log's last entry: what to note elsewhere, so that a cut end shows.
///
/// # Errors
///
/// When the log cannot be read, is empty, or its last 64 MiB are not whole lines that follow one
/// another: the first thing that is wrong, with its line.
pub fn log_head(mut log: impl Read + Seek) -> Result<String, AuditFault> {
    let tail = Tail::read_last(VERIFIED, &mut log)?;
    if tail.torn.is_some() {
        return Err(at(lines_before(&mut log, tail.whole)? + 1, CUT_OFF));
    }
    tail.last.map(|last| last.hash).ok_or(AuditFault::Empty)
}

/// Verifies a log entry by entry: a log in several files, a log that still grows, a log that
/// is signed.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("audit.jsonl");
/// use std::fs::File;
/// use std::io::BufReader;
/// use rootbound::{AuditKey, AuditLog, LogVerifier, Session};
///
/// let key = AuditKey::generate();
/// let public_key = key.public_key();
/// let log = AuditLog::file(&file)?.signed_by(key);
/// let session = Session::builder().audit(log).build()?;
/// session.close()?;
///
/// let mut verifier = LogVerifier::new().signed_by(public_key);
/// verifier.read(BufReader::new(File::open(&file)?))?;
/// assert_eq!(verifier.finish(None)?.checkpoints, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct LogVerifier {
    chain: Follow,
    intents: Intents,
    signatures: Option<Signatures>,
    after: Option<String>,
}

impl LogVerifier {
    /// A verifier that has seen no entry yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Demands signed checkpoints by this key, the last of them at the end. What is cut off
    /// there, and a chain that someone without the key wrote anew, then shows.
    ///
    /// # Limits
    ///
    /// A log that is cut off right behind the checkpoint of an earlier process is a whole log
    /// of that time. Only its head, noted elsewhere, tells.
    #[must_use]
    pub fn signed_by(mut self, key: AuditPublicKey) -> Self {
        self.signatures = Some(Signatures::new(key));
        self
    }

    /// Takes a log that is not read from its very first entry, but only if it goes on right behind
    /// the entry of this hash: a log whose first files are kept elsewhere. Without this, a log
    /// whose beginning is missing is not whole.
    #[must_use]
    pub fn after(mut self, hash: impl Into<String>) -> Self {
        self.after = Some(hash.into());
        self
    }

    /// Verifies the entries of a file, which follow those that were read before.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its line in this file.
    pub fn read(&mut self, log: impl BufRead) -> Result<(), AuditFault> {
        let before = self.chain.entries;
        read_lines(log, |line, text| self.line_of_file(line, text))?;
        if self.chain.entries == before {
            return Err(AuditFault::Empty);
        }
        Ok(())
    }

    /// Verifies the next entry.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with its line counted over all files.
    pub fn line(&mut self, text: &str) -> Result<(), AuditFault> {
        let line = self.chain.entries + 1;
        let entry = self.chain.follow(line, text)?;
        self.intents.follow(line, &entry);
        if let Some(signatures) = &mut self.signatures {
            signatures.follow(line, &entry)?;
        }
        Ok(())
    }

    /// Verifies the next entry, of which the number of its line in its file is known, and which
    /// may be no text.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with that line.
    pub fn line_of_file(&mut self, line: u64, bytes: &[u8]) -> Result<(), AuditFault> {
        let text = std::str::from_utf8(bytes).map_err(|_| at(line, "it is not UTF-8"))?;
        match self.line(text) {
            Err(AuditFault::Line { what, .. }) => Err(at(line, what)),
            result => result,
        }
    }

    /// The changes whose outcome was not told yet.
    #[must_use]
    pub fn unsettled(&self) -> Vec<Unsettled> {
        let open = self.intents.open().into_iter().filter(|open| !open.made);
        open.map(|open| {
            let text = |name: &str| open.entry[name].as_str().unwrap_or_default().to_owned();
            Unsettled {
                line: open.line,
                call: text("call"),
                operation: text("operation"),
                root: text("root"),
                path: text("path"),
            }
        })
        .collect()
    }

    /// How many entries of the chain stand before the first one that was read.
    #[must_use]
    pub fn before(&self) -> u64 {
        self.chain.first.as_ref().map_or(0, |first| first.before)
    }

    /// Says that this was the end. With the head that was noted elsewhere, also that it is
    /// the right one.
    ///
    /// # Errors
    ///
    /// When there was no entry, the beginning or the end is another, or it is not signed where it
    /// should be.
    pub fn finish(self, head: Option<&str>) -> Result<VerifiedLog, AuditFault> {
        let unsettled = self.unsettled();
        let before = self.before();
        self.chain.check_begins_after(self.after.as_deref())?;
        let Follow { entries, last, .. } = self.chain;
        let prev = last.ok_or(AuditFault::Empty)?.hash;
        if let Some(expected) = head.filter(|expected| *expected != prev) {
            return Err(AuditFault::Head {
                expected: expected.to_owned(),
                found: prev,
            });
        }
        let (checkpoints, not_closed) = match self.signatures {
            Some(signatures) => signatures.finish(entries)?,
            None => (0, Vec::new()),
        };
        Ok(VerifiedLog {
            entries,
            before,
            head: prev,
            unsettled,
            checkpoints,
            not_closed,
        })
    }
}

/// The checkpoints of a log, and where it should have one.
#[derive(Debug)]
struct Signatures {
    key: AuditPublicKey,
    verified: u64,
    /// Whether the entry before is a checkpoint at the end of a process.
    closed: bool,
    /// Whether it is a checkpoint at the end of a file.
    rotated: bool,
    /// The id of the log's part that one process writes.
    part: Option<String>,
    not_closed: Vec<u64>,
}

impl Signatures {
    fn new(key: AuditPublicKey) -> Self {
        Self {
            key,
            verified: 0,
            closed: false,
            rotated: false,
            part: None,
            not_closed: Vec::new(),
        }
    }

    fn follow(&mut self, line: u64, entry: &Value) -> Result<(), AuditFault> {
        if text_member(entry, "kind") == Some("genesis") {
            let part = text_member(entry, "log").map(str::to_owned);
            let begins = self.part.is_some() && self.part != part;
            if begins && !self.closed {
                self.not_closed.push(line);
            }
            self.part = part;
        }
        self.closed = false;
        self.rotated = false;
        if text_member(entry, "kind") == Some("checkpoint") {
            if !is_signed(entry, self.key) {
                let what = "its signature is not one of the key that was given";
                return Err(at(line, what));
            }
            self.verified += 1;
            self.closed = text_member(entry, "reason") == Some(CLOSED);
            self.rotated = text_member(entry, "reason") == Some(ROTATED);
        }
        Ok(())
    }

    fn finish(self, entries: u64) -> Result<(u64, Vec<u64>), AuditFault> {
        if self.rotated {
            return Err(at(
                entries,
                "the log ends in the signed checkpoint of a file that was put aside: the file that follows it was removed, or is to be named behind it",
            ));
        }
        if !self.closed {
            return Err(at(
                entries,
                "the log does not end in a signed checkpoint: its end was cut off, its process was killed or still runs",
            ));
        }
        Ok((self.verified, self.not_closed))
    }
}

/// Whether a checkpoint was signed with a key: over its canonical form without the signature and
/// the hash.
pub(super) fn is_signed(checkpoint: &Value, key: AuditPublicKey) -> bool {
    let signed = || {
        let signature = text_member(checkpoint, "signature")?;
        let mut signed = checkpoint.as_object()?.clone();
        signed.remove("hash");
        signed.remove("signature");
        let message = serde_json_canonicalizer::to_vec(&signed).ok()?;
        Some(key.has_signed(&message, signature))
    };
    signed().unwrap_or(false)
}

/// Calls `each` with every line and its number. A last line without a line feed was not
/// written to its end.
fn read_lines(
    mut log: impl BufRead,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), AuditFault>,
) -> Result<(), AuditFault> {
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = io::Read::take(&mut log, MAX_LINE).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(());
        }
        let whole = bytes.strip_suffix(b"\n").ok_or(at(line, CUT_OFF))?;
        each(line, whole)?;
    }
    Ok(())
}

fn at(line: u64, what: &'static str) -> AuditFault {
    AuditFault::Line { line, what }
}

/// Where the chain has got to.
#[derive(Debug, Default)]
struct Follow {
    entries: u64,
    first: Option<First>,
    last: Option<Last>,
}

/// Where the first line that was read stands in its chain.
#[derive(Debug)]
struct First {
    before: u64,
    prev: String,
}

impl Follow {
    fn follow(&mut self, line: u64, text: &str) -> Result<Value, AuditFault> {
        let entry: Value = serde_json::from_str(text).map_err(|_| at(line, "it is not JSON"))?;
        let hash = text_member(&entry, "hash").ok_or(at(line, "it has no hash"))?;
        if !is_as_written(&entry, hash, text) {
            return Err(at(line, "it was edited: its hash or its form is wrong"));
        }
        let seq = entry.get("seq").and_then(Value::as_u64);
        let link = Link {
            kind: text_member(&entry, "kind").unwrap_or_default().into(),
            seq: seq.ok_or(at(line, "it has no number"))?,
            prev: text_member(&entry, "prev")
                .ok_or(at(line, "it names no line before"))?
                .into(),
            hash: hash.into(),
        };
        let is_in_place = match &self.last {
            Some(last) => link.check_follows(last),
            None => link.check_begins(),
        };
        is_in_place.map_err(|what| at(line, what))?;
        self.first.get_or_insert_with(|| First {
            before: link.seq,
            prev: link.prev.into_owned(),
        });
        self.last = Some(Last {
            seq: link.seq,
            hash: hash.to_owned(),
        });
        self.entries += 1;
        Ok(entry)
    }

    /// Whether the first line is the very first of its chain, or follows the one that is named.
    fn check_begins_after(&self, hash: Option<&str>) -> Result<(), AuditFault> {
        let expected = hash.unwrap_or(NO_PREVIOUS);
        match &self.first {
            Some(first) if first.prev != expected => Err(AuditFault::Beginning {
                before: first.before,
                prev: first.prev.clone(),
            }),
            _ => Ok(()),
        }
    }
}

fn text_member<'a>(entry: &'a Value, name: &str) -> Option<&'a str> {
    entry.get(name).and_then(Value::as_str)
}

/// Whether the line is what the writer would have written of the entry: its canonical form
/// with its hash at the end.
fn is_as_written(entry: &Value, hash: &str, line: &str) -> bool {
    has_hash(line.as_bytes(), hash) && is_canonical(entry, line)
}

/// Whether a line with its hash at the end is otherwise canonical (RFC 8785): names are
/// sorted, numbers are integers that every reader takes for the same, and `serde_json`, which
/// escapes and spaces as the standard says, writes just that. Writing the form anew with the
/// crate for it takes several times as long; a test compares the two.
fn is_canonical(entry: &Value, line: &str) -> bool {
    let Some(members) = entry.as_object() else {
        return false;
    };
    are_sorted(members.keys().filter(|name| *name != "hash"))
        && members.values().all(has_canonical_parts)
        && serde_json::to_string(entry).is_ok_and(|written| written == line)
}

fn has_canonical_parts(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            are_sorted(members.keys()) && members.values().all(has_canonical_parts)
        }
        Value::Array(items) => items.iter().all(has_canonical_parts),
        Value::Number(number) => number.as_u64().is_some_and(|number| number < 1 << 53),
        _ => true,
    }
}

/// By UTF-16 code units, as the standard has it.
fn are_sorted<'a>(mut names: impl Iterator<Item = &'a String>) -> bool {
    let Some(mut before) = names.next() else {
        return true;
    };
    names.all(|name| {
        let comes_later = before.encode_utf16().lt(name.encode_utf16());
        before = name;
        comes_later
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::audit::{AuditLog, Entry, EntryKind};

    pub(in crate::audit) fn log_of(entries: usize) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let log = AuditLog::sink(move |line: &str| {
            sink.lock().expect("unshared").push(line.to_owned());
            Ok(())
        });
        let kind = |n| {
            if n == 0 {
                EntryKind::Genesis
            } else {
                EntryKind::Call
            }
        };
        let entry = |n| {
            let mut entry = Entry::new(kind(n));
            entry.path = Some(format!("p{n} \"\u{1}\u{202e}é"));
            entry
        };
        log.append((0..entries).map(entry).collect())
            .expect("a sink");
        let lines = lines.lock().expect("unshared");
        lines.clone()
    }

    fn verify(lines: &[String], head: Option<&str>) -> Result<VerifiedLog, AuditFault> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        verify_log(text.as_bytes(), head)
    }

    fn faulty_line(lines: &[String]) -> u64 {
        match verify(lines, None) {
            Err(AuditFault::Line { line, .. }) => line,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_whole_log_verifies_and_tells_its_head() {
        let lines = log_of(5);
        let verified = verify(&lines, None).expect("whole");
        assert_eq!(verified.entries, 5);
        assert!(verify(&lines, Some(&verified.head)).is_ok());
    }

    #[test]
    fn every_edited_byte_is_found() {
        let lines = log_of(3);
        for at in 0..lines[1].len() {
            let mut edited = lines.clone();
            let mut bytes = edited[1].clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(text) = String::from_utf8(bytes) else {
                continue;
            };
            if text.contains('\n') {
                continue;
            }
            edited[1] = text;
            assert_eq!(faulty_line(&edited), 2, "byte {at}");
        }
    }

    #[test]
    fn removed_added_swapped_and_cut_lines_are_found() {
        let lines = log_of(5);
        let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat();
        assert_eq!(faulty_line(&without(0)), 1);
        assert_eq!(faulty_line(&without(2)), 3);
        let mut swapped = lines.clone();
        swapped.swap(1, 2);
        assert_eq!(faulty_line(&swapped), 2);
        let doubled = [&lines[..2], &lines[1..]].concat();
        assert_eq!(faulty_line(&doubled), 3);
        let head = verify(&lines, None).expect("whole").head;
        assert!(matches!(
            verify(&lines[..4], Some(&head)),
            Err(AuditFault::Head { .. })
        ));
        assert!(matches!(
            verify_log(lines.join("\n").as_bytes(), None),
            Err(AuditFault::Line { line: 5, .. })
        ));
        assert!(matches!(verify(&[], None), Err(AuditFault::Empty)));
    }

    /// Another implementation of the standard says the same.
    #[test]
    fn what_is_canonical_is_what_the_standard_says() {
        let (first, second) = ('\u{10000}', '\u{e000}');
        for body in [
            r#"{"a":1,"b":[true,{"x":"\n\u0001é"}]"#.to_owned(),
            r#"{"b":1,"a":1"#.to_owned(),
            r#"{"a":1,"a":1"#.to_owned(),
            r#"{"a": 1"#.to_owned(),
            r#"{"a":1.0"#.to_owned(),
            r#"{"a":"\u0041""#.to_owned(),
            r#"{"a":"\/""#.to_owned(),
            r#"{"a":"\u000A""#.to_owned(),
            format!("{{\"a\":{{\"{first}\":1,\"{second}\":2}}"),
            format!("{{\"a\":{{\"{second}\":1,\"{first}\":2}}"),
        ] {
            let line = format!("{body},\"hash\":\"\"}}");
            let entry: Value = serde_json::from_str(&line).expect("JSON");
            let mut members = entry.as_object().expect("an object").clone();
            members.remove("hash");
            let canonical = serde_json_canonicalizer::to_string(&members).expect("canonical");
            let expected = canonical == format!("{body}}}");
            assert_eq!(is_canonical(&entry, &line), expected, "{line}");
        }
    }

    #[test]
    fn a_second_member_of_one_name_is_an_edit() {
        let mut lines = log_of(2);
        lines[1] = lines[1].replacen('{', "{\"path\":\"forged\",", 1);
        assert_eq!(faulty_line(&lines), 2);
    }
}
