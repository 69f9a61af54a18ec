//! `rootbound audit show`.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use rootbound::{AuditFault, LogVerifier, escaped, escaped_json};
use serde_json::Value;

use super::filter::Filter;
use super::summary::Summary;
use super::{beginning, describe, follow, open, row};
use crate::cli::args::ShowArgs;
use crate::cli::{Exit, Failure, print};

/// How long a reader of a live log waits before it looks again.
const PATIENCE: Duration = Duration::from_millis(100);
/// The longest line that is one of a log, with its line feed (`docs/audit.md`).
const LONGEST_LINE: usize = 4 << 20;

pub(super) fn run(args: &ShowArgs) -> Result<Exit, Failure> {
    let mut view = View::new(args);
    view.begin();
    for (at, file) in args.files.iter().enumerate() {
        let is_last = at + 1 == args.files.len();
        view.read(file, args.follow && is_last)?;
    }
    view.end();
    Ok(if view.is_whole {
        Exit::Success
    } else {
        Exit::Refused
    })
}

/// A log as it goes by.
struct View<'a> {
    args: &'a ShowArgs,
    filter: Filter<'a>,
    summary: Summary,
    verifier: LogVerifier,
    /// Lines of the file that is read.
    lines: u64,
    /// Whether nothing was found to be wrong yet. What follows a fault is shown, and not
    /// judged.
    is_whole: bool,
    /// Whether somebody still reads what is printed.
    is_read: bool,
}

impl<'a> View<'a> {
    fn new(args: &'a ShowArgs) -> Self {
        Self {
            args,
            filter: Filter::new(args),
            summary: Summary::default(),
            verifier: LogVerifier::new(),
            lines: 0,
            is_whole: true,
            is_read: true,
        }
    }

    fn begin(&mut self) {
        if !self.args.json && !self.args.summary {
            self.print(&row::heading());
        }
    }

    fn read(&mut self, file: &Path, follow: bool) -> Result<(), Failure> {
        let mut log = BufReader::new(open(file)?);
        let mut successor = None;
        let mut line = Vec::new();
        self.lines = 0;
        while self.is_read {
            let most = (LONGEST_LINE + 1 - line.len()) as u64;
            let read = (&mut log)
                .take(most)
                .read_until(b'\n', &mut line)
                .map_err(anyhow::Error::from)?;
            if line.ends_with(b"\n") {
                line.pop();
                self.line(file, &line);
                line.clear();
            } else if line.len() > LONGEST_LINE {
                // No log has it, and what follows is a part of it.
                let line = self.lines + 1;
                self.fault(
                    file,
                    &format!("line {line}: it is longer than the lines of a log"),
                );
                return Ok(());
            } else if !follow {
                if read == 0 {
                    break;
                }
            } else if let Some(next) = successor.take() {
                log = BufReader::new(next);
                self.lines = 0;
            } else {
                // What was written before it was put aside is read first.
                successor = follow::successor(file, log.get_ref()).map_err(anyhow::Error::from)?;
                if successor.is_none() {
                    // The rest of the line is still to come, and so is the next one.
                    std::thread::sleep(PATIENCE);
                }
            }
        }
        if !line.is_empty() {
            self.line(file, &line);
            self.fault(file, "the last line is cut off");
        } else if self.lines == 0 && self.is_read {
            self.fault(file, &AuditFault::Empty.to_string());
        }
        Ok(())
    }

    fn line(&mut self, file: &Path, bytes: &[u8]) {
        self.lines += 1;
        if self.is_whole
            && let Err(fault) = self.verifier.line_of_file(self.lines, bytes)
        {
            self.fault(file, &fault.to_string());
        }
        let text = String::from_utf8_lossy(bytes);
        match serde_json::from_str::<Value>(&text) {
            Ok(entry) if entry.is_object() => self.entry(&text, &entry),
            _ => self.print(&format!("(no entry) {}", escaped(&text))),
        }
    }

    fn entry(&mut self, text: &str, entry: &Value) {
        if !self.filter.admits(entry) {
            return;
        }
        self.summary.add(entry);
        if self.args.summary {
            return;
        }
        if self.args.json {
            self.print(&escaped_json(text));
            return;
        }
        for row in row::rows(entry, &self.filter) {
            self.print(&row);
        }
    }

    fn end(&mut self) {
        // Of what was not read nothing is known.
        if !self.is_read {
            return;
        }
        let unsettled = self.verifier.unsettled();
        match (self.args.json, self.args.summary) {
            (true, true) => {
                let summary = self.summary.as_json(&unsettled).to_string();
                self.print(&escaped_json(&summary));
            }
            (true, false) => {}
            (false, true) => self.print(self.summary.in_full().trim_end()),
            (false, false) => self.print(&format!("\n{}", self.summary.in_short().trim_end())),
        }
        if let Some(words) = beginning(self.verifier.before()) {
            print::to_stderr(&format!("warning: {words}"));
        }
        for change in &unsettled {
            print::to_stderr(&format!("warning: {}", describe(change)));
        }
    }

    fn fault(&mut self, file: &Path, what: &str) {
        let name = escaped(&file.display().to_string());
        print::to_stderr(&format!("error: `{name}`: {what}"));
        self.is_whole = false;
    }

    fn print(&mut self, text: &str) {
        let printed: io::Result<()> = print::line(text);
        self.is_read &= printed.is_ok();
    }
}
