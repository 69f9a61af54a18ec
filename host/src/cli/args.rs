//! What can be said on the command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::SystemTime;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use rootbound::{Toolset, TraceParent};

use super::components::{ComponentArgs, InspectArgs, LockArgs, ManifestArgs};
use super::session_args::SessionArgs;
use super::{Refused, milliseconds, settings, times};

/// File tools that an LLM agent can be given without handing it the machine.
#[derive(Debug, Parser)]
#[command(name = "rootbound", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one tool call and print its result.
    ///
    /// The result is one JSON object on the standard output. Exit status: 0 success, 1 a
    /// tool or the policy answered otherwise, 2 wrong command line or grants, 3 internal
    /// error.
    Call(CallArgs),
    /// List the tools.
    Tools(ToolsArgs),
    /// Serve the tools to a client of the Model Context Protocol.
    ///
    /// Over the standard streams, or with `--http` over HTTP. Where the policy says `ask`,
    /// the user is asked through the client, if it can do that, unless `--approve` names
    /// someone else.
    Mcp(McpArgs),
    /// Show what is granted, the policy, and what would be refused.
    Check(CheckArgs),
    /// Say what a component is and could do, without running it.
    ///
    /// Exit status: 0 it would be loaded with these options, 1 it would not, 2 wrong command
    /// line.
    Inspect(InspectArgs),
    /// Show what a component declares that it needs, or add such a declaration.
    Manifest(ManifestArgs),
    /// Write down which files the components are, so that none is exchanged unnoticed.
    Lock(LockArgs),
    /// Verify or show an audit log; make a key to sign it.
    Audit(AuditArgs),
    /// Answer the questions of calls that wait for an approval.
    Approvals(ApprovalsArgs),
    /// Start a crate with a tool in it, to be changed.
    ///
    /// It counts words, in Rust with `rootbound-tool`, and has a script `test` that builds it and
    /// tries it.
    New(NewArgs),
    /// Make a component of the WebAssembly module of a tool crate.
    ///
    /// What `wasm-tools component new` does, for those who have only this program. Prints what
    /// it wrote as a JSON object; runs nothing.
    Pack(PackArgs),
    /// Fetch a component from a registry, by its digest.
    ///
    /// What comes is checked against the digest and kept; the same again needs no network.
    /// Prints where the component is as a JSON object; runs nothing. Exit status: 0 it is
    /// there, 1 the registry or the cache answered otherwise, 2 wrong command line.
    #[cfg(feature = "oci")]
    Pull(PullArgs),
    /// Print a script that completes the command line in a shell.
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the manual page, in roff.
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of the crate, and of the directory to be made: lower-case letters, digits and `-`.
    pub(crate) name: String,
    /// A checkout's `tool` directory, instead of `rootbound-tool` from the registry.
    #[arg(long, value_name = "DIR")]
    pub(crate) tool_crate: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PackArgs {
    /// The module, as cargo builds it for `wasm32-unknown-unknown`.
    #[arg(value_name = "MODULE.wasm")]
    pub(crate) module: PathBuf,
    /// The component to be written; only another component is written over.
    #[arg(long, short, value_name = "FILE.wasm")]
    pub(crate) output: PathBuf,
}

#[cfg(feature = "oci")]
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// `oci://HOST[:PORT]/NAME@sha256:DIGEST`, the digest of the manifest.
    pub(crate) reference: String,
    /// Write the component to this file, too; only another component is written over.
    #[arg(long, short, value_name = "FILE.wasm", conflicts_with = "resolve")]
    pub(crate) output: Option<PathBuf>,
    /// Only print the reference with the digest that its tag has now.
    #[arg(long, conflicts_with = "offline")]
    pub(crate) resolve: bool,
    /// Take it from the cache or not at all.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Without TLS, from a registry on this machine.
    #[arg(long)]
    pub(crate) plain_http: bool,
    /// Milliseconds that each request may take.
    #[arg(long, value_name = "N", value_parser = milliseconds::parse, default_value = "60000")]
    pub(crate) timeout_ms: u64,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// Name of the tool, as `rootbound tools` lists it.
    pub(crate) tool: String,
    /// The arguments, a JSON object; `-` reads them from the standard input.
    #[arg(default_value = "{}", value_name = "JSON")]
    pub(crate) arguments: String,
    /// Show what would change; directories made for that are removed again.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The trace that the call belongs to (W3C Trace Context), for the audit log.
    #[arg(
        long,
        value_name = "TRACE",
        env = "TRACEPARENT",
        hide_env_values = true
    )]
    traceparent: Option<String>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl CallArgs {
    /// The caller's trace. What is none is as good as absent, as the standard has it: whoever
    /// set the variable may not know of this program.
    pub(crate) fn trace(&self) -> Option<TraceParent> {
        self.traceparent.as_deref()?.parse().ok()
    }
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// For whom the list is.
    #[arg(long, value_enum, default_value_t = ToolsFormat::Text)]
    pub(crate) format: ToolsFormat,
    #[command(flatten)]
    pub(crate) components: ComponentArgs,
    /// Which tools.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) toolset: ToolsetArg,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum ToolsetArg {
    /// A tool for each thing.
    #[default]
    Files,
    /// One tool for everything, `sandbox_filesystem`, with strict paths.
    Single,
}

