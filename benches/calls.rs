//! What a guarded call costs, beside `std::fs` and cap-std doing the same work.
//!
//! Every guarded row runs the component in a fresh instance and keeps its audit log in a
//! file. The speed of a machine drifts, so compare rows of one run only.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "what is compared with uses host paths; without its directories nothing is measured"
)]

mod fixture;

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use divan::Bencher;
use divan::counter::BytesCount;
use fixture::{Fixture, NewFile};
use rootbound::Durability;
use serde_json::json;

fn main() {
    divan::main();
}

/// How much a row reads.
#[derive(Clone, Copy)]
struct Size(usize);

impl Size {
    const SMALL: Self = Self(4 << 10);
    /// The most that the default limits allow.
    const LARGE: Self = Self(10 << 20);

    fn counter(self) -> BytesCount {
        BytesCount::new(self.0)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 >> 20 {
            0 => write!(formatter, "{} KiB", self.0 >> 10),
            mebibytes => write!(formatter, "{mebibytes} MiB"),
        }
    }
}

/// A tool that touches no file: what a call costs by itself.
#[divan::bench_group(min_time = 1)]
mod trivial_call {
    use super::*;

    #[divan::bench]
    fn native(bencher: Bencher) {
        bencher.bench(|| divan::black_box("Dear {{name}}").replace("{{name}}", "Ada"));
    }

    #[divan::bench]
    fn guarded(bencher: Bencher) {
        let fixture = Fixture::new();
        let arguments = r#"{"template":"Dear {{name}}","variables":{"name":"Ada"}}"#;
        bencher.bench(|| fixture.call("generate_from_template", arguments));
    }
}

/// The whole text of a file: opened, read, checked to be UTF-8.
#[divan::bench_group(min_time = 1)]
mod read_file {
    use super::*;

    const SIZES: [Size; 2] = [Size::SMALL, Size::LARGE];

    #[divan::bench(args = SIZES)]
    fn native(bencher: Bencher, size: Size) {
        let fixture = Fixture::with_file(size.0);
        let path = fixture.inputs().join("file.txt");
        let bencher = bencher.counter(size.counter());
        bencher.bench(|| std::fs::read_to_string(&path).unwrap());
    }

    #[divan::bench(args = SIZES)]
    fn cap_std(bencher: Bencher, size: Size) {
        let fixture = Fixture::with_file(size.0);
        let inputs = fixture::capability(fixture.inputs());
        let bencher = bencher.counter(size.counter());
        bencher.bench(|| inputs.read_to_string("file.txt").unwrap());
    }

