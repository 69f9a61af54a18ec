//! The zip archive that holds a package (APPNOTE.TXT 6.3.3, as narrowed by ECMA-376 part 2).
//!
//! The central directory is what counts; local headers are read only for where data starts.
//! Names never reach a file system.

mod inflate;
#[cfg(test)]
pub(super) mod tests;

pub(super) use inflate::{Inflater, SLACK};

use super::Error;
use crate::files::was_refused;
use flate2::Crc;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// Entries that an archive may have; PowerPoint writes some ten a slide.
pub(super) const MAX_ENTRIES: u64 = 10_000;
/// The end record without its comment, and the longest comment.
const END_RECORD: u64 = 22;
const MAX_COMMENT: u64 = 65_535;

/// A record of the central directory without its name, extra fields and comment.
const CENTRAL_RECORD: usize = 46;

/// The methods that OPC allows (ECMA-376 part 2, annex B).
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
const CENTRAL_HEADER: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const ZIP64_END: &[u8] = b"PK\x06\x06";
const ZIP64_LOCATOR: &[u8] = b"PK\x06\x07";

/// A file in the archive, as the central directory describes it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    flags: u16,
    method: u16,
    crc: u32,
    /// Bytes that its data takes in the file, as declared; no more are read.
    pub(super) compressed: u64,
    /// Bytes that it holds, as declared; what comes out is compared with it.
    pub(super) size: u64,
    /// Where the local header stands in the file.
    header: u64,
}

/// What an end record says of the directory.
struct End {
    size: u64,
    offset: u64,
    /// Where the record itself stands, which is where the directory ends.
    position: u64,
}

/// Where the central directory really stands.
struct Directory {
    start: u64,
    size: u64,
    /// How many bytes stand before the archive proper.
    shift: u64,
}

/// Reads the central directory.
pub(super) fn entries(reader: &mut (impl BufRead + Seek)) -> Result<Vec<Entry>, Error> {
    let directory = find_directory(reader)?;
    let mut entries = Vec::new();
    let mut position = directory.start;
    let end = directory.start + directory.size;
    reader.seek(SeekFrom::Start(position)).map_err(broken)?;
    while position < end {
        if entries.len() as u64 == MAX_ENTRIES {
            return Err(too_many_entries());
        }
        let (entry, length) = read_entry(reader, directory.shift)?;
        position += length;
        entries.push(entry);
    }
    Ok(entries)
}

/// Reads an entry into `bytes`, and stops one byte over the limit. What came out stands there
/// even after an error, to be counted.
pub(super) fn read(
    reader: &mut (impl BufRead + Seek),
    inflater: &mut Inflater,
    entry: &Entry,
    limit: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut data = entry_data(reader, entry)?;
    let result = match entry.method {
        STORED => data.take(limit + 1).read_to_end(bytes).map(drop),
        _ => inflater.read(&mut data, entry.size, limit + 1, bytes),
    };
    result.map_err(|error| in_part(entry, &error))?;
    match bytes.len() as u64 {
        length if length > limit => Ok(()),
        _ => verify(entry, bytes),
    }
}

/// Counts what an entry holds, up to one byte over the limit, without keeping it.
pub(super) fn count(
    reader: &mut (impl BufRead + Seek),
    inflater: &mut Inflater,
    entry: &Entry,
    limit: u64,
) -> Result<u64, Error> {
    let mut data = entry_data(reader, entry)?;
    let counted = match entry.method {
        STORED => io::copy(&mut data.take(limit + 1), &mut io::sink()),
        _ => inflater.count(&mut data, limit + 1),
    };
    counted.map_err(|error| in_part(entry, &error))
}

/// The data of an entry as it stands in the file, if it is one that can be read.
fn entry_data<'r, R: BufRead + Seek>(
    reader: &'r mut R,
    entry: &Entry,
) -> Result<io::Take<&'r mut R>, Error> {
    if entry.flags & 1 != 0 {
        let name = super::shown(&entry.name);
        return Err(Error::Unsupported {
            kind: format!("a package with the encrypted part `{name}`"),
            hint: "ask for a copy without a password",
        });
    }
    if !matches!(entry.method, STORED | DEFLATED) {
        return Err(Error::in_part(&entry.name, unknown_method(entry.method)));
    }
    let failed = |error: io::Error| in_part(entry, &error);
    let mut header = [0; 30];
    reader.seek(SeekFrom::Start(entry.header)).map_err(failed)?;
    reader.read_exact(&mut header).map_err(failed)?;
    if !header.starts_with(LOCAL_HEADER) {
        return Err(Error::in_part(&entry.name, "its local header is missing"));
    }
    let names = u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
    let start = entry.header + header.len() as u64 + names;
    reader.seek(SeekFrom::Start(start)).map_err(failed)?;
    Ok(reader.take(entry.compressed))
}

