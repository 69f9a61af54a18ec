//! What is measured.

use std::fs;

use rootbound::{CallError, Output, Session};
use serde_json::{Value, json};

use crate::native;
use crate::trees::{LARGE, LARGEST, Trees};

/// One line of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Bytes that are moved, where that is what the row is about.
    pub(crate) bytes: Option<usize>,
    pub(crate) native: fn(&Trees),
    pub(crate) ripgrep: Option<fn(&Trees) -> Option<()>>,
    pub(crate) call: fn(&Session, &Trees) -> Result<Output, CallError>,
}

pub(crate) const ROWS: [Row; 7] = [
    Row {
        name: "find by name in 20,000 files",
        bytes: None,
        native: native::find,
        ripgrep: None,
        call: |session, _| {
            let arguments = json!({ "path": "tree", "pattern": "**/file-1999*.txt" });
            counted(session.call("find_files", arguments), 10)
        },
    },
    Row {
        name: "search 20,000 files of 4 KiB",
        bytes: None,
        native: native::search,
        ripgrep: Some(native::ripgrep),
        call: |session, _| {
            let arguments = json!({ "path": "tree", "query": "needle" });
            counted(session.call("search_files", arguments), 5)
        },
    },
    Row {
        name: "edit one line in 10 MiB",
        bytes: None,
        native: native::edit,
        ripgrep: None,
        call: edit,
    },
    Row {
        name: "list 10,000 names",
        bytes: None,
        native: |trees| native::list(trees, false),
        ripgrep: None,
        call: |session, _| list(session, false),
    },
    Row {
        name: "list 10,000 with details",
        bytes: None,
        native: |trees| native::list(trees, true),
        ripgrep: None,
        call: |session, _| list(session, true),
    },
    Row {
        name: "read 10 MiB",
        bytes: Some(LARGE),
        native: |trees| native::read(trees, "large.txt"),
        ripgrep: None,
        call: |session, _| {
            let arguments = json!({ "path": "text/large.txt", "max_bytes": LARGE });
            session.call("read_file", arguments)
        },
    },
    Row {
        name: "read 60 MiB through one descriptor",
        bytes: Some(LARGEST),
        native: native::look_through,
        ripgrep: None,
        call: |session, _| {
            let arguments = json!({ "path": "text/largest.txt", "query": "needle" });
            counted(session.call("search_files", arguments), 0)
        },
    },
];

/// An answer that has to count so much: a benchmark of wrong answers measures nothing.
fn counted(answer: Result<Output, CallError>, count: usize) -> Result<Output, CallError> {
    if let Ok(output) = &answer {
        // As text: holding ten thousand entries as values would take longer than the call.
        let fields = output.fields_json();
        assert!(fields.contains(&format!("\"count\":{count},")), "{fields}");
        assert!(fields.contains("\"truncated\":false"), "{fields}");
    }
    answer
}

fn list(session: &Session, details: bool) -> Result<Output, CallError> {
    let arguments = json!({ "path": "entries", "details": details, "limit": 10_000 });
    counted(session.call("list_files", arguments), 10_000)
}

/// Whichever of the two marks stands there becomes the other.
fn edit(session: &Session, trees: &Trees) -> Result<Output, CallError> {
    let edit = |old: &str, new: &str| {
        let edits: Value = json!([{ "old_text": old, "new_text": new }]);
        session.call(
            "edit_file",
            json!({ "path": "text/edited.txt", "edits": edits }),
        )
    };
    // Looked up beforehand, which is not what the row is about: it costs some microseconds.
    let marked = fs::exists(trees.text("marked")).unwrap();
    let (old, new) = match marked {
        false => ("mark: 0\n", "mark: 1\n"),
        true => ("mark: 1\n", "mark: 0\n"),
    };
    let edited = edit(old, new)?;
    match marked {
        false => fs::write(trees.text("marked"), "").unwrap(),
        true => fs::remove_file(trees.text("marked")).unwrap(),
    }
    Ok(edited)
}
