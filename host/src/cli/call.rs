//! `rootbound call`.

use std::io::Read;

use anyhow::Context;
use rootbound::{CallOptions, Session};

use super::args::CallArgs;
use super::{Exit, Failure, print};

/// Most bytes of arguments that are read from the standard input. The largest content a
/// call may write by default, in its longest JSON spelling, fits.
const MAX_ARGUMENTS: u64 = 64 << 20;

pub(super) fn run(args: &CallArgs) -> Result<Exit, Failure> {
    let arguments = arguments(&args.arguments)?;
    let session = args.session.open()?.session;
    let options = CallOptions {
        dry_run: args.dry_run,
    };
    let exit = match session.call_with(&args.tool, arguments, options) {
        Ok(output) => {
            print::result(&output.to_json());
            Exit::Success
        }
        Err(error) => {
            print::error(&error);
            Exit::Refused
        }
    };
    close(&session);
    Ok(exit)
}

/// The answer is out; a log that cannot be synced is for the operator.
fn close(session: &Session) {
    if let Err(error) = session.close() {
        print::to_stderr(&format!("warning: {}", error.message()));
    }
}

fn arguments(given: &str) -> anyhow::Result<String> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_ARGUMENTS + 1)
        .read_to_end(&mut bytes)
        .context("the standard input cannot be read")?;
    if bytes.len() as u64 > MAX_ARGUMENTS {
        anyhow::bail!("the arguments on the standard input are larger than 64 MiB");
    }
    // JSON is UTF-8; what is not becomes something that the tool refuses as not JSON.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}
