//! `rootbound call`.

use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::Context;
use rootbound::{CallError, CallOptions, CallWatch, Output, Tenant, code};
use serde_json::Value;

use super::args::CallArgs;
use super::opening::Purpose;
use super::{Exit, Failure, print};
use crate::dry_run;

/// Most bytes of arguments that are read from the standard input. The largest content a
/// call may write by default, in its longest JSON spelling, fits.
const MAX_ARGUMENTS: u64 = 64 << 20;
/// How much later than the guest's deadline the caller's is: the guest's answer is better.
const GRACE: Duration = Duration::from_millis(500);

pub(super) fn run(args: &CallArgs) -> Result<Exit, Failure> {
    let arguments = arguments(&args.arguments)?;
    let purpose = match args.dry_run {
        true => Purpose::DryRuns,
        false => Purpose::Calls,
    };
    let tenant = args.session.open(purpose)?.tenant;
    let exit = match call(&tenant, args, arguments) {
        Ok(output) => {
            print::json(&output.to_json());
            Exit::Success
        }
        Err(error) => {
            let mut shown = tenant.toolset_of(&args.tool).failure(&error);
            if refuses_dry_run(&error) {
                name_option(&mut shown["error"]["hint"]);
            }
            print::json(&shown.to_string());
            Exit::Refused
        }
    };
    close(&tenant);
    Ok(exit)
}

/// Whether an argument is refused that may stand for what is an option here, and an argument to
/// clients of MCP.
fn refuses_dry_run(error: &CallError) -> bool {
    let mut names = error.message().split('`').skip(1).step_by(2);
    error.code() == code::INVALID_ARGUMENTS && names.any(dry_run::is_meant_by)
}

fn name_option(hint: &mut Value) {
    let said = hint.as_str().unwrap_or_default();
    *hint =
        format!("`--dry-run` on the command line shows what a call would change; {said}").into();
}

/// Makes the call in a thread of its own: a system call that the kernel does not return
/// from must not keep the answer.
fn call(tenant: &Tenant, args: &CallArgs, arguments: Vec<u8>) -> Result<Output, CallError> {
    let watch = Arc::new(CallWatch::default());
    let options = CallOptions {
        dry_run: args.dry_run,
        watch: Some(Arc::clone(&watch)),
        trace: args.trace(),
        ..CallOptions::default()
    };
    let (sender, receiver) = mpsc::channel();
    let (running, tool) = (tenant.clone(), args.tool.clone());
    std::thread::spawn(move || {
        // Nobody listens any more when the call was abandoned.
        let _ = sender.send(running.call_with(&tool, arguments, options));
    });
    let patience = tenant.timeout(&args.tool) + GRACE;
    loop {
        match receiver.recv_timeout(patience) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(error) = tenant.abandon(&args.tool, &watch) {
                    return Err(error);
                }
            }
            // The thread is gone without an answer. Its panic is this one's: exit status 3.
            Err(RecvTimeoutError::Disconnected) => panic!("the call ended without an answer"),
        }
    }
}

/// The answer is out; a log that cannot be synced is for the operator.
fn close(tenant: &Tenant) {
    if let Err(error) = tenant.host().close() {
        print::to_stderr(&format!("warning: {}", error.message()));
    }
}

fn arguments(given: &str) -> anyhow::Result<Vec<u8>> {
    if given != "-" {
        return Ok(given.into());
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
    Ok(bytes)
}
