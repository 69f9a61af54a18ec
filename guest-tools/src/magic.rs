//! What bytes look like, by their first few: for messages, and for how they are shown, never
//! for a decision about what may be done.

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
    (b"MThd", "audio/midi"),
    (b"#!AMR", "audio/amr"),
    (b"\x1aE\xdf\xa3", "video/webm"),
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

/// A guess at the media type of a file.
pub(crate) fn media_type(bytes: &[u8]) -> &'static str {
    let signed = SIGNATURES
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic) && !may_be_words(magic, bytes));
    match signed {
        Some((_, "application/zip")) => zipped(bytes),
        Some((_, "application/ogg")) => ogg(bytes),
        Some((_, media_type)) => media_type,
        None => chunked(bytes)
            .or_else(|| frames(bytes))
            .unwrap_or_else(|| other(bytes)),
    }
}

/// A guess at the media type of a file that is no text in the encoding that it seemed to have,
/// by its start and by what begins with the first bad byte.
pub(crate) fn media_type_of_bad(start: &[u8], bad: &[u8]) -> &'static str {
    match media_type(start) {
        // It starts like text and goes on as something else.
        "text/plain" => other(bad),
        media_type => media_type,
    }
}

/// Two or three letters may also start a text.
fn may_be_words(magic: &[u8], bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(64)];
    magic.len() < 4 && magic.is_ascii() && !start.contains(&0) && other(bytes) == "text/plain"
}

/// Whether it is a picture or a sound that clients show.
pub(crate) fn is_media(media_type: &str) -> bool {
    matches!(
        media_type,
        "image/png" | "image/jpeg" | "image/gif" | "image/webp"
    ) || media_type.starts_with("audio/")
}

/// What carries no signature: text, or nothing that is known.
fn other(bytes: &[u8]) -> &'static str {
    const TELLING: usize = 4096;
    let start = &bytes[..bytes.len().min(TELLING)];
    if !start.is_empty() && start.iter().all(|byte| *byte == 0) {
        return "application/octet-stream";
    }
    let is_plain = |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace();
    let is_utf_8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && start.len() < bytes.len(),
    };
    match (is_utf_8, start.iter().all(is_plain)) {
        (true, _) => "text/plain",
        (false, true) => "text/plain; charset=unknown-8bit",
        (false, false) => "application/octet-stream",
    }
}

/// What an Ogg file holds stands at the start of its first page (RFC 5334).
fn ogg(bytes: &[u8]) -> &'static str {
    const SOUNDS: [&[u8]; 4] = [b"OpusHead", b"\x01vorbis", b"Speex   ", b"\x7fFLAC"];
    let start = bytes.get(28..).unwrap_or_default();
    if SOUNDS.iter().any(|sound| start.starts_with(sound)) {
        "audio/ogg"
    } else {
        "application/ogg"
    }
}

/// MPEG layer III and AAC without a container: the header of the first frame.
fn frames(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, second, third, ..]
            if second & 0xe6 == 0xe2 && third & 0xf0 != 0xf0 && third & 0x0c != 0x0c =>
        {
            Some("audio/mpeg")
        }
        [0xff, 0xf0 | 0xf1 | 0xf8 | 0xf9, ..] => Some("audio/aac"),
        _ => None,
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
        (b"FORM", _, b"AIFF" | b"AIFC") => Some("audio/aiff"),
        (_, b"ftyp", b"M4A " | b"M4B ") => Some("audio/mp4"),
        (_, b"ftyp", b"avif") => Some("image/avif"),
        (_, b"ftyp", b"heic" | b"heix" | b"mif1") => Some("image/heic"),
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
            (b"\xff\xfb\x90\x64\0\0", "audio/mpeg"),
            (b"\xff\xf1\x50\x80", "audio/aac"),
            (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
            (b"\0\0\0 ftypM4A \0\0\0\0", "audio/mp4"),
            (
                b"OggS\0\x02............\0\0\0\0....\x01\x13OpusHead",
                "audio/ogg",
            ),
            (
                b"OggS\0\x02............\0\0\0\0....\x01\x2a\x80theora",
                "application/ogg",
            ),
            (b"caf\xe9\r\n", "text/plain; charset=unknown-8bit"),
            (b"\x80\x81\x01", "application/octet-stream"),
            (b"caf\xc3\xa9\0", "text/plain"),
            (b"BMW is a make of cars", "text/plain"),
            (b"BM\x36\0\0\0\0\0", "image/bmp"),
            (b"", "text/plain"),
            (b"\0\0\0\0", "application/octet-stream"),
        ] {
            assert_eq!(super::media_type(bytes), media_type);
        }
    }

    #[test]
    fn what_starts_like_text_is_told_by_what_is_not() {
        let start = b"a long header in plain words\n";
        assert_eq!(
            media_type_of_bad(start, b"\xff\x01\x02"),
            "application/octet-stream"
        );
        let text = media_type_of_bad(start, b"\xe9 and more words");
        assert_eq!(text, "text/plain; charset=unknown-8bit");
        assert_eq!(media_type_of_bad(b"%PDF-1.7", b"\xff"), "application/pdf");
    }

    #[test]
    fn office_documents_are_told_from_other_archives() {
        let deck = b"PK\x03\x04....[Content_Types].xml....PK\x03\x04....ppt/slides/slide1.xml";
        assert!(media_type(deck).ends_with("presentationml.presentation"));
    }
}
