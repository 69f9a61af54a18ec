//! What can be said on the command line.

use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
#[cfg(feature = "otel")]
use rootbound::OtlpObserver;
use rootbound::{
    ApprovalQueue, ApproveEverythingUnseen, AuditLog, Consent, Denied, Durability, Limits,
    Patterns, RefuseEverything, Rotation, SessionBuilder, TerminalApprover, Toolset, TraceParent,
    is_encoding,
};

use super::components::{ComponentArgs, InspectArgs, LockArgs, ManifestArgs};
use super::opening::Purpose;
use super::settings::{self, Sources};
use super::{Failure, Refused, counts, milliseconds, sizes, times, words};

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

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    pub(crate) grants: GrantArgs,
    #[command(flatten)]
    pub(crate) components: ComponentArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Where the options come from.
    #[arg(skip)]
    pub(crate) sources: Sources,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Grants")]
pub(crate) struct GrantArgs {
    /// Grant a directory for reading; may be given several times and is looked up in order.
    #[arg(long, value_name = "[LABEL=]DIR")]
    read: Vec<OsString>,
    /// Grant a directory for creating, writing and deleting; grants no reading.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Grant one directory both ways; created when absent. The variable counts less than this,
    /// `--write` and `--session-dir` do, and more than those in the file.
    #[arg(long, value_name = "DIR", env = "ROOTBOUND_WORK_DIR", hide_env_values = true, value_parser = directory_or_nothing())]
    work: Option<PathBuf>,
    /// Make a directory for this session alone below BASE, and grant it for writing.
    #[arg(long, value_name = "BASE")]
    session_dir: Option<PathBuf>,
    /// Remove that directory, with what it holds, when the session ends; only with
    /// `--session-dir`.
    #[arg(long)]
    remove_session_dir: bool,
    /// Options from a file, `rootbound.toml`; those given here or in the environment count
    /// more.
    #[arg(long, value_name = "FILE", env = "ROOTBOUND_CONFIG", hide_env_values = true, value_parser = directory_or_nothing())]
    config: Option<PathBuf>,
    /// Which tools there are.
    #[arg(long, value_enum, default_value_t)]
    toolset: ToolsetArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ConsentArg {
    Deny,
    Ask,
    Allow,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ApproveArg {
    /// Refuse whatever needs an approval.
    Deny,
    /// Ask at the terminal.
    Prompt,
    /// Leave the question for `rootbound approvals`.
    Queue,
    /// Approve everything, without anybody looking.
    Allow,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DurabilityArg {
    Full,
    Fast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AuditArgumentsArg {
    Digest,
    Full,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArgs {
    /// Whether existing files may be changed [default: deny].
    #[arg(long, value_enum, hide_default_value = true, default_value = "deny")]
    overwrite: ConsentArg,
    /// Whether what exists may be deleted or renamed [default: ask].
    #[arg(long, value_enum, hide_default_value = true, default_value = "ask")]
    delete: ConsentArg,
    /// Who is asked where the policy says `ask` [default: nobody, so the answer is no].
    #[arg(long, value_enum)]
    pub(super) approve: Option<ApproveArg>,
    /// Bytes read of one file and call [default: 10MiB].
    #[arg(long, value_name = "SIZE", value_parser = sizes::parse)]
    max_read_bytes: Option<u64>,
    /// Bytes read in one call altogether [default: 512MiB].
    #[arg(long, value_name = "SIZE", value_parser = sizes::parse)]
    max_call_read_bytes: Option<u64>,
    /// Bytes written in one call [default: 5MiB].
    #[arg(long, value_name = "SIZE", value_parser = sizes::parse)]
    max_write_bytes: Option<u64>,
    /// Bytes of one result [default: 16MiB; over MCP 256KiB].
    #[arg(long, value_name = "SIZE", value_parser = sizes::some)]
    max_output_bytes: Option<u64>,
    /// Memory of the tool [default: 256MiB].
    #[arg(long, value_name = "SIZE", value_parser = sizes::some)]
    max_memory: Option<u64>,
    /// Levels of a recursive listing or search [default: 10].
    #[arg(long, value_name = "N", value_parser = counts::parse::<u32>)]
    max_depth: Option<u32>,
    /// Entries in one page of a directory; a component may ask for the next [default: 10000].
    #[arg(long, value_name = "N", value_parser = counts::parse::<u64>)]
    max_entries: Option<u64>,
    /// Open files, directories and streams at one time [default: 256].
    #[arg(long, value_name = "N", value_parser = counts::some::<u32>)]
    max_handles: Option<u32>,
    /// Bytes written by all calls together [default: no limit].
    #[arg(long, value_name = "SIZE", value_parser = sizes::parse)]
    max_session_write_bytes: Option<u64>,
    /// Files and directories made by all calls together; a rename makes none [default: no
    /// limit].
    #[arg(long, value_name = "N", value_parser = counts::parse::<u64>)]
    max_session_files: Option<u64>,
    /// Calls that may begin within one second [default: no limit].
    #[arg(long, value_name = "N", value_parser = counts::some::<u32>)]
    max_calls_per_second: Option<u32>,
    /// Milliseconds that a call may take, or a time such as `5s` [default: 5000].
    #[arg(long, value_name = "N", value_parser = milliseconds::parse)]
    timeout_ms: Option<u64>,
    /// Only what the pattern names may be touched; gitignore syntax, from the root of each
    /// directory; may be given several times. With a list in the file, both have to name it.
    #[arg(long, value_name = "GLOB", value_parser = pattern)]
    allow: Vec<String>,
    /// Lists of that kind from elsewhere, which hold as well.
    #[arg(skip)]
    pub(super) allow_also: Vec<Vec<String>>,
    /// What the pattern names is neither touched nor listed; may be given several times, and
    /// adds to what the file denies.
    #[arg(long, value_name = "GLOB", value_parser = pattern)]
    deny: Vec<String>,
    /// What each source denies, `deny` and `protect_secrets` among it.
    #[arg(skip)]
    pub(super) denied: Vec<Denied>,
    /// Deny what usually holds credentials: `.env*`, `.ssh`, `*.pem`, `id_*`, `.git/hooks` and
    /// many more.
    #[arg(long)]
    protect_secrets: bool,
    /// Refuse every `..` in a path.
    #[arg(long)]
    strict_paths: bool,
    /// Take names that mean something else on Windows, or that deceive a reader.
    #[arg(long)]
    any_names: bool,
    /// What a text is taken for that has no byte order mark, where a call names no encoding:
    /// `windows-1252`, `shift_jis`, … [default: utf-8].
    #[arg(long, value_name = "NAME", env = "ROOTBOUND_DEFAULT_ENCODING", hide_env_values = true, value_parser = encoding)]
    default_encoding: Option<String>,
    /// Whether a change is on the disk before the call succeeds [default: full].
    #[arg(long, value_enum, hide_default_value = true, default_value = "full")]
    durability: DurabilityArg,
    /// Do not let the kernel (Landlock) hold this process to the granted directories.
    #[arg(long)]
    pub(super) no_landlock: bool,
    /// Where the audit log goes: a file, `stderr`, or `none` [default: a new file in the
    /// state directory].
    #[arg(long, value_name = "FILE|stderr|none", value_parser = words::parser("audit"))]
    audit: Option<PathBuf>,
    /// Whether an entry of the audit log is on the disk before what it announces is done, or
    /// within a second [default: fast].
    #[arg(long, value_enum, hide_default_value = true, default_value = "fast")]
    audit_durability: DurabilityArg,
    /// Sign the audit log with a key of `rootbound audit keygen`.
    #[arg(long, value_name = "FILE")]
    audit_key: Option<PathBuf>,
    /// Begin a new file when that of the audit log has this size; the old one is kept as
    /// `FILE.1`, the next as `FILE.2`.
    #[arg(long, value_name = "SIZE", value_parser = sizes::some)]
    audit_max_bytes: Option<u64>,
    /// Begin a new file when that of the audit log is this old, such as `24h` or `7d`.
    #[arg(long, value_name = "TIME", value_parser = times::some)]
    audit_max_age: Option<Duration>,
    /// What the audit log holds of the arguments: their hash, or themselves without contents
    /// and what looks like a secret [default: digest].
    #[arg(long, value_enum, hide_default_value = true, default_value = "digest")]
    audit_arguments: AuditArgumentsArg,
    /// Export the audit log to an OpenTelemetry collector as well, over OTLP/HTTP: at this
    /// address, such as `http://localhost:4318`, or where the `OTEL_EXPORTER_OTLP_*` variables
    /// say (`env`).
    #[arg(long, value_name = "URL|env")]
    otlp: Option<String>,
}

impl From<ConsentArg> for Consent {
    fn from(consent: ConsentArg) -> Self {
        match consent {
            ConsentArg::Deny => Self::Deny,
            ConsentArg::Ask => Self::Ask,
            ConsentArg::Allow => Self::Allow,
        }
    }
}

impl From<DurabilityArg> for Durability {
    fn from(durability: DurabilityArg) -> Self {
        match durability {
            DurabilityArg::Full => Self::Full,
            DurabilityArg::Fast => Self::Fast,
        }
    }
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
                grants.work = None;
            }
            let written = [&grants.write, &grants.work, &grants.session_dir];
            if written.into_iter().flatten().count() > 1 {
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
            Command::Call(call) => call.session.grants.toolset.into(),
            Command::Check(check) => check.session.grants.toolset.into(),
            Command::Lock(lock) => lock.session.grants.toolset.into(),
            Command::Mcp(mcp) => mcp.session.grants.toolset.into(),
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

/// Takes the empty text as well, which clap's own parser refuses.
fn directory_or_nothing() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Takes what is an encoding, and the empty text, which is as good as none.
fn encoding(label: &str) -> anyhow::Result<String> {
    anyhow::ensure!(
        label.is_empty() || is_encoding(label),
        "`{label}` is no known encoding: give a label of the Encoding Standard, such as `windows-1252`"
    );
    Ok(label.to_owned())
}

/// Takes what means something as a pattern.
fn pattern(glob: &str) -> anyhow::Result<String> {
    let patterns = Patterns {
        deny: vec![glob.to_owned()],
        ..Patterns::default()
    };
    patterns.check()?;
    Ok(glob.to_owned())
}

fn work_is_from_environment(matches: &ArgMatches) -> bool {
    matches
        .subcommand()
        .is_some_and(|(_, matches)| matches.value_source("work") == Some(ValueSource::EnvVariable))
}

impl GrantArgs {
    pub(super) fn toolset(&self) -> Toolset {
        self.toolset.into()
    }

    pub(super) fn apply(&self, mut builder: SessionBuilder) -> Result<SessionBuilder, Failure> {
        for read in &self.read {
            builder = match split_label(read)? {
                (Some(label), directory) => builder.labelled_read_root(label, directory),
                (None, directory) => builder.read_root(directory),
            };
        }
        if let Some(directory) = &self.write {
            builder = builder.write_root(directory);
        }
        if let Some(directory) = &self.work {
            builder = builder.work_root(directory);
        }
        if let Some(base) = &self.session_dir {
            builder = builder
                .session_dir(base)
                .remove_session_dir(self.remove_session_dir);
        }
        Ok(builder.toolset(self.toolset.into()))
    }
}

/// `docs=./inputs` is a label and a directory; a directory with `=` in its name is given
/// as `./a=b`.
fn split_label(read: &OsStr) -> Result<(Option<String>, &Path), Failure> {
    let bytes = read.as_bytes();
    let label = match bytes.iter().position(|byte| matches!(byte, b'=' | b'/')) {
        Some(end) if bytes[end] == b'=' => &bytes[..end],
        _ => return Ok((None, Path::new(read))),
    };
    let directory = OsStr::from_bytes(&bytes[label.len() + 1..]);
    if directory.is_empty() {
        return Err(anyhow::anyhow!("`--read {}` names no directory", read.display()).into());
    }
    let label = String::from_utf8_lossy(label).into_owned();
    Ok((Some(label), Path::new(directory)))
}

impl PolicyArgs {
    pub(super) fn approver(&self) -> &'static str {
        match self.approve {
            None => "nobody is there to approve",
            Some(ApproveArg::Deny) => "every question is answered with no",
            Some(ApproveArg::Prompt) => "asked at the terminal",
            Some(ApproveArg::Queue) => "asked by `rootbound approvals`",
            Some(ApproveArg::Allow) => "every question is answered with yes, unseen",
        }
    }

    /// Where the audit log is exported to.
    pub(super) fn otlp(&self) -> Option<String> {
        self.otlp.clone()
    }

    pub(super) fn apply(
        &self,
        builder: SessionBuilder,
        purpose: Purpose,
        max_output_bytes: u64,
        log: Option<AuditLog>,
    ) -> Result<SessionBuilder, Failure> {
        let mut builder = self.rules(builder, max_output_bytes);
        builder = match self.approve {
            None => builder,
            Some(ApproveArg::Deny) => builder.approver(RefuseEverything),
            Some(ApproveArg::Prompt) => builder.approver(TerminalApprover::default()),
            Some(ApproveArg::Allow) => builder.approver(ApproveEverythingUnseen),
            Some(ApproveArg::Queue) => {
                let queue = match purpose {
                    Purpose::Preview => ApprovalQueue::preview(),
                    Purpose::Calls | Purpose::DryRuns => ApprovalQueue::in_state_directory(),
                };
                builder.approver(queue.map_err(anyhow::Error::from)?)
            }
        };
        builder = builder.record_arguments(self.audit_arguments == AuditArgumentsArg::Full);
        match log {
            // It was opened, and is signed and rotated, as the options say.
            Some(log) => Ok(builder.audit(log)),
            None => self.log_to(builder),
        }
    }

    /// What may be done, without who is asked and where that is recorded.
    pub(super) fn rules(
        &self,
        mut builder: SessionBuilder,
        max_output_bytes: u64,
    ) -> SessionBuilder {
        builder = builder
            .overwrite(self.overwrite.into())
            .delete(self.delete.into())
            .strict_paths(self.strict_paths)
            .portable_names(!self.any_names)
            .durability(self.durability.into())
            .audit_durability(self.audit_durability.into())
            .note_confinement(!self.no_landlock)
            .limits(self.limits(max_output_bytes));
        if let Some(label) = self
            .default_encoding
            .as_ref()
            .filter(|label| !label.is_empty())
        {
            builder = builder.default_encoding(label);
        }
        builder = self.allow.iter().fold(builder, SessionBuilder::allow);
        builder = (self.allow_also.iter()).fold(builder, SessionBuilder::allow_also);
        (self.denied.iter().cloned()).fold(builder, SessionBuilder::deny_also)
    }

    fn log_to(&self, builder: SessionBuilder) -> Result<SessionBuilder, Failure> {
        let mut builder = builder.audit_rotation(Rotation {
            max_bytes: self.audit_max_bytes,
            max_age: self.audit_max_age,
        });
        if let Some(key) = &self.audit_key {
            builder = builder.audit_key(key);
        }
        if let Some(endpoint) = &self.otlp {
            builder = export(builder, endpoint)?;
        }
        Ok(match &self.audit {
            None => builder,
            Some(target) if target.as_os_str() == "stderr" => builder.audit(AuditLog::stderr()),
            Some(target) if target.as_os_str() == "none" => builder.audit(AuditLog::none()),
            Some(file) => builder.audit_file(file),
        })
    }

    /// The limits of a session.
    pub(crate) fn limits(&self, max_output_bytes: u64) -> Limits {
        let mut limits = Limits {
            max_output_bytes,
            ..Limits::default()
        };
        set(&mut limits.max_read_bytes, self.max_read_bytes);
        set(&mut limits.max_call_read_bytes, self.max_call_read_bytes);
        set(&mut limits.max_write_bytes, self.max_write_bytes);
        set(&mut limits.max_output_bytes, self.max_output_bytes);
        set(&mut limits.max_memory, self.max_memory);
        set(&mut limits.max_depth, self.max_depth);
        set(&mut limits.max_entries, self.max_entries);
        set(&mut limits.max_handles, self.max_handles);
        limits.max_session_write_bytes = self.max_session_write_bytes;
        limits.max_session_files = self.max_session_files;
        limits.max_calls_per_second = self.max_calls_per_second;
        set(
            &mut limits.timeout,
            self.timeout_ms.map(Duration::from_millis),
        );
        limits
    }
}

/// Has the audit log exported. Where it goes by the environment, that has to be asked for: the
/// variables may be there for other programs.
#[cfg(feature = "otel")]
fn export(builder: SessionBuilder, endpoint: &str) -> Result<SessionBuilder, Failure> {
    let endpoint = Some(endpoint).filter(|endpoint| *endpoint != "env");
    let observer = OtlpObserver::to(endpoint).map_err(anyhow::Error::from)?;
    let tell = |what: &str| super::print::to_stderr(&format!("warning: {what}"));
    Ok(builder.audit_observer(observer.on_failure(tell)))
}

#[cfg(not(feature = "otel"))]
fn export(_: SessionBuilder, _: &str) -> Result<SessionBuilder, Failure> {
    let without = "this program was built without `--otlp`: build it with `--features otel`";
    Err(anyhow::anyhow!(without).into())
}

fn set<T: Copy>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
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
