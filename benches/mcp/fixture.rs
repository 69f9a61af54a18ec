//! The directories that every server reads and writes.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

pub(crate) struct Fixture {
    base: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        // On the disk of the build: the system's directory for temporary files may be in memory.
        let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let fixture = Self { base };
        let inputs = fixture.inputs();
        fs::create_dir_all(&inputs).unwrap();
        fs::create_dir(fixture.work()).unwrap();
        let line = "a line of ordinary text, as files have them, with some words in it\n";
        fs::write(inputs.join("small.txt"), &line.repeat(100)[..4096]).unwrap();
        fs::write(
            inputs.join("large.txt"),
            &line.repeat(200_000)[..(10 << 20) - 4096],
        )
        .unwrap();
        for (directory, files) in [("thousand", 1_000), ("ten-thousand", 10_000)] {
            fs::create_dir(inputs.join(directory)).unwrap();
            for number in 0..files {
                let name = format!("{directory}/file-{number:05}.txt");
                fs::write(inputs.join(name), "x").unwrap();
            }
        }
        for number in 0..20_000 {
            let directory = inputs.join(format!("tree/{:03}", number % 200));
            fs::create_dir_all(&directory).unwrap();
            let needle = if number % 4_000 == 0 { "needle" } else { "hay" };
            let text = format!("{}{needle}\n", line.repeat(10));
            fs::write(directory.join(format!("file-{number:05}.txt")), text).unwrap();
        }
        fixture
    }

    pub(crate) fn inputs(&self) -> PathBuf {
        self.base.path().join("inputs")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.base.path().join("work")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.base.path().join("state")
    }
}
