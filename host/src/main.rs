//! The command line. It sees only the public library.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