impl From<ToolsetArg> for Toolset {
    fn from(toolset: ToolsetArg) -> Self {
        match toolset {
            ToolsetArg::Files => Self::Files,
            ToolsetArg::Single => Self::Single,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ToolsFormat {
    /// For people.
    Text,
    /// Everything that the definitions say.
    Json,
    /// The `tools` of MCP's `tools/list`.
    Mcp,
    /// The `tools` of OpenAI's chat completions.
    Openai,
    /// The `tools` of Anthropic's messages.
    Anthropic,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Print JSON, as `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// For whom the output is.
    #[arg(long, value_enum, default_value_t)]
    format: CheckFormat,
    /// Print the options of the session instead, each with where its value comes from.
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Look inside the directories as well, for links that lead out, mounts, and files with
    /// more than one name: up to 100,000 objects or 5 seconds each.
    #[arg(long, conflicts_with = "print_config")]
    pub(crate) look_inside: bool,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl CheckArgs {
    pub(crate) fn wants_json(&self) -> bool {
        self.json || matches!(self.format, CheckFormat::Json)
    }
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum CheckFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) http: HttpArgs,
    /// Milliseconds that a client may take to answer whether a change is allowed; not with
    /// `--approve`, which asks elsewhere.
    #[arg(long, value_name = "N", value_parser = milliseconds::parse, default_value = "50000")]
    pub(crate) approval_timeout_ms: u64,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArgs {
    /// Serve over HTTP instead, at this address: `127.0.0.1:8931`, or port 0 for any.
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// Listen where other machines can connect. TLS is a proxy's work.
    #[arg(long, requires = "http")]
    pub(crate) http_allow_remote: bool,
    /// A further name by which requests may call the server in `Host`.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) http_host: Vec<String>,
    /// An origin whose pages may send requests, such as `http://localhost:6274` [default:
    /// none].
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) http_origin: Vec<String>,
    /// Tokens that clients show, one a line, `NAME:TOKEN` or `TOKEN` [default: a new one,
    /// printed to the standard error].
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) http_token_file: Option<PathBuf>,
    /// The token, from the environment only: other users see command lines.
    #[arg(
        long,
        hide = true,
        env = "ROOTBOUND_HTTP_TOKEN",
        hide_env_values = true
    )]
    pub(crate) http_token: Option<String>,
    /// A key of 32 or more bytes that replicas behind a load balancer share, so that each
    /// takes the answers to another's questions. Clients up to 2025-11-25 are then served
    /// without sessions.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) state_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Check every hash, link and number; print the number of entries and the last hash.
    ///
    /// Several files are one log in the order in which they are given, the oldest first.
    /// Exit status: 0 the log is whole, 1 it is not, 2 it cannot be read.
    Verify {
        /// The log, or `-` for the standard input.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The last hash, as noted elsewhere: finds an end that was cut off.
        #[arg(long, value_name = "HASH", value_parser = hash)]
        head: Option<String>,
        /// Where the files before these end, as `rootbound audit head` prints it: takes a log whose
        /// first files are not here, if it goes on right there.
        #[arg(long, value_name = "HASH", value_parser = hash)]
        after: Option<String>,
        /// The public key of the one who signs the log, or a file that holds it: finds an end
        /// that was cut off and a log that was written anew.
        #[arg(long, value_name = "KEY|FILE")]
        public_key: Option<OsString>,
    },
    /// Show a log, whole or in part, and what each session did.
    ///
    /// Exit status: 0 the log is whole, 1 it is not, 2 it cannot be read.
    Show(ShowArgs),
    /// Print the last hash, to be noted where the log cannot be changed.
    Head {
        /// The log.
        file: PathBuf,
    },
    /// Make a key for `--audit-key` and print its public half.
    Keygen {
        /// The file of the secret key; there must be none yet.
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The log; several files are one log, the oldest first.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only what this tool did.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only what was refused.
    #[arg(long)]
    pub(crate) denied: bool,
    /// Only what is about this path, or something below it.
    #[arg(long)]
    pub(crate) path: Option<String>,
    /// Only what happened since, `2026-01-31T12:00:00Z`, or in the last `90min`.
    #[arg(long, value_name = "TIME", value_parser = times::since)]
    pub(crate) since: Option<SystemTime>,
    /// Only this call.
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
    /// Print the entries as they are, one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what each session read, wrote, deleted and was refused, instead of the entries.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) summary: bool,
    /// Go on with what is written from now on, until interrupted.
    #[arg(long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) command: ApprovalsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List the questions.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show a question: who asks, what would change, and what can be shown of contents.
    Show {
        /// The `approval` that the refused call answered.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Admit the same call once.
    Approve {
        /// The `approval` that the refused call answered.
        id: String,
    },
    /// Refuse the same call until the question expires; a no is final.
    Deny {
        /// The `approval` that the refused call answered.
        id: String,
    },
}

impl Cli {
    /// Reads the command line, and the configuration file that it or the environment names.
    pub(crate) fn from_command_line() -> Result<Self, Refused> {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        let matches = Self::command().try_get_matches_from(&arguments)?;
        let opens_a_session = Self::from_arg_matches(&matches)?.session_mut().is_some();
        let completed = settings::complete(&arguments, matches, opens_a_session)?;
        let mut cli = Self::from_arg_matches(&completed.matches)?;
        let secrets = cli.secret_files();
        if let Some(session) = cli.session_mut() {
            session.sources = completed.sources;
            session.sources.secrets = secrets;
            session.policy.allow_also = session.sources.allow_also.clone();
            session.policy.denied = session.sources.denied.clone();
            let grants = &mut session.grants;
            // An empty variable is as good as none.
            if work_is_from_environment(&completed.matches) && !completed.work_counts {
                grants.forget_work();
            }
            if grants.written().count() > 1 {
                return Err(Refused::CommandLine(Self::command().error(
                    ErrorKind::ArgumentConflict,
                    "`--write`, `--work` and `--session-dir` cannot be used together: one directory can be granted for writing",
                )));
            }
        }
        Ok(cli)
    }

    /// Files by which others are let in, which no tool may reach.
    fn secret_files(&self) -> Vec<PathBuf> {
        match &self.command {
            Command::Mcp(McpArgs { http, .. }) => {
                let files = [&http.http_token_file, &http.state_key];
                files.into_iter().flatten().cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The tools that the command is about, by which its failures are shown.
    pub(crate) fn toolset(&self) -> Toolset {
        match &self.command {
            Command::Call(call) => call.session.grants.toolset(),
            Command::Check(check) => check.session.grants.toolset(),
            Command::Lock(lock) => lock.session.grants.toolset(),
            Command::Mcp(mcp) => mcp.session.grants.toolset(),
            Command::Tools(tools) => tools.toolset.into(),
            Command::Approvals(_)
            | Command::Audit(_)
            | Command::Completions { .. }
            | Command::Inspect(_)
            | Command::New(_)
            | Command::Pack(_)
            | Command::Man
            | Command::Manifest(_) => Toolset::default(),
            #[cfg(feature = "oci")]
            Command::Pull(_) => Toolset::default(),
        }
    }

    fn session_mut(&mut self) -> Option<&mut SessionArgs> {
        match &mut self.command {
            Command::Call(call) => Some(&mut call.session),
            Command::Check(check) => Some(&mut check.session),
            Command::Lock(lock) => Some(&mut lock.session),
            Command::Mcp(mcp) => Some(&mut mcp.session),
            Command::Tools(_)
            | Command::Approvals(_)
            | Command::Audit(_)
            | Command::Completions { .. }
            | Command::Inspect(_)
            | Command::New(_)
            | Command::Pack(_)
            | Command::Man
            | Command::Manifest(_) => None,
            #[cfg(feature = "oci")]
            Command::Pull(_) => None,
        }
    }
}

fn work_is_from_environment(matches: &ArgMatches) -> bool {
    matches
        .subcommand()
        .is_some_and(|(_, matches)| matches.value_source("work") == Some(ValueSource::EnvVariable))
}

/// A hash as the log has it. What is none, such as a variable that was not set, would say of every
/// log that its end was cut off.
fn hash(text: &str) -> Result<String, &'static str> {
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    match text.len() == 64 && text.bytes().all(is_digit) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("a hash is 64 hexadecimal digits, as `rootbound audit head` prints them"),
    }
}