    #[divan::bench(args = SIZES)]
    fn guarded(bencher: Bencher, size: Size) {
        let fixture = Fixture::with_file(size.0);
        let bencher = bencher.counter(size.counter());
        bencher.bench(|| fixture.call("read_file", r#"{"path":"file.txt"}"#));
    }
}

/// What the record of a small read costs: none, a file, a file with signatures, a file of which
/// each entry is synced.
#[divan::bench_group(min_time = 1)]
mod read_file_on_record {
    use super::*;

    const READ: &str = r#"{"path":"file.txt"}"#;

    #[divan::bench]
    fn none(bencher: Bencher) {
        let fixture = Fixture::with_file_off_the_record(Size::SMALL.0);
        bencher.bench(|| fixture.call("read_file", READ));
    }

    #[divan::bench]
    fn file(bencher: Bencher) {
        let fixture = Fixture::with_file(Size::SMALL.0);
        bencher.bench(|| fixture.call("read_file", READ));
    }

    #[divan::bench]
    fn signed_file(bencher: Bencher) {
        let fixture = Fixture::with_file_and_signatures(Size::SMALL.0);
        bencher.bench(|| fixture.call("read_file", READ));
    }

    #[divan::bench]
    fn synced_file(bencher: Bencher) {
        let fixture = Fixture::with_file_and_synced_log(Size::SMALL.0);
        bencher.bench(|| fixture.call("read_file", READ));
    }
}

/// A file of 4 KiB under a name that is free. `Full` syncs the file and its directory.
#[divan::bench_group(min_time = 1)]
mod write_new_file {
    use super::*;

    const SIZE: Size = Size::SMALL;
    const DURABILITIES: [Durability; 2] = [Durability::Fast, Durability::Full];

    #[divan::bench(args = DURABILITIES)]
    fn native(bencher: Bencher, durability: Durability) {
        let fixture = Fixture::new();
        let (outputs, content) = (fixture.outputs(), fixture::text(SIZE.0));
        bencher
            .with_inputs(|| NewFile::below(&outputs))
            .bench_values(|new| {
                let file = File::create_new(new.path()).unwrap();
                (fill(file, &content, &outputs, durability), new)
            });
    }

    #[divan::bench(args = DURABILITIES)]
    fn cap_std(bencher: Bencher, durability: Durability) {
        let fixture = Fixture::new();
        let (outputs, content) = (fixture.outputs(), fixture::text(SIZE.0));
        let directory = fixture::capability(&outputs);
        let mut options = cap_std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        bencher
            .with_inputs(|| NewFile::below(&outputs))
            .bench_values(|new| {
                let file = directory.open_with(new.name(), &options).unwrap();
                (fill(file.into_std(), &content, &outputs, durability), new)
            });
    }

    #[divan::bench(args = DURABILITIES)]
    fn guarded(bencher: Bencher, durability: Durability) {
        let fixture = Fixture::with_durability(durability);
        let (outputs, content) = (fixture.outputs(), fixture::text(SIZE.0));
        bencher
            .with_inputs(|| {
                let new = NewFile::below(&outputs);
                let arguments = json!({"path": new.name(), "content": content});
                (arguments.to_string(), new)
            })
            .bench_values(|(arguments, new)| (fixture.call("write_file", &arguments), new));
    }

    fn fill(mut file: File, content: &str, directory: &Path, durability: Durability) {
        file.write_all(content.as_bytes()).unwrap();
        if durability == Durability::Full {
            file.sync_all().unwrap();
            File::open(directory).unwrap().sync_all().unwrap();
        }
    }
}

/// The names and types of a directory in the order of names; `details` adds size and time.
#[divan::bench_group(min_time = 1)]
mod list_10_000_entries {
    use super::*;

    const ENTRIES: usize = 10_000;
    const WHAT: [&str; 2] = ["names", "details"];

    #[divan::bench(args = WHAT)]
    fn native(bencher: Bencher, what: &str) {
        let fixture = Fixture::with_entries(ENTRIES);
        let inputs = fixture.inputs();
        bencher.bench(|| {
            let entries = std::fs::read_dir(&inputs).unwrap().map(|entry| {
                let entry = entry.unwrap();
                let details = (what == "details").then(|| {
                    let metadata = entry.metadata().unwrap();
                    (metadata.len(), metadata.modified().unwrap())
                });
                (entry.file_name(), entry.file_type().unwrap(), details)
            });
            let mut listing: Vec<_> = entries.collect();
            listing.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            listing
        });
    }

    #[divan::bench(args = WHAT)]
    fn cap_std(bencher: Bencher, what: &str) {
        let fixture = Fixture::with_entries(ENTRIES);
        let inputs = fixture::capability(fixture.inputs());
        bencher.bench(|| {
            let entries = inputs.entries().unwrap().map(|entry| {
                let entry = entry.unwrap();
                let details = (what == "details").then(|| {
                    let metadata = entry.metadata().unwrap();
                    (metadata.len(), metadata.modified().unwrap())
                });
                (entry.file_name(), entry.file_type().unwrap(), details)
            });
            let mut listing: Vec<_> = entries.collect();
            listing.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            listing
        });
    }

    #[divan::bench(args = WHAT)]
    fn guarded(bencher: Bencher, what: &str) {
        let fixture = Fixture::with_entries(ENTRIES);
        let arguments = json!({"details": what == "details"}).to_string();
        bencher.bench(|| fixture.call("list_files", &arguments));
    }
}
