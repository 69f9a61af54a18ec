//! What a session is opened with, as far as the command line says it: grants and policy.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
#[cfg(feature = "otel")]
use rootbound::OtlpObserver;
use rootbound::{
    ApprovalQueue, ApproveEverythingUnseen, AuditLog, Consent, Denied, Durability, Limits,
    Patterns, RefuseEverything, Rotation, SessionBuilder, TerminalApprover, Toolset, is_encoding,
};

use super::args::ToolsetArg;
use super::components::ComponentArgs;
use super::opening::Purpose;
use super::settings::Sources;
use super::{Failure, counts, milliseconds, sizes, times, words};

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

impl GrantArgs {
    /// The directories that are granted for writing. There can be one.
    pub(super) fn written(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.write, &self.work, &self.session_dir]
            .into_iter()
            .flatten()
    }

    pub(super) fn forget_work(&mut self) {
        self.work = None;
    }

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
