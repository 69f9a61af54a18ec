//! Office documents read by the tools, beside the usual Python readers of the same files.
//!
//! Both sides read in one process each, with imports done and the session open before the
//! first file, and count processor time, of the fastest of a few rounds over all files: a busy
//! machine then says nearly the same as an idle one. Ours is a whole call, in a fresh instance
//! and with the audit log on; theirs is opening the file and asking for its text.
//!
//! `ROOTBOUND_CORPUS` names other files than those of the repository, `ROOTBOUND_PYTHON` a
//! Python that has python-pptx, python-docx and openpyxl; without it only ours is measured.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what is compared with uses host paths; without its files nothing is measured, and the rows are for people"
)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rootbound::{AuditLog, Session};
use serde_json::json;

const ROUNDS: usize = 5;
const READERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/documents/readers.py");
const FORMATS: [(&str, &str, &str); 3] = [
    ("pptx", "read_pptx", "python-pptx"),
    ("docx", "read_docx", "python-docx"),
    ("xlsx", "read_xlsx", "openpyxl"),
];

/// What a format took.
struct Times {
    files: usize,
    /// Processor time of the fastest round.
    total: Duration,
    /// The least time on the clock of the file that takes the most.
    longest: Duration,
}

fn main() {
    let corpus = corpus().join("office");
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let session = Session::builder()
        .read_root(&corpus)
        .audit(AuditLog::file(base.path().join("audit.jsonl")).unwrap())
        .build()
        .unwrap();
    let python = std::env::var_os("ROOTBOUND_PYTHON");
    for (kind, tool, reader) in FORMATS {
        let ours = ours(&session, &corpus, kind, tool);
        println!(
            "{kind}: {} files in {:.1?}, the longest {:.1?}",
            ours.files, ours.total, ours.longest
        );
        if let Some(python) = &python {
            let theirs = theirs(python, &corpus.join(kind), kind);
            let times = theirs.div_duration_f64(ours.total);
            println!("      {reader} {theirs:.1?}, {times:.1} times as long");
        }
    }
}

fn corpus() -> PathBuf {
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/guest-tools/tests/corpus");
    std::env::var_os("ROOTBOUND_CORPUS").map_or_else(|| PathBuf::from(small), PathBuf::from)
}

fn ours(session: &Session, corpus: &Path, kind: &str, tool: &str) -> Times {
    let entries = fs::read_dir(corpus.join(kind)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let calls = names.map(|name| json!({ "path": format!("{kind}/{name}") }).to_string());
    let calls: Vec<_> = calls.collect();
    let mut each = vec![Duration::MAX; calls.len()];
    let rounds = (0..ROUNDS).map(|_| {
        let start = processor_time();
        for (call, least) in calls.iter().zip(&mut each) {
            let start = Instant::now();
            // A file that is refused takes its time as well.
            let _ = session.call(tool, call.as_str());
            *least = start.elapsed().min(*least);
        }
        processor_time() - start
    });
    let total = rounds.min().unwrap();
    Times {
        files: calls.len(),
        total,
        longest: each.into_iter().max().unwrap(),
    }
}

/// What this thread, in which calls are run, has taken of the processor. The kernel counts in
/// ticks, so that it says nothing of a single call.
fn processor_time() -> Duration {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let on_processor = statistics.split(' ').next().unwrap();
    Duration::from_nanos(on_processor.parse().unwrap())
}

/// Processor time of the fastest round of a Python reader.
fn theirs(python: &OsString, folder: &Path, kind: &str) -> Duration {
    let mut command = Command::new(python);
    let command = command.arg(READERS).arg(folder);
    let output = command.arg(ROUNDS.to_string()).arg(kind).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let nanoseconds = String::from_utf8(output.stdout).unwrap();
    Duration::from_nanos(nanoseconds.trim().parse().unwrap())
}
