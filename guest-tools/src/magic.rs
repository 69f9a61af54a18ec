//! What bytes look like, by their first few: for messages only, never for a decision.

/// Signatures at the start of a file, most specific first. From the formats' own
/// specifications; types as registered with IANA where they are.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"BM", "image/bmp"),
    (b"%PDF-", "application/pdf"),
    (b"{\\rtf", "application/rtf"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "application/x-ole-storage",
    ),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-elf"),
    (b"\0asm", "application/wasm"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "application/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x00\x00\xfe\xff", "text/plain; charset=utf-32be"),
    (b"\xff\xfe\x00\x00", "text/plain; charset=utf-32le"),
    (b"\xfe\xff", "text/plain; charset=utf-16be"),
    (b"\xff\xfe", "text/plain; charset=utf-16le"),
];

/// Names of parts by which a zip archive shows, early on, what document it holds.
const ZIPPED: &[(&str, &str)] = &[
    (
        "word/",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    (
        "ppt/",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    (
        "xl/",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
];

/// A guess at the media type of a file that is not text.
pub(crate) fn media_type(bytes: &[u8]) -> &'static str {
    let signed = SIGNATURES
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic));
    match signed {
        Some((_, "application/zip")) => zipped(bytes),
        Some((_, media_type)) => media_type,
        None => chunked(bytes).unwrap_or("application/octet-stream"),
    }
}

fn zipped(bytes: &[u8]) -> &'static str {
    // Office documents start with two small parts; the third one's name tells.
    let start = &bytes[..bytes.len().min(4096)];
    let holds = |name: &str| {
        start
            .windows(name.len())
            .any(|window| window == name.as_bytes())
    };
    let document = ZIPPED.iter().find(|(name, _)| holds(name));
    document.map_or("application/zip", |(_, media_type)| media_type)
}

/// Containers that name their content behind a length: RIFF and ISO base media.
fn chunked(bytes: &[u8]) -> Option<&'static str> {
    match (bytes.get(..4)?, bytes.get(4..8)?, bytes.get(8..12)?) {
        (b"RIFF", _, b"WEBP") => Some("image/webp"),
        (b"RIFF", _, b"WAVE") => Some("audio/wav"),
        (_, b"ftyp", _) => Some("video/mp4"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_files_are_recognised() {
        for (bytes, media_type) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], "image/png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
            (b"%PDF-1.7", "application/pdf"),
            (b"\0asm\x01\0\0\0", "application/wasm"),
            (b"PK\x03\x04....mimetype", "application/zip"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"\xff\xfeh\0i\0", "text/plain; charset=utf-16le"),
            (b"\x80\x81", "application/octet-stream"),
            (b"", "application/octet-stream"),
        ] {
            assert_eq!(super::media_type(bytes), media_type);
        }
    }

    #[test]
    fn office_documents_are_told_from_other_archives() {
        let deck = b"PK\x03\x04....[Content_Types].xml....PK\x03\x04....ppt/slides/slide1.xml";
        assert!(media_type(deck).ends_with("presentationml.presentation"));
    }
}
