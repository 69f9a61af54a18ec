//! From the start of a process to its first result: `rootbound call read_file` beside `cat`.
//!
//! The programs take turns, so that a slow moment of the machine meets them all. What comes
//! after the result, such as syncing the audit log, is the second pair of columns.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "starts programs on host paths and prints what they took, or stops"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WARM_UP: usize = 10;
const ROUNDS: usize = 200;
const ROOTBOUND: &str = env!("CARGO_BIN_EXE_rootbound");

/// A program, and what its runs took.
struct Row {
    name: &'static str,
    command: Command,
    to_result: Vec<Duration>,
    to_exit: Vec<Duration>,
}

impl Row {
    fn new(name: &'static str, program: &str, arguments: &[&str], state: &Path) -> Self {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("XDG_STATE_HOME", state)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // Run as root, the program warns.
            .stderr(Stdio::null());
        Self {
            name,
            command,
            to_result: Vec::with_capacity(ROUNDS),
            to_exit: Vec::with_capacity(ROUNDS),
        }
    }

    fn run(&mut self) {
        let start = Instant::now();
        let mut process = self.command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        self.to_result.push(start.elapsed());
        let status = process.wait().unwrap();
        self.to_exit.push(start.elapsed());
        assert!(status.success() && !line.is_empty(), "{}", self.name);
    }

    fn forget(&mut self) {
        self.to_result.clear();
        self.to_exit.clear();
    }

    fn print(&mut self) {
        let [result, exit] = [&mut self.to_result, &mut self.to_exit].map(|times| {
            times.sort_unstable();
            let (fastest, median) = (times[0], times[times.len() / 2]);
            format!("{fastest:>9.2?} {median:>9.2?}")
        });
        println!("{:26} │ {result} │ {exit}", self.name);
    }
}

fn main() {
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (inputs, state) = (base.path().join("inputs"), base.path().join("state"));
    std::fs::create_dir(&inputs).unwrap();
    let file = inputs.join("notes.md");
    std::fs::write(&file, "x".repeat(4095) + "\n").unwrap();
    let (inputs, file) = (inputs.to_str().unwrap(), file.to_str().unwrap());

    let call = [
        "call",
        "read_file",
        r#"{"path":"notes.md"}"#,
        "--read",
        inputs,
    ];
    let mut rows = [
        Row::new("cat", "/bin/cat", &[file], &state),
        Row::new("rootbound --version", ROOTBOUND, &["--version"], &state),
        Row::new("rootbound call read_file", ROOTBOUND, &call, &state),
    ];
    (0..WARM_UP).for_each(|_| rows.iter_mut().for_each(Row::run));
    rows.iter_mut().for_each(Row::forget);
    (0..ROUNDS).for_each(|_| rows.iter_mut().for_each(Row::run));

    println!(
        "{:26} │ {:19} │ {:19}",
        "start, then:", "first result", "exit"
    );
    println!(
        "{0:26} │ {1:>9} {2:>9} │ {1:>9} {2:>9}",
        "", "fastest", "median"
    );
    rows.iter_mut().for_each(Row::print);
}
