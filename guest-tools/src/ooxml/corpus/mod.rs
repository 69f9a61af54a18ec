//! Our text of real files beside what the usual Python readers find in them.
//!
//! An ordinary run reads the small part of the corpus in `tests/corpus`; `ROOTBOUND_CORPUS=DIR`
//! names the whole of it. With `--nocapture` the report is shown: per format the files opened,
//! recall and precision by line, and each file that differs, with the reason from
//! `tests/corpus/exceptions.tsv`. A difference without a reason fails the test.

mod documents;
mod hostile;
mod presentations;
mod score;
mod workbooks;

use score::{Reference, Score, lines};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Names the whole corpus, where it is at hand.
const CORPUS: &str = "ROOTBOUND_CORPUS";

/// What a format is compared by.
struct Format {
    /// The folder of its files, and what their names in the manifest start with.
    folder: &'static str,
    /// The reader that the reference data comes from.
    reader: &'static str,
    reference: fn(&Value) -> Reference,
    /// All text that ours finds and that the reference should know.
    ours: Reader,
}

/// From a file to its text.
type Reader = fn(Cursor<&[u8]>) -> Result<Vec<String>, super::Error>;

/// A line of the manifest.
struct Listed {
    /// Such as `pptx/a.pptx`.
    file: String,
    /// Whether the reference reader opens it.
    is_opened: bool,
    expected: PathBuf,
}

/// How many lines are missing, extra, and longer than those of the reference.
type Differences = (usize, usize, usize);

/// A difference that is known, with its reason.
struct Known {
    differences: Differences,
    reason: String,
}

/// What the comparison of one format found.
#[derive(Default)]
struct Report {
    text: String,
    files: usize,
    opened: usize,
    total: Score,
    /// Differences without a reason, each in a sentence.
    unexplained: String,
    time: Duration,
}

fn corpus() -> PathBuf {
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    std::env::var_os(CORPUS).map_or(small, PathBuf::from)
}

fn listed(folder: &str) -> Vec<Listed> {
    let office = corpus().join("office");
    let manifest = office.join("MANIFEST.tsv");
    let text = fs::read_to_string(&manifest)
        .unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let lines = text.lines().skip(1).map(|line| line.split('\t').collect());
    let fields = lines.filter(|fields: &Vec<&str>| fields[0].split('/').next() == Some(folder));
    fields
        .map(|fields| Listed {
            file: fields[0].to_owned(),
            is_opened: fields[4] == "yes",
            expected: office.join(fields[5]),
        })
        .collect()
}

fn known() -> HashMap<String, Known> {
    let table = include_str!("../../../tests/corpus/exceptions.tsv");
    let fields = table.lines().skip(1).map(|line| line.split('\t').collect());
    fields
        .map(|fields: Vec<&str>| {
            let count = |field: usize| fields[field].parse().unwrap();
            let known = Known {
                differences: (count(1), count(2), count(3)),
                reason: fields[4].to_owned(),
            };
            (fields[0].to_owned(), known)
        })
        .collect()
}

/// Compares all files of a format, shows the report, and demands what the project aims at.
fn compare(format: &Format) {
    let known = known();
    let mut report = Report::default();
    for listed in listed(format.folder) {
        report.compare(format, &listed, known.get(&listed.file));
    }
    report.show(format);
    assert!(report.files > 0, "no files of {}", format.folder);
    assert_eq!(report.unexplained, "");
    // The part in the repository was chosen for what is odd, so the aim is not for it.
    if std::env::var_os(CORPUS).is_some() {
        let recall = report.total.recall();
        assert!(recall >= 0.995, "{}: recall {recall}", format.folder);
    }
}

impl Report {
    fn compare(&mut self, format: &Format, listed: &Listed, known: Option<&Known>) {
        self.files += 1;
        let path = corpus().join("office").join(&listed.file);
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let start = Instant::now();
        let ours = (format.ours)(Cursor::new(&bytes));
        self.time += start.elapsed();
        match ours {
            Err(error) => self.refused(listed, &error.message()),
            Ok(ours) => {
                self.opened += 1;
                self.opened(format, listed, &ours, known);
            }
        }
    }

    fn refused(&mut self, listed: &Listed, message: &str) {
        let file = &listed.file;
        let _ = writeln!(self.text, "  not opened: {file}: {message}");
        if listed.is_opened {
            let _ = writeln!(self.unexplained, "the reference opens {file}: {message}");
        }
    }

    fn opened(&mut self, format: &Format, listed: &Listed, ours: &[String], known: Option<&Known>) {
        // Some references exist for files that the reader refuses by their type only.
        let Ok(text) = fs::read_to_string(&listed.expected) else {
            let count = ours.len();
            let _ = writeln!(
                self.text,
                "  only ours opens {}: {count} paragraphs",
                listed.file
            );
            return;
        };
        let reference = (format.reference)(&serde_json::from_str(&text).unwrap());
        let score = Score::new(reference, lines(ours));
        let differences = (score.missing.len(), score.extra.len(), score.longer);
        let (missing, extra, longer) = differences;
        let file = &listed.file;
        if differences != (0, 0, 0) {
            let reason = known.map_or("", |known| &known.reason);
            let _ = writeln!(
                self.text,
                "  {file}: {missing} missing, {extra} extra, {longer} longer: {reason}"
            );
        }
        if differences != known.map_or((0, 0, 0), |known| known.differences) {
            let _ = writeln!(
                self.unexplained,
                "{file}\t{missing}\t{extra}\t{longer}\tmissing {:?}, extra {:?}",
                score.missing, score.extra
            );
        }
        self.total.add(&score);
    }

    #[expect(
        clippy::print_stdout,
        reason = "the report is for people, with `--nocapture`"
    )]
    fn show(&self, format: &Format) {
        println!(
            "{}: {} of {} files opened in {:?}; beside {}: recall {:.4} of {} lines, precision {:.4} of {}\n{}",
            format.folder,
            self.opened,
            self.files,
            self.time,
            format.reader,
            self.total.recall(),
            self.total.required,
            self.total.precision(),
            self.total.ours,
            self.text
        );
    }
}

/// The strings in an array of JSON, none when it is missing.
fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// The values in an array of JSON, none when it is missing.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
