//! `read_pptx` on real packages, through component and guard.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Fixture, Recorded};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/guest-tools/tests/data");

/// Three slides with notes; `guest-tools/tests/data/README.md` says where it is from.
pub const DECK: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/guest-tools/tests/data/B05_notes_crossed.pptx"
);

fn decks() -> (Fixture, Recorded) {
    let fixture = Fixture::new();
    for entry in fs::read_dir(DATA).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), fixture.inputs().join(entry.file_name())).unwrap();
    }
    let recorded = fixture.session();
    (fixture, recorded)
}

#[test]
fn a_deck_is_read_slide_by_slide_with_its_notes() {
    let (_fixture, recorded) = decks();
    let path = "B05_notes_crossed.pptx";
    let fields = recorded.fields("read_pptx", json!({ "path": path }));
    let slide = |index: u32, text: &str, notes: Value| json!({ "index": index, "title": null, "text": text, "notes": notes, "hidden": false });
    let expected = json!({
        "path": path,
        "slides": [
            slide(1, "First", json!("Notes of the first slide\nsecond line")),
            slide(2, "Second has no notes", Value::Null),
            slide(3, "Third", json!("Notes of the third slide")),
        ],
        "warnings": [],
    });
    assert_eq!(fields, expected);
    let fields = recorded.fields("read_pptx", json!({ "path": path, "notes": false }));
    for slide in fields["slides"].as_array().unwrap() {
        assert!(slide.get("notes").is_none(), "{slide}");
    }
}

#[test]
fn slides_stand_in_the_order_of_the_show() {
    let (_fixture, recorded) = decks();
    let path = "B04_reordered_orphan_custom.pptx";
    let fields = recorded.fields("read_pptx", json!({ "path": path }));
    let slides = fields["slides"].as_array().unwrap();
    let texts: Vec<&Value> = slides.iter().map(|slide| &slide["text"]).collect();
    assert_eq!(
        texts,
        ["Summary first", "Product intro second", "Closing third"]
    );
}

/// What is no presentation, and whether it is another document or a broken one.
#[test]
fn what_is_no_presentation_is_refused() {
    let (fixture, recorded) = decks();
    let deck = fs::read(DECK).unwrap();
    fixture.input("empty.pptx", "");
    fixture.input("text.pptx", "not a presentation");
    fixture.input("cut.pptx", &deck[..deck.len() / 2]);
    let old: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
    fixture.input("old.pptx", [&old[..], &[0; 4096]].concat());
    fs::create_dir(fixture.inputs().join("directory.pptx")).unwrap();
    let word = super::corpus().join("hostile_office/docx_named_pptx.pptx");
    fs::copy(word, fixture.inputs().join("word.pptx")).unwrap();
    for (path, codes) in [
        ("word.pptx", &["unsupported-document"][..]),
        ("old.pptx", &["unsupported-document"]),
        ("empty.pptx", &["malformed-document"]),
        ("text.pptx", &["malformed-document", "unsupported-document"]),
        ("cut.pptx", &["malformed-document"]),
        ("directory.pptx", &["not-a-file"]),
        ("missing.pptx", &["not-found"]),
    ] {
        let error = recorded.error("read_pptx", json!({ "path": path }));
        assert!(codes.contains(&error.code()), "{path}: {error}");
        assert_ne!(error.hint(), "", "{path}: {error}");
    }
}

/// The audit log counts what the text needed, not what else is in the package.
#[test]
fn reading_a_deck_is_one_access() {
    let (_fixture, recorded) = decks();
    recorded.fields("read_pptx", json!({ "path": "B05_notes_crossed.pptx" }));
    let accesses = recorded.entries_of("access");
    assert_eq!(accesses.len(), 1);
    assert_eq!(accesses[0]["operation"], "read");
    assert_eq!(accesses[0]["path"], "B05_notes_crossed.pptx");
    let size = fs::metadata(DECK).unwrap().len();
    assert!(accesses[0]["bytes"].as_u64().unwrap() <= size);
}