fn verify(entry: &Entry, bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() as u64 != entry.size {
        let problem = format!("it declares {} bytes and holds {}", entry.size, bytes.len());
        return Err(Error::in_part(&entry.name, problem));
    }
    let mut crc = Crc::new();
    crc.update(bytes);
    if crc.sum() != entry.crc {
        return Err(Error::in_part(&entry.name, "its checksum is wrong"));
    }
    Ok(())
}

fn unknown_method(method: u16) -> String {
    let name = match method {
        9 => " (deflate64)",
        12 => " (bzip2)",
        14 => " (lzma)",
        93 => " (zstd)",
        95 => " (xz)",
        99 => " (encrypted with AES)",
        _ => "",
    };
    format!("its compression method {method}{name} is not allowed in an Office document")
}

fn find_directory(reader: &mut (impl BufRead + Seek)) -> Result<Directory, Error> {
    let size = reader.seek(SeekFrom::End(0)).map_err(broken)?;
    // Few archives have a comment.
    let mut tail_start = size.saturating_sub(END_RECORD);
    let mut tail = bytes_at(reader, tail_start, END_RECORD)?;
    if !tail.starts_with(END) || find_end(&tail).is_none() {
        tail_start = size.saturating_sub(END_RECORD + MAX_COMMENT);
        tail = bytes_at(reader, tail_start, size - tail_start)?;
    }
    let end = find_end(&tail)
        .ok_or_else(|| malformed("it is not a zip archive, or its end is missing"))?;
    let record = &tail[end..];
    let end_position = tail_start + end as u64;
    let narrow = End {
        size: u32_at(record, 12).into(),
        offset: u32_at(record, 16).into(),
        position: end_position,
    };
    let end = find_zip64(reader, end_position)?.unwrap_or(narrow);
    locate(reader, &end)
}

/// The end record whose comment ends with the file, else the last one that fits in it: some
/// tools leave bytes behind the archive.
fn find_end(tail: &[u8]) -> Option<usize> {
    let candidates = || {
        let last = tail.len().checked_sub(END_RECORD as usize)?;
        Some(
            (0..=last)
                .rev()
                .filter(|start| tail[*start..].starts_with(END)),
        )
    };
    let end = |start: &usize| start + END_RECORD as usize + u16_at(tail, start + 20) as usize;
    let exact = candidates()?.find(|start| end(start) == tail.len());
    exact.or_else(|| candidates()?.find(|start| end(start) <= tail.len()))
}

fn find_zip64(reader: &mut (impl BufRead + Seek), end: u64) -> Result<Option<End>, Error> {
    let Some(locator_start) = end.checked_sub(20) else {
        return Ok(None);
    };
    let locator = bytes_at(reader, locator_start, 20)?;
    if !locator.starts_with(ZIP64_LOCATOR) {
        return Ok(None);
    }
    // The record stands right before its locator when junk before the archive shifts offsets.
    let usual = locator_start.checked_sub(56);
    for start in [Some(u64_at(&locator, 8)), usual].into_iter().flatten() {
        let record = bytes_at(reader, start, 56)?;
        if record.len() == 56 && record.starts_with(ZIP64_END) {
            return Ok(Some(End {
                size: u64_at(&record, 40),
                offset: u64_at(&record, 48),
                position: start,
            }));
        }
    }
    Err(malformed("its zip64 directory is missing"))
}

/// The directory ends where its end record starts; its declared offset then shows the shift.
fn locate(reader: &mut (impl BufRead + Seek), end: &End) -> Result<Directory, Error> {
    let missing = || malformed("its zip directory is not where it should be");
    let size = end.size;
    let start = end.position.checked_sub(size).ok_or_else(missing)?;
    let shift = start.checked_sub(end.offset).ok_or_else(missing)?;
    if size > 0 && bytes_at(reader, start, 4)? != CENTRAL_HEADER {
        return Err(missing());
    }
    Ok(Directory { start, size, shift })
}

/// Reads one central header, and says how long it is with what belongs to it.
fn read_entry(reader: &mut impl BufRead, shift: u64) -> Result<(Entry, u64), Error> {
    // Nearly all lie in one block of the file.
    if let Some(record) = whole_record(reader.fill_buf().map_err(broken)?) {
        let (entry, length) = (entry_of(record, shift)?, record.len());
        reader.consume(length);
        return Ok((entry, length as u64));
    }
    let mut record = take(reader, CENTRAL_RECORD)?;
    if !record.starts_with(CENTRAL_HEADER) {
        return Err(malformed("its zip directory is damaged"));
    }
    let rest = record_length(&record) - record.len();
    record.extend(take(reader, rest)?);
    Ok((entry_of(&record, shift)?, record.len() as u64))
}

