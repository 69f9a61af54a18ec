//! Documents of other kinds, told by their first bytes or by what they say of themselves.

use super::Error;
use super::xml::Space;
use super::zip::bytes_at;
use std::io::{BufRead, Seek};

/// The start of an OLE2 compound file (MS-CFB 2.2).
const OLE2: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// Directory entries looked at in a compound file: those of Office's own streams come first.
const OLE2_DIRECTORY: u64 = 4 * 4096;

/// Streams of a compound file and what their presence makes of it.
const OLE2_STREAMS: [(&str, &str, &str); 5] = [
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
    (
        "Book",
        "an Excel workbook in an old binary format (.xls)",
        SAVE_AGAIN,
    ),
];

/// How other formats start, in lower case, and what they are.
const TEXT_FORMATS: [(&str, &str); 8] = [
    ("%pdf-", "a PDF document"),
    ("{\\rtf", "a rich text document (RTF)"),
    ("<!doctype html", HTML),
    ("<html", HTML),
    ("<table", HTML),
    ("<meta", HTML),
    ("mime-version:", "a web archive (MHTML)"),
    (
        "\x09\x08",
        "an Excel workbook in an old binary format (.xls)",
    ),
];

/// What the start of an XML file holds, in lower case, and what that makes of it.
const XML_FORMATS: [(&str, &str); 4] = [
    ("<html", HTML),
    (
        "urn:schemas-microsoft-com:office:spreadsheet",
        "an Excel workbook in the XML format of 2003",
    ),
    (
        "schemas.microsoft.com/office/word/2003",
        "a Word document in the XML format of 2003",
    ),
    (
        "schemas.microsoft.com/office/2006/xmlpackage",
        "an Office document as flat XML",
    ),
];

const HTML: &str = "a web page (HTML)";

const SAVE_AGAIN: &str = "ask for a copy saved in the current format (.pptx, .docx, .xlsx)";
const CONVERT: &str = "ask for a copy in an Office Open XML format, such as .pptx";

/// Refuses formats that are not zip archives and that have a name.
pub(super) fn refuse_other_formats(reader: &mut (impl BufRead + Seek)) -> Result<(), Error> {
    let head = bytes_at(reader, 0, 512)?;
    if head.starts_with(OLE2) {
        return Err(compound(reader, &head));
    }
    match text_format(&head) {
        Some(kind) => Err(unsupported(kind, CONVERT)),
        None => Ok(()),
    }
}

/// Formats that start with words of their own, after white space and a byte order mark.
fn text_format(head: &[u8]) -> Option<&'static str> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start().to_ascii_lowercase();
    let holds = |word: &str| {
        let mut windows = head.windows(word.len());
        windows.any(|window| window == word.as_bytes())
    };
    let known = TEXT_FORMATS.iter();
    let mut known = known.filter(|(start, _)| head.starts_with(start.as_bytes()));
    match known.next() {
        Some((_, kind)) => Some(kind),
        None if head.starts_with(b"<?xml") => XML_FORMATS
            .iter()
            .find(|(word, _)| holds(word))
            .map(|(_, kind)| *kind),
        None => None,
    }
}

/// The refusal of a zip archive that declares a media type of its own.
pub(super) fn other_package(media_type: &str) -> Error {
    let kind = match media_type.trim_end_matches("-template") {
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

/// The documents that are read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Presentation,
    Document,
    Workbook,
}

impl Kind {
    /// What the root element of a main part makes of a package.
    pub(super) fn of_root(root: (Space, &str)) -> Option<Self> {
        match root {
            (Space::Presentation, "presentation") => Some(Self::Presentation),
            (Space::Word, "document") => Some(Self::Document),
            (Space::Sheet, "workbook") => Some(Self::Workbook),
            _ => None,
        }
    }

    /// The ending of its files, without the dot.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Presentation => "pptx",
            Self::Document => "docx",
            Self::Workbook => "xlsx",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Presentation => "a presentation (.pptx)",
            Self::Document => "a Word document (.docx)",
            Self::Workbook => "an Excel workbook (.xlsx)",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Presentation => "read it with `read_pptx`",
            Self::Document => "read it with `read_docx`",
            Self::Workbook => "read it with `read_xlsx`",
        }
    }
}

/// The refusal of a package whose main part is something else than wanted, by its root element.
pub(super) fn other_main_part(part: &str, root: (Space, &str)) -> Error {
    match (Kind::of_root(root), root.1) {
        (Some(kind), _) => unsupported(kind.name(), kind.hint()),
        (None, "VisioDocument") => unsupported("a Visio drawing (.vsdx)", CONVERT),
        (None, "FixedDocumentSequence") => unsupported("an XPS document", CONVERT),
        (None, name) => {
            let name = super::shown(name);
            Error::in_part(
                part,
                format!("its root element is `{name}`, which is no document"),
            )
        }
    }
}

/// The refusal of a main part that is not XML, by its name.
pub(super) fn binary_main_part(part: &str) -> Option<Error> {
    let is_binary = part.to_ascii_lowercase().ends_with(".bin");
    is_binary.then(|| unsupported("an Excel workbook in the binary format (.xlsb)", SAVE_AGAIN))
}

fn compound(reader: &mut (impl BufRead + Seek), header: &[u8]) -> Error {
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
fn directory_names(reader: &mut (impl BufRead + Seek), header: &[u8]) -> Option<Vec<u8>> {
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
        assert_eq!(kind(b"\xef\xbb\xbf\r\n<HTML><body>"), HTML);
        assert_eq!(kind(b"<?xml version=\"1.0\"?><html>"), HTML);
        assert_eq!(kind(b"MIME-Version: 1.0"), "a web archive (MHTML)");
        assert_eq!(
            refuse_other_formats(&mut Cursor::new(b"PK\x03\x04")),
            Ok(())
        );
        let odp = other_package("application/vnd.oasis.opendocument.presentation");
        assert!(odp.message().contains("OpenDocument presentation"));
    }

    #[test]
    fn other_main_parts_are_named() {
        let word = other_main_part("x", (Space::Word, "document"));
        assert!(word.message().contains("Word"));
        let other = other_main_part("x", (Space::Other, "html"));
        assert!(matches!(other, Error::Malformed { .. }));
        assert!(binary_main_part("xl/workbook.BIN").is_some());
        assert!(binary_main_part("xl/workbook.xml").is_none());
    }
}
