//! The command line and the MCP server. They see only the public library.

mod cli;
mod dry_run;
mod mcp;

use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    // Past a file-size limit the kernel kills the writer unless the signal is handled; a
    // handled one becomes an error that the call can answer with. Only registering with a
    // forbidden signal can fail.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    cli::run()
}
