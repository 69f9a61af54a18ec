//! Documents of other kinds, told by their first bytes or by what they say of themselves.

use super::Error;
use super::zip::bytes_at;
use std::io::{Read, Seek};

/// The start of an OLE2 compound file (MS-CFB 2.2).
const OLE2: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// Directory entries looked at in a compound file: those of Office's own streams come first.
const OLE2_DIRECTORY: u64 = 4 * 4096;

/// Streams of a compound file and what their presence makes of it.
const OLE2_STREAMS: [(&str, &str, &str); 4] = [
    (
        "EncryptedPackage",
        "an Office document encrypted with a password",
        "ask for a copy without a password",
    ),
    (
        "PowerPoint Document",
        "a presentation in the old binary format (.ppt)",
        SAVE_AGAIN,
    ),
    (
        "WordDocument",
        "a Word document in the old binary format (.doc)",
        SAVE_AGAIN,
    ),
    (
        "Workbook",
        "an Excel workbook in the old binary format (.xls)",
        SAVE_AGAIN,
    ),
];

const SAVE_AGAIN: &str = "ask for a copy saved in the current format (.pptx, .docx, .xlsx)";
const CONVERT: &str = "ask for a copy in an Office Open XML format, such as .pptx";

/// Refuses formats that are not zip archives and that have a name.
pub(super) fn refuse_other_formats(reader: &mut (impl Read + Seek)) -> Result<(), Error> {
    let head = bytes_at(reader, 0, 512)?;
    if head.starts_with(OLE2) {
        return Err(compound(reader, &head));
    }
    for (start, kind) in [
        (&b"%PDF-"[..], "a PDF document"),
        (b"{\\rtf", "a rich text document (RTF)"),
    ] {
        if head.starts_with(start) {
            return Err(unsupported(kind, CONVERT));
        }
    }
    Ok(())
}

/// The refusal of a zip archive that declares a media type of its own.
pub(super) fn other_package(media_type: &str) -> Error {
    let kind = match media_type {
        "application/vnd.oasis.opendocument.presentation" => "an OpenDocument presentation (.odp)",
        "application/vnd.oasis.opendocument.text" => "an OpenDocument text (.odt)",
        "application/vnd.oasis.opendocument.spreadsheet" => "an OpenDocument spreadsheet (.ods)",
        "application/epub+zip" => "an electronic book (EPUB)",
        other => {
            return unsupported(
                &format!("a package of type `{}`", super::shown(other)),
                CONVERT,
            );
        }
    };
    unsupported(kind, CONVERT)
}

/// The refusal of a package whose main part is something else than wanted, by its root element.
pub(super) fn other_main_part(part: &str, root: &str) -> Error {
    match root {
        "document" => unsupported("a Word document (.docx)", "this tool reads presentations"),
        "workbook" => unsupported("an Excel workbook (.xlsx)", "this tool reads presentations"),
        "VisioDocument" => unsupported("a Visio drawing (.vsdx)", CONVERT),
        _ => Error::in_part(part, "it is not a presentation"),
    }
}

fn compound(reader: &mut (impl Read + Seek), header: &[u8]) -> Error {
    let names = directory_names(reader, header).unwrap_or_default();
    let holds = |stream: &str| {
        let name: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
        names.chunks(128).any(|entry| entry.starts_with(&name))
    };
    let known = OLE2_STREAMS.iter().find(|(stream, ..)| holds(stream));
    match known {
        Some((_, kind, hint)) => unsupported(kind, hint),
        None => unsupported(
            "an old binary or password-protected Office file (OLE2)",
            "ask for a copy without a password, saved in the current format",
        ),
    }
}

/// The start of the directory, whose entries of 128 bytes begin with their names (MS-CFB 2.6).
fn directory_names(reader: &mut (impl Read + Seek), header: &[u8]) -> Option<Vec<u8>> {
    let shift = u32::from(*header.get(30)?);
    let sector = u32::from_le_bytes(*header.get(48..)?.first_chunk()?);
    let start = (u64::from(sector) + 1).checked_shl(shift)?;
    bytes_at(reader, start, OLE2_DIRECTORY).ok()
}

fn unsupported(kind: &str, hint: &'static str) -> Error {
    let kind = kind.to_owned();
    Error::Unsupported { kind, hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn kind(bytes: &[u8]) -> String {
        match refuse_other_formats(&mut Cursor::new(bytes)) {
            Err(Error::Unsupported { kind, .. }) => kind,
            other => panic!("{other:?}"),
        }
    }

    fn compound_with(stream: &str) -> Vec<u8> {
        let mut bytes = OLE2.to_vec();
        bytes.resize(1024, 0);
        bytes[30] = 9;
        let name: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes[512 + 128..][..name.len()].copy_from_slice(&name);
        bytes
    }

    #[test]
    fn compound_files_are_told_by_their_streams() {
        assert!(kind(&compound_with("EncryptedPackage")).contains("password"));
        assert!(kind(&compound_with("PowerPoint Document")).contains(".ppt"));
        assert!(kind(&compound_with("Other")).contains("old binary or password-protected"));
        assert!(kind(OLE2).contains("old binary or password-protected"));
    }

    #[test]
    fn other_documents_are_named() {
        assert_eq!(kind(b"%PDF-1.4"), "a PDF document");
        assert_eq!(kind(b"{\\rtf1"), "a rich text document (RTF)");
        assert_eq!(
            refuse_other_formats(&mut Cursor::new(b"PK\x03\x04")),
            Ok(())
        );
        let odp = other_package("application/vnd.oasis.opendocument.presentation");
        assert!(odp.message().contains("OpenDocument presentation"));
    }

    #[test]
    fn other_main_parts_are_named() {
        assert!(other_main_part("x", "document").message().contains("Word"));
        assert!(matches!(
            other_main_part("x", "html"),
            Error::Malformed { .. }
        ));
    }
}
