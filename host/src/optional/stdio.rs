//! `wasi:cli`'s standard streams: the input is empty, and what is written goes to the operator.

use wasmtime::component::Resource;

use super::bindings::cli::{
    stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr, terminal_stdin,
    terminal_stdout,
};
use crate::guard::{CallState, Fault, Input, Output};
use crate::screen::escaped;

/// Bytes that are kept of what one call writes.
const MAX_CAPTURED: usize = 64 << 10;
/// Lines that are kept of it: each is shown with the tool's name before it.
const MAX_LINES: usize = 1000;

/// A terminal, of which there is none.
#[derive(Debug)]
pub enum Terminal {}

/// Where a component wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    Stdout,
    Stderr,
}

/// What a component wrote to its standard streams in one call.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    parts: Vec<(StandardStream, Vec<u8>)>,
    bytes: usize,
    /// Ends of lines, and changes from one stream to the other.
    lines: usize,
    dropped: u64,
}

/// A line that a component wrote, for the operator. Whatever would deceive on a screen is
/// escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestLine {
    /// The tool that was called.
    pub tool: String,
    /// Id of the call, as in the audit log.
    pub call: String,
    /// `stdout` or `stderr`.
    pub stream: &'static str,
    /// What it wrote, without the end of the line.
    pub text: String,
}

impl Captured {
    pub(crate) fn write(&mut self, stream: StandardStream, bytes: &[u8]) {
        let kept = self.room_for(bytes);
        let (kept, dropped) = bytes.split_at(kept);
        self.bytes += kept.len();
        self.dropped += dropped.len() as u64;
        self.lines += kept.iter().filter(|byte| **byte == b'\n').count();
        match self.parts.last_mut() {
            Some((last, text)) if *last == stream => text.extend(kept),
            _ if !kept.is_empty() => {
                self.lines += 1;
                self.parts.push((stream, kept.to_owned()));
            }
            _ => {}
        }
    }

    /// How many of these bytes are kept. What was cut off once is cut off to the end.
    fn room_for(&self, bytes: &[u8]) -> usize {
        if self.dropped > 0 || self.lines >= MAX_LINES {
            return 0;
        }
        let most = bytes.len().min(MAX_CAPTURED - self.bytes);
        let mut ends = (0..most).filter(|at| bytes[*at] == b'\n');
        ends.nth(MAX_LINES - self.lines - 1)
            .map_or(most, |end| end + 1)
    }

    /// The lines, and at the end how much is missing.
    pub(crate) fn lines(self, tool: &str, call: &str) -> Vec<GuestLine> {
        let line = |stream: StandardStream, text: String| GuestLine {
            tool: escaped(tool),
            call: call.to_owned(),
            stream: stream.as_str(),
            text,
        };
        let mut lines = Vec::new();
        for (stream, bytes) in self.parts {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            lines.extend(text.lines().map(|text| line(stream, escaped(text))));
        }
        if self.dropped > 0 {
            let text = format!("… and {} bytes more, which are not kept", self.dropped);
            lines.push(line(StandardStream::Stderr, text));
        }
        lines
    }
}

impl StandardStream {
    fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

impl CallState {
    fn standard_output(&mut self, stream: StandardStream) -> wasmtime::Result<Resource<Output>> {
        let handed = self.hand_out(Output::Standard(stream));
        self.or_stop(handed)
    }

    /// For calls that have no way to answer that something was refused.
    pub(crate) fn or_stop<T>(&mut self, handed: Result<T, Fault>) -> wasmtime::Result<T> {
        match handed {
            Ok(value) => Ok(value),
            Err(fault) => {
                self.settle(fault)?;
                let error = self.last_failure.clone();
                Err(self.stop(error.unwrap_or_else(crate::error::CallError::closed)))
            }
        }
    }
}

impl stdin::Host for CallState {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<Input>> {
        let handed = self.hand_out(Input::Empty);
        self.or_stop(handed)
    }
}

impl stdout::Host for CallState {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<Output>> {
        self.standard_output(StandardStream::Stdout)
    }
}

impl stderr::Host for CallState {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<Output>> {
        self.standard_output(StandardStream::Stderr)
    }
}

impl terminal_input::Host for CallState {}

impl terminal_input::HostTerminalInput for CallState {
    fn drop(&mut self, terminal: Resource<Terminal>) -> wasmtime::Result<()> {
        self.take_back(terminal)
    }
}

impl terminal_output::Host for CallState {}

impl terminal_output::HostTerminalOutput for CallState {
    fn drop(&mut self, terminal: Resource<Terminal>) -> wasmtime::Result<()> {
        self.take_back(terminal)
    }
}

impl terminal_stdin::Host for CallState {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<Terminal>>> {
        Ok(None)
    }
}

impl terminal_stdout::Host for CallState {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<Terminal>>> {
        Ok(None)
    }
}

impl terminal_stderr::Host for CallState {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<Terminal>>> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_in_order_and_escaped() {
        let mut captured = Captured::default();
        captured.write(StandardStream::Stdout, b"one\ntw");
        captured.write(StandardStream::Stdout, b"o\x1b[2J\n");
        captured.write(StandardStream::Stderr, b"three \xff");
        let lines = captured.lines("t", "c");
        let shown: Vec<(&str, &str)> = (lines.iter())
            .map(|line| (line.stream, line.text.as_str()))
            .collect();
        let expected = [
            ("stdout", "one"),
            ("stdout", "two\\u{1b}[2J"),
            ("stderr", "three \u{fffd}"),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn lines_and_changes_of_stream_have_an_end_too() {
        let mut ends = Captured::default();
        ends.write(StandardStream::Stdout, &[b'\n'; 50_000]);
        let mut changes = Captured::default();
        for _ in 0..25_000 {
            changes.write(StandardStream::Stdout, b"a");
            changes.write(StandardStream::Stderr, b"b");
        }
        for captured in [ends, changes] {
            let (kept, dropped) = (captured.bytes, captured.dropped);
            assert_eq!(kept as u64 + dropped, 50_000);
            let lines = captured.lines("t", "c");
            assert!(lines.len() <= MAX_LINES + 2, "{}", lines.len());
            assert!(lines.last().unwrap().text.contains(&dropped.to_string()));
        }
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let mut captured = Captured::default();
        for _ in 0..1000 {
            captured.write(StandardStream::Stderr, &[b'x'; 1000]);
        }
        assert_eq!(captured.bytes, MAX_CAPTURED);
        let lines = captured.lines("t", "c");
        let last = &lines.last().unwrap().text;
        assert!(
            last.contains(&(1_000_000 - MAX_CAPTURED).to_string()),
            "{last}"
        );
    }
}
