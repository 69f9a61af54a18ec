//! The commands, and what their ends mean to a script.

mod approvals;
mod args;
mod audit;
mod call;
mod check;
mod components;
mod config;
mod counts;
mod foreign;
mod generate;
mod inspect;
mod lock;
mod manifest;
mod milliseconds;
mod narrowing;
mod new;
mod opening;
mod options;
mod output;
mod pack;
mod partners;
pub(crate) mod print;
#[cfg(feature = "oci")]
mod pull;
mod roots;
#[cfg(test)]
mod schema;
mod session_args;
mod settings;
mod sizes;
mod times;
mod tools;
mod words;

use std::process::ExitCode;

use args::{Cli, Command};
pub(crate) use args::{HttpArgs, McpArgs};
pub(crate) use opening::Purpose;
use rootbound::{CallError, HostError, StartError, Toolset, code};

use crate::mcp;

/// How a command ended, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The result is on the standard output.
    Success = 0,
    /// A tool or the policy answered something else; the error object is on the standard
    /// output.
    Refused = 1,
    /// The command line, the configuration or the grants are wrong.
    Usage = 2,
    /// A bug of this program, or a result that could not be printed.
    Internal = 3,
}

pub(crate) fn run() -> ExitCode {
    let cli = match Cli::from_command_line() {
        Ok(cli) => cli,
        Err(Refused::CommandLine(error)) => error.exit(),
        Err(Refused::Configuration(error)) => {
            print::to_stderr(&format!("error: {error:#}"));
            return ExitCode::from(Exit::Usage as u8);
        }
    };
    let exit = std::panic::catch_unwind(|| dispatch(&cli)).unwrap_or(Exit::Internal);
    match exit {
        Exit::Success if print::is_lost() => ExitCode::from(Exit::Internal as u8),
        exit => ExitCode::from(exit as u8),
    }
}

fn dispatch(cli: &Cli) -> Exit {
    let result = match &cli.command {
        Command::Call(call) => call::run(call),
        Command::Tools(tools) => tools::run(tools),
        Command::Mcp(args) => mcp::run(args),
        Command::Check(check) => check::run(check),
        Command::Inspect(args) => Ok(inspect::run(args)),
        Command::Lock(args) => lock::run(args),
        Command::Manifest(args) => manifest::run(args),
        Command::Audit(audit) => audit::run(audit),
        Command::Approvals(approvals) => approvals::run(approvals),
        Command::New(new) => new::run(new),
        Command::Pack(pack) => pack::run(pack),
        #[cfg(feature = "oci")]
        Command::Pull(pull) => pull::run(pull),
        Command::Completions { shell } => Ok(generate::completions(*shell)),
        Command::Man => generate::man(),
    };
    result.unwrap_or_else(|failure| match (&cli.command, failure) {
        // The standard output is the protocol's.
        (Command::Mcp(_), Failure::Call(error) | Failure::Start(StartError::Audit(error))) => {
            print::to_stderr(&format!("error: {error}"));
            Exit::Refused
        }
        (Command::Mcp(_), Failure::Start(failure @ StartError::AuditFile { .. })) => {
            let code = code::AUDIT_UNAVAILABLE;
            print::to_stderr(&format!("error: {code}: {failure}"));
            Exit::Refused
        }
        (_, failure) => report(cli.toolset(), &failure),
    })
}

/// Why there is no command to be done.
#[derive(Debug)]
enum Refused {
    CommandLine(clap::Error),
    Configuration(anyhow::Error),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::CommandLine(error)
    }
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        Self::Configuration(error)
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    Start(StartError),
    Call(CallError),
    Usage(anyhow::Error),
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        if let HostError::Tools { error, .. } = &error
            && let Some(refused) = error.refused()
        {
            return Self::Call(refused.clone());
        }
        Self::Usage(error.into())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Usage(error)
    }
}

fn report(toolset: Toolset, failure: &Failure) -> Exit {
    match failure {
        Failure::Call(error) | Failure::Start(StartError::Audit(error)) => {
            print::error(toolset, error);
            Exit::Refused
        }
        // The agent is not told where the file is; the operator is.
        Failure::Start(failure @ StartError::AuditFile { error, .. }) => {
            print::to_stderr(&format!("error: {failure}"));
            print::error(toolset, error);
            Exit::Refused
        }
        Failure::Start(error) => {
            print::to_stderr(&format!("error: {error}"));
            Exit::Usage
        }
        Failure::Usage(error) => {
            print::to_stderr(&format!("error: {error:#}"));
            Exit::Usage
        }
    }
}
