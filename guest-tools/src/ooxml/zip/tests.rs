//! Archives built in memory, also for the tests of packages and presentations.

use super::*;
use std::io::Cursor;

/// An archive of stored entries.
pub(in crate::ooxml) fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for (name, content) in parts {
        let offset = bytes.len() as u32;
        let common = common_header(name, content.as_bytes());
        bytes.extend([LOCAL_HEADER, &common, &[0; 2]].concat());
        bytes.extend([name.as_bytes(), content.as_bytes()].concat());
        directory.extend([CENTRAL_HEADER, &[20, 0], &common, &[0; 12]].concat());
        directory.extend([&offset.to_le_bytes(), name.as_bytes()].concat());
    }
    let (offset, size) = (bytes.len() as u32, directory.len() as u32);
    bytes.extend(directory);
    bytes.extend(
        [
            END,
            &[0; 8],
            &size.to_le_bytes(),
            &offset.to_le_bytes(),
            &[0; 2],
        ]
        .concat(),
    );
    bytes
}

/// From the version needed to the length of the name.
fn common_header(name: &str, content: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(content);
    let length = (content.len() as u32).to_le_bytes();
    let name_length = (name.len() as u16).to_le_bytes();
    [
        &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &crc.sum().to_le_bytes()[..],
        &length,
        &length,
        &name_length,
    ]
    .concat()
}

fn names(bytes: &[u8]) -> Result<Vec<String>, Error> {
    let entries = entries(&mut Cursor::new(bytes))?;
    Ok(entries.into_iter().map(|entry| entry.name).collect())
}

#[test]
fn records_are_read_wherever_a_block_of_the_file_ends() {
    let bytes = archive(&[("first.xml", "1"), ("grüße.xml", ""), ("last.xml", "3")]);
    let whole = names(&bytes).unwrap();
    for capacity in 1..=2 * CENTRAL_RECORD {
        let mut reader = io::BufReader::with_capacity(capacity, Cursor::new(&bytes));
        let found = entries(&mut reader).unwrap().into_iter();
        let found: Vec<_> = found.map(|entry| entry.name).collect();
        assert_eq!(found, whole, "{capacity}");
    }
}

fn first(bytes: &[u8], limit: u64) -> Result<Vec<u8>, Error> {
    let mut reader = Cursor::new(bytes);
    let entries = entries(&mut reader)?;
    let mut content = Vec::new();
    let mut inflater = Inflater::new();
    read(&mut reader, &mut inflater, &entries[0], limit, &mut content)?;
    Ok(content)
}

/// An archive of one entry with a byte of its central header changed.
fn changed(offset: usize, value: u8) -> Vec<u8> {
    let mut bytes = archive(&[("a", "text")]);
    let header = bytes.windows(4).position(|window| window == CENTRAL_HEADER);
    bytes[header.unwrap() + offset] = value;
    bytes
}

fn problem(answer: Result<impl std::fmt::Debug, Error>) -> String {
    answer.unwrap_err().message()
}

#[test]
fn entries_are_listed_and_read() {
    let bytes = archive(&[("a", "text"), ("b/c", "")]);
    assert_eq!(names(&bytes), Ok(vec!["a".to_owned(), "b/c".to_owned()]));
    assert_eq!(first(&bytes, 4), Ok(b"text".to_vec()));
    assert_eq!(names(&archive(&[])), Ok(Vec::new()));
}

#[test]
fn bytes_before_and_behind_are_passed_over() {
    let bytes = archive(&[("a", "text")]);
    for around in [
        [&b"junk"[..], &bytes].concat(),
        [&bytes[..], &[0; 5000]].concat(),
    ] {
        assert_eq!(first(&around, 4), Ok(b"text".to_vec()));
    }
}

#[test]
fn a_comment_may_hold_an_end_record() {
    let mut bytes = archive(&[("a", "text")]);
    let comment = [END, &[0; 18], b"."].concat();
    let length = bytes.len();
    bytes[length - 2] = comment.len() as u8;
    bytes.extend(comment);
    assert_eq!(first(&bytes, 4), Ok(b"text".to_vec()));
}

#[test]
fn zip64_is_read() {
    let bytes = include_bytes!("../../../tests/corpus/hostile_office/zip_zip64.pptx");
    assert!(
        names(bytes)
            .unwrap()
            .contains(&"ppt/presentation.xml".to_owned())
    );
}

#[test]
fn reading_stops_one_byte_over_the_limit() {
    let bytes = first(&archive(&[("a", "text")]), 2).unwrap();
    assert_eq!(bytes, b"tex");
}

#[test]
fn what_an_entry_declares_must_be_true() {
    assert!(problem(first(&changed(16, 1), 9)).contains("checksum"));
    assert!(problem(first(&changed(24, 9), 9)).contains("declares 9 bytes and holds 4"));
    assert!(problem(first(&changed(42, 9), 9)).contains("local header"));
}

#[test]
fn what_opc_forbids_is_named() {
    assert!(problem(first(&changed(10, 93), 9)).contains("compression method 93 (zstd)"));
    assert!(problem(first(&changed(8, 1), 9)).contains("encrypted part `a`"));
}

#[test]
fn a_damaged_directory_is_refused() {
    let bytes = archive(&[("a", "text")]);
    assert!(problem(names(&bytes[..bytes.len() - 1])).contains("not a zip archive"));
    assert!(problem(names(&bytes[1..])).contains("not where it should be"));
    assert!(names(&changed(28, 200)).is_err());
}

#[test]
fn entries_are_limited() {
    let parts = vec![("a", ""); MAX_ENTRIES as usize + 1];
    assert!(names(&archive(&parts[1..])).is_ok());
    assert!(matches!(names(&archive(&parts)), Err(Error::Limit { .. })));
}