/// The record at the start of a directory, if all of it is there.
fn whole_record(there: &[u8]) -> Option<&[u8]> {
    let is_record = there.len() >= CENTRAL_RECORD && there.starts_with(CENTRAL_HEADER);
    is_record.then(|| there.get(..record_length(there)))?
}

/// The length of a record with its name, its extra fields and its comment.
fn record_length(header: &[u8]) -> usize {
    let lengths = [28, 30, 32].map(|field| usize::from(u16_at(header, field)));
    CENTRAL_RECORD + lengths.iter().sum::<usize>()
}

/// What a record says.
fn entry_of(record: &[u8], shift: u64) -> Result<Entry, Error> {
    let (header, rest) = record.split_at(CENTRAL_RECORD);
    let (name, rest) = rest.split_at(u16_at(header, 28).into());
    let extra = &rest[..u16_at(header, 30).into()];
    let mut sizes = Zip64::new(extra);
    let mut wide = |value: u32| sizes.wide(value);
    // APPNOTE 4.5.3: the 64-bit values stand in this order, only those that are needed.
    let size = wide(u32_at(header, 24))?;
    let compressed = wide(u32_at(header, 20))?;
    let offset = wide(u32_at(header, 42))?;
    let too_far = || malformed("an entry of its zip directory points past any file");
    Ok(Entry {
        name: str::from_utf8(name).map_or_else(|_| lossy(name), str::to_owned),
        flags: u16_at(header, 8),
        method: u16_at(header, 10),
        crc: u32_at(header, 16),
        compressed,
        size,
        header: offset
            .checked_add(shift)
            .filter(|at| *at < 1 << 62)
            .ok_or_else(too_far)?,
    })
}

/// A name that is none in UTF-8, as far as it is one.
fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// The zip64 field among an entry's extra fields.
struct Zip64<'a> {
    values: &'a [u8],
}

impl<'a> Zip64<'a> {
    fn new(mut extra: &'a [u8]) -> Self {
        while extra.len() >= 4 {
            let end = extra.len().min(4 + u16_at(extra, 2) as usize);
            if u16_at(extra, 0) == 1 {
                let values = &extra[4..end];
                return Self { values };
            }
            extra = &extra[end..];
        }
        Self { values: &[] }
    }

    /// A 32-bit value, or the 64-bit one that stands for it.
    fn wide(&mut self, value: u32) -> Result<u64, Error> {
        if value != u32::MAX {
            return Ok(value.into());
        }
        let (wide, rest) = self
            .values
            .split_at_checked(8)
            .ok_or_else(|| malformed("an entry of its zip directory lacks its zip64 sizes"))?;
        self.values = rest;
        Ok(u64_at(wide, 0))
    }
}

fn take(reader: &mut impl Read, length: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).map_err(broken)?;
    Ok(bytes)
}

/// Up to `length` bytes at a position; fewer at the end of the file.
pub(super) fn bytes_at(
    reader: &mut (impl BufRead + Seek),
    start: u64,
    length: u64,
) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    reader.seek(SeekFrom::Start(start)).map_err(broken)?;
    reader
        .take(length)
        .read_to_end(&mut bytes)
        .map_err(broken)?;
    Ok(bytes)
}

fn u16_at(bytes: &[u8], start: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, start))
}

fn u32_at(bytes: &[u8], start: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, start))
}

fn u64_at(bytes: &[u8], start: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, start))
}

/// Bytes of a record that was read whole; zeros beyond its end.
fn array_at<const N: usize>(bytes: &[u8], start: usize) -> [u8; N] {
    let field = bytes.get(start..).and_then(<[u8]>::first_chunk);
    field.copied().unwrap_or([0; N])
}

fn too_many_entries() -> Error {
    Error::Limit {
        limit: "zip entries",
        value: MAX_ENTRIES,
        actual: MAX_ENTRIES + 1,
    }
}

fn malformed(problem: &str) -> Error {
    Error::malformed("the file", problem)
}

fn broken(error: io::Error) -> Error {
    if was_refused(&error) {
        return Error::Host;
    }
    malformed("it ends too early")
}

fn in_part(entry: &Entry, error: &io::Error) -> Error {
    if was_refused(error) {
        return Error::Host;
    }
    let problem = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends too early",
        _ => "its compressed data is damaged",
    };
    Error::in_part(&entry.name, problem)
}
