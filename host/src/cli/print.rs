//! The one place that writes to the standard streams.

use std::io::{self, Write};

use rootbound::{CallError, Toolset};

/// Prints a result. A reader that has gone away is no failure of the call, which is done
/// and recorded.
pub(crate) fn result(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
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
    result(&toolset.failure(error).to_string());
}

/// Tells the operator something.
pub(crate) fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
