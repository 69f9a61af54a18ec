//! Packages that attack their reader, each with the classes of answer that are right.

use super::corpus;
use crate::ooxml::{Deck, DeckOptions, Error, read_deck, render};
use std::fmt::Write;
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// Rows whose note is about something else than the text of the slides.
const NOTES: [&str; 4] = ["no allocation", "error ", "Slide 1 ...", "Safe text once"];

fn read(path: &Path) -> Result<Deck, Error> {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let options = DeckOptions {
        with_notes: true,
        ..DeckOptions::default()
    };
    read_deck(Cursor::new(bytes), &options)
}

/// The class of an answer, in the manifest's words.
fn class(answer: &Result<Deck, Error>) -> &'static str {
    match answer {
        Ok(deck) if deck.slides.is_empty() => "empty",
        Ok(_) => "text",
        Err(Error::Limit { .. }) => "limit",
        Err(_) => "error",
    }
}

fn problem(fields: &[&str], answer: &Result<Deck, Error>) -> Option<String> {
    let class = class(answer);
    let accepted = fields[4];
    // `text-with-warning` and the like are text too.
    let mut classes = accepted.split('|');
    let is_accepted = classes.any(|accepted| accepted.split('-').next() == Some(class));
    if !is_accepted {
        return Some(format!("{class}, and not {accepted}"));
    }
    let words = fields[5].split(';').next().unwrap_or_default();
    let has_words = !NOTES.iter().any(|note| words.starts_with(note));
    match answer {
        Ok(deck) if has_words => {
            let texts: Vec<_> = deck.slides.iter().map(crate::ooxml::Slide::text).collect();
            let text = texts.join("\n");
            let mut words = words.split(", ");
            let missing = words.find(|word| !text.contains(word.trim()));
            missing.map(|word| format!("no `{word}` in {text:?}"))
        }
        _ => None,
    }
}

#[test]
fn every_hostile_package_gets_its_answer_and_a_good_one_reads_after_it() {
    let folder = corpus().join("hostile_office");
    let manifest = fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap();
    let mut problems = String::new();
    for line in manifest.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let answer = read(&folder.join(fields[0]));
        if let Some(problem) = problem(&fields, &answer) {
            let _ = writeln!(problems, "{}: {problem}", fields[0]);
        }
        show(fields[0], &answer);
        let control = read(&folder.join("control_plain.pptx")).unwrap();
        assert_eq!(control.slides[0].text(), "Safe text", "after {}", fields[0]);
    }
    assert_eq!(problems, "");
}

/// The classes that the answer to a document of any kind is of, and what it says.
fn classes_of_any(file: &Path) -> (Vec<&'static str>, String) {
    match render(Cursor::new(fs::read(file).unwrap())) {
        Ok(rendered) => {
            let text = (!rendered.text.is_empty()).then_some("text");
            let warning = (!rendered.warnings.is_empty()).then_some("warning");
            (text.into_iter().chain(warning).collect(), rendered.text)
        }
        Err(error @ Error::Limit { .. }) => (vec!["limit"], error.message()),
        Err(error) => (vec!["error"], error.message()),
    }
}

#[test]
fn hostile_documents_and_workbooks_get_their_answers_too() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/hostile_more");
    let manifest = fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap();
    for line in manifest.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let (file, accepted) = (fields[0], fields[2]);
        let (classes, text) = classes_of_any(&folder.join(file));
        assert!(
            accepted.split('|').any(|class| classes.contains(&class)),
            "{file}: {classes:?}, {text:.200}"
        );
        assert!(text.contains(fields[3]), "{file}: {text:.200}");
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the report is for people, with `--nocapture`"
)]
fn show(file: &str, answer: &Result<Deck, Error>) {
    match answer {
        Ok(deck) => println!("{file}: {} slides, {:?}", deck.slides.len(), deck.warnings),
        Err(error) => println!("{file}: {}", error.message()),
    }
}
