//! Packages that attack their reader: each ends with its right class of answer, and the next
//! call reads a good one.

use std::fmt::Write;
use std::path::Path;

use rootbound::{CallError, Output};
use serde_json::{Value, json};

use super::{corpus, reading, rows};

const CONTROL: &str = "control_plain.pptx";

/// The class of an answer, in the manifest's words; an ending of another kind by its code.
fn class(answer: &Result<Output, CallError>) -> String {
    match answer {
        Ok(_) => "text".to_owned(),
        Err(error) => match error.code() {
            "malformed-document" | "unsupported-document" => "error".to_owned(),
            "limit-exceeded" if error.details()["limit"] != "max_memory" => "limit".to_owned(),
            code => format!("{code} {:?}", error.details()),
        },
    }
}

#[test]
fn every_hostile_package_is_answered_and_a_good_one_read_after_it() {
    let manifest = corpus().join("hostile_office/MANIFEST.tsv");
    let (_fixture, recorded) = reading("hostile_office");
    let mut problems = String::new();
    for row in rows(&manifest) {
        let (file, accepted) = (&row[0], &row[4]);
        for tool in ["read_pptx", "read_document"] {
            let class = class(&recorded.call(tool, json!({ "path": file })));
            // `text-with-warning` and the like are text too; any kind of document is one for
            // the tool that reads all of them.
            let mut classes = accepted.split('|');
            let is_accepted = classes.any(|accepted| accepted.split('-').next() == Some(&class));
            let is_word = file == "docx_named_pptx.pptx" && tool == "read_document";
            if !is_accepted && !is_word {
                let _ = writeln!(problems, "{tool} {file}: {class}, and not {accepted}");
            }
        }
        let control = recorded.fields("read_pptx", json!({ "path": CONTROL }));
        assert_eq!(control["slides"][0]["text"], "Safe text", "after {file}");
    }
    assert_eq!(problems, "");
}

/// Depth above all: what recurses must stay within the stack of a component.
#[test]
fn hostile_documents_and_workbooks_are_answered_too() {
    const FOLDER: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/guest-tools/tests/corpus/hostile_more"
    );
    let (_fixture, recorded) = reading(FOLDER);
    let mut problems = String::new();
    for row in rows(&Path::new(FOLDER).join("MANIFEST.tsv")) {
        let (file, accepted, text) = (&row[0], &row[2], &row[3]);
        let own = match file.rsplit_once('.') {
            Some((_, "docx")) => "read_docx",
            Some((_, "pptx")) => "read_pptx",
            _ => "read_xlsx",
        };
        for tool in [own, "read_document"] {
            let answer = recorded.call(tool, json!({ "path": file }));
            let class = class(&answer);
            let mut classes = accepted.split('|');
            if !classes.any(|accepted| accepted == class || accepted == "warning") {
                let _ = writeln!(problems, "{tool} {file}: {class}, and not {accepted}");
            } else if let Ok(output) = answer {
                let answer = output.to_json();
                assert!(answer.contains(text), "{tool} {file}: {answer:.500}");
                assert!(accepted != "warning" || output.fields()["warnings"] != json!([]));
            }
        }
    }
    assert_eq!(problems, "");
}

/// Slides that cannot be read are told of; a deck of them is no success.
#[test]
fn nothing_read_is_never_a_success() {
    let manifest = corpus().join("hostile_office/MANIFEST.tsv");
    let (_fixture, recorded) = reading("hostile_office");
    for row in rows(&manifest) {
        if let Ok(output) = recorded.call("read_pptx", json!({ "path": &row[0] })) {
            let fields = Value::Object(output.fields());
            let slides = fields["slides"].as_array().unwrap();
            let is_empty = slides.iter().all(|slide| slide["text"] == "");
            let warnings = fields["warnings"].as_array().unwrap();
            assert!(!is_empty || !warnings.is_empty(), "{}", row[0]);
        }
    }
}

/// Text of a document's own never becomes a name outside the answer.
#[test]
fn refusals_name_no_path_of_the_host() {
    let manifest = corpus().join("hostile_office/MANIFEST.tsv");
    let (fixture, recorded) = reading("hostile_office");
    let base = fixture.base().to_str().unwrap().to_owned();
    let corpus = corpus().to_str().unwrap().to_owned();
    for row in rows(&manifest) {
        if let Err(error) = recorded.call("read_document", json!({ "path": &row[0] })) {
            let shown = error.to_json().to_string();
            assert!(!shown.contains(&base), "{shown}");
            assert!(!shown.contains(&corpus), "{shown}");
        }
    }
}
