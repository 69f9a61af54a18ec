//! What is not text: pictures and sounds as media, other bytes when they are asked for.

use rootbound::Content;
use serde_json::{Value, json};

use crate::support::Fixture;

const MEDIA: [(&str, &[u8]); 8] = [
    ("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    ("image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0"),
    // All of this is UTF-8.
    ("image/gif", b"GIF89a\x01\0\x01\0\0\0\0;"),
    ("image/webp", b"RIFF\x1a\0\0\0WEBPVP8L"),
    ("audio/wav", b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0"),
    ("audio/mpeg", b"ID3\x04\0\0\0\0\0\0\xff\xfb"),
    ("audio/flac", b"fLaC\0\0\0\x22\x10"),
    (
        "audio/ogg",
        b"OggS\0\x02............\0\0\0\0\0\0\0\0\x01\x13OpusHead",
    ),
];

#[test]
fn pictures_and_sounds_come_as_media() {
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for (expected, bytes) in MEDIA {
        fixture.input("t", bytes);
        let output = recorded.call("read_file", json!({ "path": "t" })).unwrap();
        let Content::Bytes { data, mime_type } = output.content() else {
            panic!("{expected} came as something else");
        };
        assert_eq!((data.as_slice(), mime_type.as_str()), (bytes, expected));
        let printed: Value = serde_json::from_str(&output.to_json()).unwrap();
        assert_eq!(printed["encoding"], "base64", "{expected}");
        assert_eq!(printed["mime_type"], expected);
        assert_eq!(printed["size"], bytes.len(), "{expected}");
        assert!(printed.get("lines").is_none(), "{expected}");
    }
}

#[test]
fn lines_of_a_picture_are_refused() {
    let fixture = Fixture::new();
    fixture.input("t", MEDIA[0].1);
    let recorded = fixture.session();
    for more in [("offset", json!(1)), ("encoding", json!("utf-8"))] {
        let mut arguments = json!({ "path": "t", "limit": 3 });
        arguments[more.0] = more.1;
        let error = recorded.error("read_file", arguments);
        assert_eq!(error.code(), "not-text");
        assert_eq!(error.details()["mime_type"], "image/png");
        assert!(error.hint().contains("`path` alone"), "{}", error.hint());
    }
}

#[test]
fn any_bytes_come_when_they_are_asked_for() {
    let fixture = Fixture::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    fixture.input("t", &bytes);
    let recorded = fixture.session();
    let refused = recorded.error("read_file", json!({ "path": "t" }));
    assert!(
        refused.hint().contains("`encoding: \"base64\"`"),
        "{}",
        refused.hint()
    );
    let mut arguments = json!({ "path": "t", "encoding": "base64", "max_bytes": 300 });
    let mut whole: Vec<u8> = Vec::new();
    loop {
        let output = recorded.call("read_file", arguments.clone()).unwrap();
        let Content::Bytes { data, .. } = output.content() else {
            panic!("bytes came as something else");
        };
        assert!(data.len() <= 300);
        whole.extend(data);
        match output.fields().get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(whole, bytes);
}
