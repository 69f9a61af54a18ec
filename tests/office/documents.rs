//! `read_docx`, `read_xlsx` and `read_document` on real files.

use std::fs;

use serde_json::{Value, json};

use super::{corpus, reading, rows};
use crate::support::{Fixture, Recorded};

/// Files of the corpus that the readers of other projects open.
fn opened() -> Vec<(String, &'static str)> {
    let rows = rows(&corpus().join("office/MANIFEST.tsv")).into_iter();
    let opened = rows.filter(|row| row[4] == "yes").map(|row| {
        let tool = match row[0].split('/').next() {
            Some("pptx") => "read_pptx",
            Some("docx") => "read_docx",
            _ => "read_xlsx",
        };
        (row[0].clone(), tool)
    });
    opened.collect()
}

fn content(recorded: &Recorded, arguments: Value) -> (Value, String) {
    let output = recorded.call("read_document", arguments).unwrap();
    let content = output.text().unwrap().to_owned();
    (Value::Object(output.fields()), content)
}

#[test]
fn real_files_are_read_by_their_own_tool_and_by_the_one_for_all() {
    let (_fixture, recorded) = reading("office");
    let files = opened();
    assert!(!files.is_empty());
    for (path, tool) in files {
        let arguments = json!({ "path": path });
        if let Err(error) = recorded.call(tool, arguments.clone()) {
            panic!("{tool} {path}: {error}");
        }
        let (fields, content) = content(&recorded, arguments);
        let is_told = content.is_empty() && fields["warnings"] != json!([]);
        assert!(!content.is_empty() || is_told, "{path}: {fields}");
    }
}

#[test]
fn a_document_of_another_kind_is_sent_to_its_tool() {
    let (_fixture, recorded) = reading("office");
    let (deck, _) = opened()
        .into_iter()
        .find(|(_, tool)| *tool == "read_pptx")
        .unwrap();
    for tool in ["read_docx", "read_xlsx"] {
        let error = recorded.error(tool, json!({ "path": deck }));
        assert_eq!(error.code(), "unsupported-document", "{error}");
        assert_eq!(error.hint(), "read it with `read_pptx`");
    }
}

#[test]
fn blocks_come_in_parts_that_make_up_the_whole() {
    let (_fixture, recorded) = reading("office");
    let (path, _) = opened()
        .into_iter()
        .find(|(_, tool)| *tool == "read_docx")
        .unwrap();
    let whole = recorded.fields("read_docx", json!({ "path": path }));
    assert_eq!(whole["truncated"], false);
    let mut blocks = Vec::new();
    let mut arguments = json!({ "path": path, "limit": 1 });
    loop {
        let part = recorded.fields("read_docx", arguments.clone());
        assert_eq!(part["count"], whole["count"]);
        blocks.extend(part["blocks"].as_array().unwrap().clone());
        assert_eq!(part["truncated"], part["next_cursor"].is_string());
        if part["truncated"] == false {
            break;
        }
        arguments["cursor"] = part["next_cursor"].clone();
    }
    assert_eq!(json!(blocks), whole["blocks"]);
    for foreign in ["no cursor", "4294967295"] {
        arguments["cursor"] = json!(foreign);
        let error = recorded.error("read_docx", arguments.clone());
        assert_eq!(error.code(), "invalid-arguments", "{foreign}");
    }
}

#[test]
fn a_long_document_comes_in_parts() {
    let (_fixture, recorded) = reading("office");
    let (path, _) = opened()
        .into_iter()
        .find(|(_, tool)| *tool == "read_docx")
        .unwrap();
    let (_, whole) = content(&recorded, json!({ "path": path }));
    let mut parts = String::new();
    let mut cursor = None;
    loop {
        let mut arguments = json!({ "path": path, "max_bytes": 100 });
        if let Some(cursor) = cursor {
            arguments["cursor"] = cursor;
        }
        let (fields, part) = content(&recorded, arguments);
        assert!(part.len() <= 100 && !part.is_empty());
        assert_eq!(fields["size"], whole.len());
        parts.push_str(&part);
        match fields.get("next_cursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(parts, whole);
    let wrong = json!({ "path": path, "cursor": "999999999" });
    let error = recorded.error("read_document", wrong);
    assert_eq!(error.code(), "invalid-arguments");
}

#[test]
fn rows_of_a_workbook_come_in_windows() {
    let (_fixture, recorded) = reading("office");
    let path = "xlsx/calamine__inlineStr_with_value.xlsx";
    let whole = recorded.fields("read_xlsx", json!({ "path": path }));
    assert_eq!(whole["truncated"], false);
    let all = whole["sheets"][0]["rows"].as_array().unwrap().clone();
    let first = recorded.fields("read_xlsx", json!({ "path": path, "limit": 1 }));
    assert_eq!(first["sheets"][0]["rows"], json!([all[0]]));
    let cursor = &first["next_cursor"];
    let rest = recorded.fields("read_xlsx", json!({ "path": path, "cursor": cursor }));
    assert_eq!(rest["sheets"][0]["rows"], json!(all[1..]));
    let error = recorded.error("read_xlsx", json!({ "path": path, "sheet": "None" }));
    assert_eq!(error.code(), "invalid-arguments");
    assert!(error.hint().contains("the sheets are `"), "{error}");
}

/// Formats that are none of ours are named, whatever their ending says.
#[test]
fn other_formats_are_named() {
    let fixture = Fixture::new();
    let old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    for (content, kind) in [
        (&b"%PDF-1.7\n"[..], "a PDF document"),
        (b"{\\rtf1\\ansi}", "a rich text document (RTF)"),
        (b"<html><body>x</body></html>", "a web page (HTML)"),
        (
            &[&old[..], &[0; 600]].concat(),
            "an old binary or password-protected",
        ),
    ] {
        fs::write(fixture.inputs().join("x.docx"), content).unwrap();
        let recorded = fixture.session();
        for tool in ["read_docx", "read_document"] {
            let error = recorded.error(tool, json!({ "path": "x.docx" }));
            assert_eq!(error.code(), "unsupported-document", "{error}");
            assert!(error.to_string().contains(kind), "{error}");
            assert_ne!(error.hint(), "");
        }
    }
}
