//! Office documents, good and hostile, read inside the component.
//!
//! The text itself is compared with that of other readers in `guest-tools/src/ooxml/corpus`;
//! here it comes through component and guard, in the memory that an ordinary tool needs.

mod documents;
mod hostile;
mod presentations;

pub use presentations::DECK;

use std::fs;
use std::path::{Path, PathBuf};

use rootbound::Limits;

use crate::support::{Fixture, Recorded};

/// What one call may take for any document of the corpus.
const MEMORY: u64 = 128 << 20;

/// The corpus in the repository, or the whole one that `ROOTBOUND_CORPUS` names.
fn corpus() -> PathBuf {
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/guest-tools/tests/corpus");
    std::env::var_os("ROOTBOUND_CORPUS").map_or_else(|| PathBuf::from(small), PathBuf::from)
}

/// A file of the corpus in the repository, such as `docx/a.docx`.
pub fn sample(file: &str) -> PathBuf {
    let small = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/guest-tools/tests/corpus/office"
    );
    Path::new(small).join(file)
}

/// The rows of a manifest below its head, as fields.
fn rows(manifest: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(manifest).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split('\t').map(str::to_owned).collect())
        .collect()
}

/// A session that reads a folder of the corpus.
fn reading(folder: &str) -> (Fixture, Recorded) {
    let fixture = Fixture::new();
    let limits = Limits {
        max_memory: MEMORY,
        ..Limits::default()
    };
    let folder = corpus().join(folder);
    let recorded = fixture.session_with(|builder| builder.read_root(folder).limits(limits));
    (fixture, recorded)
}
