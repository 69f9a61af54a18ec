//! `rootbound audit`: for those who read the log, whoever wrote it.

use std::fs::File;
use std::io::BufReader;

use anyhow::Context;
use rootbound::{AuditFault, verify_log};
use serde_json::json;

use super::args::{AuditArgs, AuditCommand};
use super::{Exit, Failure, print};

pub(super) fn run(args: &AuditArgs) -> Result<Exit, Failure> {
    let AuditCommand::Verify { file, head } = &args.command;
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator names the log to be read"
    )]
    let log = File::open(file).with_context(|| format!("`{}`", file.display()))?;
    match verify_log(BufReader::new(log), head.as_deref()) {
        Ok(verified) => {
            let answer = json!({ "entries": verified.entries, "head": verified.head });
            print::result(&answer.to_string());
            Ok(Exit::Success)
        }
        Err(AuditFault::Unreadable(error)) => Err(anyhow::Error::from(error).into()),
        Err(fault) => {
            print::to_stderr(&format!("error: {fault}"));
            Ok(Exit::Refused)
        }
    }
}
