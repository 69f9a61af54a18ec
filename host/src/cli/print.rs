//! The one place that writes to the standard streams.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rootbound::{CallError, Toolset, escaped, escaped_json};

/// Whether a result could not be written down.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a result in JSON. What strangers' files and components say in it cannot command the
/// terminal, and says the same to whoever parses it.
pub(crate) fn json(text: &str) {
    result(&escaped_json(text));
}

/// Prints lines for people, likewise.
pub(crate) fn text(text: &str) {
    let lines: Vec<String> = text.trim_end().split('\n').map(escaped).collect();
    result(&lines.join("\n"));
}

/// Prints a result as it stands. A reader that has gone away is no failure of the call, which is
/// done and recorded; a disk that takes no more must not look like a success.
pub(crate) fn result(text: &str) {
    match line(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            to_stderr(&format!("error: the result could not be printed: {error}"));
            LOST.store(true, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// Whether something that was to be printed is lost.
pub(crate) fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Prints one line of many. A reader that has gone away is an error, so that nobody goes on
/// writing to it.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Prints the error object of a call that did not succeed.
pub(crate) fn error(toolset: Toolset, error: &CallError) {
    json(&toolset.failure(error).to_string());
}

/// Tells the operator something, in one line.
pub(crate) fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(text));
}
