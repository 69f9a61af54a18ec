//! Building a session: every choice, and what is refused at start.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::ambient;
use crate::approval::{Approver, Nobody};
use crate::audit::{AuditKey, AuditLog, AuditObserver, Rotation};
use crate::component::{ComponentError, ToolComponent};
use crate::default_encoding::is_encoding;
use crate::error::CallError;
use crate::explain::{RootReport, report_to_be_made};
use crate::guest_log::GuestLog;
use crate::journal;
use crate::kept::{Candidate, Kept};
use crate::linked::{self, Search};
use crate::optional::GuestLine;
use crate::patterns::{Denied, Judge, PatternError};
use crate::place::{Made, Place};
use crate::policy::{Consent, Durability, LimitError, Limits, Policy};
use crate::quotas::{Quotas, SessionQuotas};
use crate::random;
use crate::respell::Respelling;
use crate::roots::{Rights, Root, Roots};
use crate::session::{AuditTarget, Session};
use crate::session_directory::SessionDirectory;
use crate::shared::{Shared, describe_policy};
use crate::toolset::Toolset;
use crate::walk::{self, Boundary, ObjectId};

/// The label of a session's own directory.
const SESSION: &str = "session";
/// As good as no end; the clock cannot express much more.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

/// Why a session cannot start. Unlike the answers of calls, these name host paths: they
/// are for the operator.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A directory cannot be granted.
    #[error("`{}` cannot be a root: {reason}", path.display())]
    Root {
        /// The directory as it was named.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A label is not letters, digits, `.`, `_` or `-`, or is used twice.
    #[error("`{0}` cannot be a label: use letters, digits, `.`, `_` and `-`, each label once")]
    Label(String),
    /// There is one write root.
    #[error("only one directory can be granted for writing")]
    SecondWriteRoot,
    /// The session's own directory is to be removed, and there is none.
    #[error("there is no directory of the session's own to be removed: name its base")]
    NoSessionDirectory,
    /// No encoding has this name.
    #[error(
        "`{0}` is no known encoding: give a label of the Encoding Standard, such as `windows-1252`"
    )]
    Encoding(String),
    /// A pattern means nothing, or is one too many.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A limit leaves no call possible.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The component cannot be used.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The audit log cannot be written.
    #[error("{}", .0.message())]
    Audit(CallError),
    /// The audit log cannot be written to the file that was named.
    #[error("`{}`: {}", file.display(), error.message())]
    AuditFile {
        /// The file as it was named.
        file: PathBuf,
        /// Why not.
        error: CallError,
    },
    /// Somebody is to see the audit log, and there is none.
    #[error("there is no audit log to be observed or exported")]
    NothingToObserve,
    /// The audit log cannot be signed with the key that was given.
    #[error("`{}` cannot be the audit key: {reason}", path.display())]
    AuditKey {
        /// The key file as it was named.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

/// Builds a [`Session`].
///
/// The defaults are: no roots; nothing is overwritten; deletions need an approval, and
/// nobody is there to give it; the limits of [`Limits::default`]; the audit log in a new
/// file in the user's state directory, and required; the file tools of this crate.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let inputs = tempfile::tempdir()?;
/// # let inputs = inputs.path();
/// use std::time::Duration;
/// use rootbound::{AuditLog, Consent, Decision, Session};
///
/// let session = Session::builder()
///     .labelled_read_root("docs", inputs)
///     .work_root(inputs.join("drafts"))
///     .overwrite(Consent::Ask)
///     .approver(|request: &rootbound::ApprovalRequest| Decision::refuse(&request.principal))
///     .timeout(Duration::from_secs(1))
///     .audit(AuditLog::none())
///     .build()?;
/// let labels: Vec<String> = session.grants().into_iter().map(|grant| grant.label).collect();
/// assert_eq!(labels, ["docs", "drafts", "drafts"]);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct SessionBuilder {
    grants: Vec<Wanted>,
    policy: Policy,
    audit: AuditTarget,
    approver: Option<Arc<dyn Approver>>,
    principal: Option<String>,
    component: Option<ToolComponent>,
    toolset: Toolset,
    respell: Option<RespellFrom>,
    default_encoding: Option<String>,
    state: Option<PathBuf>,
    confinement: Option<&'static str>,
    audit_key: Option<PathBuf>,
    rotation: Rotation,
    audit_durability: Option<Durability>,
    observers: Vec<Box<dyn AuditObserver>>,
    records_arguments: bool,
    guest_log: GuestLog,
    configuration: Vec<PathBuf>,
    secrets: Vec<PathBuf>,
    component_files: Vec<PathBuf>,
    session_base: Option<PathBuf>,
    remove_session_directory: bool,
    take_back_directories: bool,
    quotas: Option<Quotas>,
}

/// A grant as the operator asked for it.
struct Wanted {
    label: Option<String>,
    path: PathBuf,
    rights: Rights,
    make: bool,
}

impl Wanted {
    /// What the operator named: of a session's own directory, the base.
    fn named(&self) -> &Path {
        match (&self.label, self.path.parent()) {
            (Some(label), Some(base)) if label == SESSION && self.rights == Rights::Write => base,
            _ => &self.path,
        }
    }
}

enum RespellFrom {
    Root(PathBuf),
    FileSystem,
}

impl SessionBuilder {
    /// Grants a directory for reading. Paths are looked up in the read roots in the order
    /// in which they were granted.
    #[must_use]
    pub fn read_root(self, directory: impl AsRef<Path>) -> Self {
        self.grant(None, directory, Rights::Read, false)
    }

    /// Grants a directory for reading, known by a label of the operator's: letters, digits,
    /// `.`, `_` and `-`, each label once.
    #[must_use]
    pub fn labelled_read_root(self, label: impl Into<String>, directory: impl AsRef<Path>) -> Self {
        self.grant(Some(label.into()), directory, Rights::Read, false)
    }

    /// Grants a directory for creating, writing and deleting. It grants no reading: a file
    /// can be changed by its content only where a read root holds it too. There is one
    /// write root; a second one makes [`build`](Self::build) fail.
    #[must_use]
    pub fn write_root(self, directory: impl AsRef<Path>) -> Self {
        self.grant(None, directory, Rights::Write, false)
    }

    /// Grants one directory both ways; creates it when it is absent. It is the write root.
    #[must_use]
    pub fn work_root(self, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        self.grant(None, directory, Rights::Read, true)
            .grant(None, directory, Rights::Write, true)
    }

    /// Grants a directory of the session's own for writing: a fresh one below `base` with a
    /// random name and mode 0700. It is the write root, known as `session`, and no other
    /// session is given it; `base`, made when it is absent, must belong to the user, nobody
    /// else may write to it, and no root may contain it or lie below it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let base = tempfile::tempdir()?;
    /// # let base = base.path();
    /// use rootbound::{AuditLog, Session};
    /// use serde_json::json;
    ///
    /// let session = Session::builder()
    ///     .session_dir(base)
    ///     .remove_session_dir(true)
    ///     .audit(AuditLog::none())
    ///     .build()?;
    /// session.call("write_file", json!({"path": "notes.md", "content": "hello"}))?;
    /// let own = session.directory().unwrap().to_owned();
    /// assert!(own.join("notes.md").exists());
    /// session.close()?;
    /// assert!(!own.exists());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn session_dir(mut self, base: impl AsRef<Path>) -> Self {
        self.session_base = Some(base.as_ref().to_owned());
        self
    }

    /// Whether the session's own directory is removed, with what it holds, when the session
    /// is closed or its last clone is dropped. Default: false. It needs a
    /// [`session_dir`](Self::session_dir).
    #[must_use]
    pub fn remove_session_dir(mut self, remove: bool) -> Self {
        self.remove_session_directory = remove;
        self
    }

    /// Whether the directories that the start has to make are taken away when the session ends,
    /// where they are empty: its own, its base and an absent work root. For sessions whose calls
    /// are all dry runs. Default: false.
    #[must_use]
    pub fn take_back_directories(mut self, take_back: bool) -> Self {
        self.take_back_directories = take_back;
        self
    }

    fn grant(
        mut self,
        label: Option<String>,
        directory: impl AsRef<Path>,
        rights: Rights,
        make: bool,
    ) -> Self {
        self.grants.push(Wanted {
            label,
            path: directory.as_ref().to_owned(),
            rights,
            make,
        });
        self
    }

    /// For programs that come from tools with a base directory: one root both ways, where
    /// existing files may be overwritten and absolute paths inside it are understood.
    ///
    /// This gives up the first of the two consents to overwriting; deletions still need an
    /// approval.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let base = tempfile::tempdir()?;
    /// # let base = base.path();
    /// use rootbound::{AuditLog, Session};
    /// use serde_json::json;
    ///
    /// let session = Session::builder().base_dir(base).audit(AuditLog::none()).build()?;
    /// let path = base.join("notes.md");
    /// session.call("write_file", json!({"path": path, "content": "hello"}))?;
    /// let outside = session.call("read_file", json!({"path": "/etc/hosts"})).unwrap_err();
    /// assert_eq!(outside.reason(), Some("absolute"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn base_dir(self, directory: impl AsRef<Path>) -> Self {
        let mut builder = self.work_root(&directory).overwrite(Consent::Allow);
        builder.respell = Some(RespellFrom::Root(directory.as_ref().to_owned()));
        builder
    }

    /// For trusted programs only: the whole file system, both ways, with overwriting and
    /// deleting allowed.
    ///
    /// This gives up confinement: every file that the process may touch can be touched,
    /// the audit log and other state of this crate included. Relative paths are taken from
    /// the process's working directory, links are followed wherever they lead. What
    /// remains: limits, atomic replacement, special files are not opened, and the audit
    /// log. Other grants of this builder have no effect.
    #[must_use]
    pub fn unrestricted(mut self) -> Self {
        self.respell = Some(RespellFrom::FileSystem);
        self.overwrite(Consent::Allow).delete(Consent::Allow)
    }

    /// Whether existing files may be changed. Default: [`Consent::Deny`].
    #[must_use]
    pub fn overwrite(mut self, consent: Consent) -> Self {
        self.policy.overwrite = consent;
        self
    }

    /// Whether what exists may be deleted or renamed away. Default: [`Consent::Ask`].
    #[must_use]
    pub fn delete(mut self, consent: Consent) -> Self {
        self.policy.delete = consent;
        self
    }

    /// Replaces the limits, the time for a call among them.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.policy.limits = limits;
        self
    }

    /// How long a call may take. Default: 5 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.policy.limits.timeout = timeout;
        self
    }

    /// Whether a success means that the change survives a power cut. Default:
    /// [`Durability::Full`].
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.policy.durability = durability;
        self
    }

    /// Refuses every `..` in a path, also one that stays inside. Default: false.
    #[must_use]
    pub fn strict_paths(mut self, strict: bool) -> Self {
        self.policy.paths.strict = strict;
        self
    }

    /// Refuses names that mean something else on another system, and new names that
    /// deceive a reader. Default: true.
    #[must_use]
    pub fn portable_names(mut self, portable: bool) -> Self {
        self.policy.paths.portable_names = portable;
        self
    }

    /// Only what such a pattern names may be touched, the directories that lead there, and
    /// nothing else; see [`Patterns`](crate::Patterns). May be called several times.
    #[must_use]
    pub fn allow(mut self, pattern: impl Into<String>) -> Self {
        self.policy.patterns.allow.push(pattern.into());
        self
    }

    /// A further list of patterns as for [`allow`](Self::allow), such as that of somebody else:
    /// what is touched must be named by each list, so that none widens another.
    #[must_use]
    pub fn allow_also(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let list = patterns.into_iter().map(Into::into).collect();
        self.policy.patterns.allow_also.push(list);
        self
    }

    /// What the pattern names is not touched, told or listed, under whatever name or link it
    /// is reached; see [`Patterns`](crate::Patterns). May be called several times.
    #[must_use]
    pub fn deny(mut self, pattern: impl Into<String>) -> Self {
        self.policy.patterns.deny.push(pattern.into());
        self
    }

    /// A further list of what is denied, such as that of somebody else: it is judged by itself, so
    /// that no `!` takes back what another list denies.
    #[must_use]
    pub fn deny_also(mut self, list: Denied) -> Self {
        self.policy.patterns.deny_also.push(list);
        self
    }

    /// Denies what usually holds credentials, [`SECRETS`](crate::SECRETS). Default: false.
    #[must_use]
    pub fn protect_secrets(mut self, protect: bool) -> Self {
        self.policy.patterns.protect_secrets = protect;
        self
    }

    /// Replaces the whole policy, with what `overwrite`, `delete`, `limits` and the other
    /// methods have set so far.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The policy that was set, as [`Session::policy_json`] tells it; what the component declares
    /// can narrow it further.
    #[must_use]
    pub fn policy_json(&self) -> Value {
        let mut policy = self.policy.clone();
        policy.paths.strict |= self.toolset == Toolset::Single;
        describe_policy(&policy)
    }

    /// What a text is taken for that has no byte order mark, where the caller of a tool names no
    /// encoding: a label of the Encoding Standard, such as `windows-1252`; see
    /// [`is_encoding`](crate::is_encoding). Default: UTF-8. Nothing is written in it.
    #[must_use]
    pub fn default_encoding(mut self, label: impl Into<String>) -> Self {
        self.default_encoding = Some(label.into());
        self
    }

    /// Who is asked before something is destroyed. Default: nobody, so nothing is.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// On whose behalf the calls run, as approvals know it. Default: the local user.
    #[must_use]
    pub fn principal(mut self, principal: impl Into<String>) -> Self {
        self.principal = Some(principal.into());
        self
    }

    /// Where the audit log goes. Default: a new file in the user's state directory.
    #[must_use]
    pub fn audit(mut self, log: AuditLog) -> Self {
        self.audit = AuditTarget::Log(log);
        self
    }

    /// Writes the audit log to a file, which is created or continued. It must lie outside
    /// every root.
    #[must_use]
    pub fn audit_file(mut self, file: impl AsRef<Path>) -> Self {
        self.audit = AuditTarget::File(file.as_ref().to_owned());
        self
    }

    /// Signs the audit log with a key file of `rootbound audit keygen`, which must be closed to
    /// other users and lie outside every root.
    #[must_use]
    pub fn audit_key(mut self, file: impl AsRef<Path>) -> Self {
        self.audit_key = Some(file.as_ref().to_owned());
        self
    }

    /// Puts the file of the audit log aside when it is large or old. Default: never.
    #[must_use]
    pub fn audit_rotation(mut self, rotation: Rotation) -> Self {
        self.rotation = rotation;
        self
    }

    /// Whether an entry of the audit log is on the disk before what it announces is done, as
    /// [`AuditLog::durability`] says. Default: [`Durability::Fast`], within a second.
    #[must_use]
    pub fn audit_durability(mut self, durability: Durability) -> Self {
        self.audit_durability = Some(durability);
        self
    }

    /// Shows each line that the audit log has taken to somebody else as well. Without a log
    /// there is nothing to see, and [`build`](Self::build) fails.
    #[must_use]
    pub fn audit_observer(mut self, observer: impl AuditObserver + 'static) -> Self {
        self.observers.push(Box::new(observer));
        self
    }

    /// Records the arguments of calls, and not only their hash. Contents, and what looks like
    /// a secret, are left out all the same. Default: false.
    ///
    /// What looks like a secret is a matter of names and beginnings; a secret that looks like
    /// ordinary text is recorded.
    #[must_use]
    pub fn record_arguments(mut self, record: bool) -> Self {
        self.records_arguments = record;
        self
    }

    /// Who hears what components write to their standard streams, where they are granted
    /// those: up to 64 KiB of a call, when it has ended. Default: `tracing` events of the target
    /// `rootbound::guest`.
    #[must_use]
    pub fn guest_log(mut self, hear: impl Fn(&GuestLine) + Send + Sync + 'static) -> Self {
        self.guest_log = GuestLog::to(hear);
        self
    }

    /// Where the session keeps its own files: the audit log, unless that goes elsewhere, and
    /// what the next start needs to know to clear up after a killed process. Sessions with
    /// the same directory clear up after each other. It is made when it is needed, and must
    /// lie outside every root. Default: `$XDG_STATE_HOME/rootbound`, or
    /// `~/.local/state/rootbound` where that is unset.
    #[must_use]
    pub fn state_directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.state = Some(directory.as_ref().to_owned());
        self
    }

    /// Names a file that this builder's settings were read from: no root may contain it, or a
    /// tool could change what the next session may do. May be called several times.
    #[must_use]
    pub fn configuration_file(mut self, file: impl AsRef<Path>) -> Self {
        self.configuration.push(file.as_ref().to_owned());
        self
    }

    /// Names a file with a key or a token of the embedding program: no root may contain it, or a
    /// tool could act as whoever has it. May be called several times.
    #[must_use]
    pub fn secret_file(mut self, file: impl AsRef<Path>) -> Self {
        self.secrets.push(file.as_ref().to_owned());
        self
    }

    /// Names a file whose component runs, in this session or another: no root that can be
    /// written to may contain it, or a tool could become another, with the grants of that one.
    /// May be called several times.
    #[must_use]
    pub fn component_file(mut self, file: impl AsRef<Path>) -> Self {
        self.component_files.push(file.as_ref().to_owned());
        self
    }

    /// Counts what the calls take with those of other sessions. The session's own limits hold
    /// besides.
    #[must_use]
    pub fn quotas(mut self, quotas: &Quotas) -> Self {
        self.quotas = Some(quotas.clone());
        self
    }

    /// Runs the tools of another component.
    #[must_use]
    pub fn component(mut self, component: ToolComponent) -> Self {
        self.component = Some(component);
        self
    }

    /// Which tools of the built-in component the session offers: [`Toolset::Files`] unless
    /// changed. Another component's are all offered.
    #[must_use]
    pub fn toolset(mut self, toolset: Toolset) -> Self {
        self.toolset = toolset;
        self
    }

    /// What the first entry of the audit log says about confinement by the kernel: whether
    /// the program goes on to call [`Session::confine_thread`], or was told not to.
    #[must_use]
    pub fn note_confinement(mut self, confines: bool) -> Self {
        self.confinement = Some(if confines { "landlock" } else { "none" });
        self
    }

    /// Opens the roots and the audit log.
    ///
    /// # Errors
    ///
    /// When a root is missing, is not a directory, or may not be a root; when a pattern
    /// means nothing; when a limit of 0 leaves no call possible; when no encoding has the name of the default one; when the audit log
    /// cannot be written or lies in a root; when the component cannot be used.
    pub fn build(self) -> Result<Session, StartError> {
        self.start(Purpose::Calls)
    }

    /// What [`build`](Self::build) would open, for who wants to know and to change nothing:
    /// directories are not made, and the audit log is neither begun nor continued. The session
    /// tells about itself, with roots that are still to be made among its grants, and is closed:
    /// a call is answered `closed`.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let place = tempfile::tempdir()?;
    /// # let place = place.path();
    /// use rootbound::Session;
    ///
    /// let absent = place.join("work");
    /// let builder = || Session::builder().work_root(&absent).state_directory(place.join("state"));
    /// let preview = builder().preview()?;
    /// assert!(preview.explain_roots(false).iter().all(|root| root.to_be_made));
    /// assert!(!absent.exists());
    /// assert_eq!(preview.call("list_files", "{}").unwrap_err().code(), "closed");
    ///
    /// let session = builder().build()?;
    /// assert!(absent.exists());
    /// assert_eq!(session.grants(), preview.grants());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), as far as that can be told without trying.
    pub fn preview(self) -> Result<Session, StartError> {
        self.start(Purpose::Preview)
    }

    fn start(mut self, purpose: Purpose) -> Result<Session, StartError> {
        let judge = Judge::new(&self.policy.patterns)?;
        self.policy.limits.check()?;
        self.rotation.check()?;
        if self.remove_session_directory && self.session_base.is_none() {
            return Err(StartError::NoSessionDirectory);
        }
        if let Some(label) = self.default_encoding.take_if(|label| !is_encoding(label)) {
            return Err(StartError::Encoding(label));
        }
        let mut warnings = Vec::new();
        let mut opening = Opening::new(purpose);
        let mut respelling = None;
        let state = self.state.take().or_else(ambient::state_directory);
        let is_confined = !matches!(self.respell, Some(RespellFrom::FileSystem));
        self.refuse_before_making(state.as_deref(), is_confined)?;
        if let Some(base) = &self.session_base {
            let wanted = opening.own_directory(base)?;
            self.grants.push(wanted);
        }
        if is_confined {
            opening.open_roots(&self.grants, &mut warnings)?;
        } else {
            respelling = Some(open_file_system(&mut opening.roots)?);
            warnings.push("the whole file system is granted, without confinement".to_owned());
        }
        if let (Some(RespellFrom::Root(directory)), Purpose::Calls) = (&self.respell, purpose) {
            respelling = Some(respell_from(directory)?);
        }
        let granted = opening.host_paths(&self.grants);
        self.policy.patterns.check_below(&granted)?;
        warnings.extend(labels_in_patterns(&self.policy, &opening));
        let candidates = opening.candidates(&self.grants);
        if is_confined {
            let kept = self.kept(state.as_deref());
            if let Some((root, reason)) = kept.within(&candidates) {
                return Err(refused(&root.path, reason));
            }
            match linked::search(&kept.linked(), &opening.roots) {
                Search::Nowhere => {}
                Search::GivenUp(warning) => warnings.push(warning),
                Search::Within(root, reason) => {
                    let reason = format!("{reason}, under another name (a hard link)");
                    return Err(refused(&granted_path(&self.grants, root), &reason));
                }
            }
            warnings.extend(overlaps(&self.policy, judge.as_ref(), &candidates));
        }
        if let Some(base) = &self.session_base {
            let place = opening.base(base);
            let place = place.map_err(|error| no_own_directory(base, &error))?;
            keep_sessions_apart(&place, &candidates)?;
        }
        if ambient::runs_as_root() {
            warnings.push("running as root: file permissions protect nothing".to_owned());
        }
        let component = match self.component {
            Some(component) => component,
            None => ToolComponent::file_tools()?,
        };
        if !component.is_built_in() {
            component.definitions()?;
        }
        let mut policy = self.policy;
        if let Some(manifest) = component.manifest() {
            opening.narrow(manifest.read, manifest.write);
            manifest.limits.narrow(&mut policy.limits);
        }
        let key = self.audit_key.as_deref().map(read_key).transpose()?;
        let mut audit = open_log(self.audit, state.as_deref(), purpose)?;
        if let Some(key) = key {
            audit = signed_by(audit, key)?;
        }
        if self.rotation != Rotation::default() {
            audit = audit.rotated(self.rotation);
        }
        if let Some(durability) = self.audit_durability {
            audit = audit.durability(durability);
        }
        if audit.id().is_none() && !self.observers.is_empty() {
            return Err(StartError::NothingToObserve);
        }
        audit.observed_by_all(self.observers);
        if purpose == Purpose::Calls {
            journal::clear_leftovers(state.as_deref());
        }
        let approver = self.approver.unwrap_or_else(|| Arc::new(Nobody));
        policy.paths.strict |= self.toolset == Toolset::Single;
        policy.limits.timeout = policy.limits.timeout.min(LONGEST_TIMEOUT);
        let quotas = SessionQuotas::new(&policy.limits, self.quotas);
        let roots = std::mem::take(&mut opening.roots);
        let mut shared = Shared::new(roots, policy, audit, approver, component, state);
        shared.quotas = quotas;
        shared.respelling = respelling.map(Arc::new);
        shared.default_encoding = self.default_encoding;
        shared.judge = judge.map(Arc::new);
        shared.directory = opening.own.take();
        if self.take_back_directories {
            shared.made = std::mem::take(&mut opening.made);
        }
        shared.is_preview = purpose == Purpose::Preview;
        let to_be_made = std::mem::take(&mut opening.to_be_made).into_iter();
        shared.to_be_made = to_be_made.map(|root| root.report).collect();
        shared.toolset = self.toolset;
        if let Some(principal) = self.principal {
            shared.principal = principal;
        }
        shared.warnings = warnings;
        shared.confinement = self.confinement;
        shared.records_arguments = self.records_arguments;
        shared.guest_log = self.guest_log;
        let session = Session::from_shared(shared).map_err(StartError::Audit)?;
        // From here on there is a session that has them.
        opening.made.iter().for_each(Made::keep);
        if let Some(own) = &session.shared().directory {
            match (self.remove_session_directory, self.take_back_directories) {
                (true, _) => own.remove_contents(),
                // What others put there meanwhile stays.
                (false, true) => {}
                (false, false) => own.keep(),
            }
        }
        Ok(session)
    }

    /// Refuses what would be refused once it is there: a start that fails makes nothing.
    fn refuse_before_making(
        &self,
        state: Option<&Path>,
        is_confined: bool,
    ) -> Result<(), StartError> {
        let kept = self.kept(state);
        if let Some(base) = &self.session_base {
            let place = Place::of(base).map_err(|error| no_own_directory(base, &error))?;
            refuse_unsuitable(base, &place)?;
            if let Some(reason) = kept.reaches_base(&place).filter(|_| is_confined) {
                return Err(refused(base, reason));
            }
        }
        let made = self
            .grants
            .iter()
            .filter(|wanted| wanted.make && is_confined);
        for wanted in made {
            // What cannot be told yet is told when it is opened.
            let Ok(place) = Place::of(&wanted.path) else {
                continue;
            };
            refuse_unsuitable(&wanted.path, &place)?;
            let candidate = Candidate {
                path: wanted.path.clone(),
                label: String::new(),
                rights: wanted.rights,
                place,
            };
            if let Some((_, reason)) = kept.within(std::slice::from_ref(&candidate)) {
                return Err(refused(&wanted.path, reason));
            }
        }
        Ok(())
    }

    fn kept<'a>(&'a self, state: Option<&'a Path>) -> Kept<'a> {
        let approver = self.approver.as_ref();
        let cache = self.component.as_ref().and_then(ToolComponent::cache);
        Kept {
            own: state,
            audit: &self.audit,
            approvals: approver.and_then(|approver| approver.state_directory()),
            key: self.audit_key.as_deref(),
            configuration: &self.configuration,
            secrets: &self.secrets,
            // Another session may keep compiled code in that of the user.
            caches: (cache.map(Path::to_owned).into_iter())
                .chain(ambient::cache_directory())
                .collect(),
            component_files: &self.component_files,
        }
    }
}

/// What a session is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Calls,
    /// To be told about; nothing is changed by that.
    Preview,
}

/// A root that a preview does not make.
struct ToBeMade {
    path: PathBuf,
    place: Place,
    report: RootReport,
}

/// Roots, as they are opened one by one.
struct Opening {
    purpose: Purpose,
    roots: Roots,
    to_be_made: Vec<ToBeMade>,
    /// The session's own directory. If the start fails it is removed, and then what was made for
    /// it and for the roots: in this order.
    own: Option<SessionDirectory>,
    made: Vec<Made>,
}

fn signed_by(log: AuditLog, key: AuditKey) -> Result<AuditLog, StartError> {
    if log.id().is_none() {
        return Err(StartError::AuditKey {
            path: key.location().map(Path::to_owned).unwrap_or_default(),
            reason: "there is no audit log to sign".to_owned(),
        });
    }
    Ok(log.signed_by(key))
}

fn read_key(file: &Path) -> Result<AuditKey, StartError> {
    AuditKey::read(file).map_err(|error| StartError::AuditKey {
        path: file.to_owned(),
        reason: error.to_string(),
    })
}

fn open_log(
    target: AuditTarget,
    state: Option<&Path>,
    purpose: Purpose,
) -> Result<AuditLog, StartError> {
    match target {
        AuditTarget::Log(log) => Ok(log),
        AuditTarget::File(file) => match purpose {
            Purpose::Calls => AuditLog::file(&file),
            Purpose::Preview => AuditLog::preview_of_file(&file),
        }
        .map_err(|error| StartError::AuditFile { file, error }),
        AuditTarget::StateDirectory => match purpose {
            Purpose::Calls => AuditLog::in_directory(state),
            Purpose::Preview => AuditLog::preview_in_directory(state),
        }
        .map_err(StartError::Audit),
    }
}

fn no_own_directory(base: &Path, error: &std::io::Error) -> StartError {
    let reason = format!("no session's own directory can be made there: {error}");
    refused(base, &reason)
}

/// Another root by which the directories of other sessions could be reached.
fn keep_sessions_apart(base: &Place, roots: &[Candidate]) -> Result<(), StartError> {
    let is_other = |root: &&Candidate| root.label != SESSION;
    let reaches = |root: &&Candidate| base.lies_in(&root.place) || root.place.lies_in(base);
    match roots.iter().filter(is_other).find(reaches) {
        None => Ok(()),
        Some(root) => {
            let reason = "the directories of other sessions could be reached through it";
            Err(refused(&root.path, reason))
        }
    }
}

fn refuse_unsuitable(path: &Path, place: &Place) -> Result<(), StartError> {
    match ambient::unsuitable_as_root(place) {
        Ok(None) => Ok(()),
        Ok(Some(reason)) => Err(refused(path, &reason)),
        Err(error) => Err(refused(path, &error.to_string())),
    }
}

impl Opening {
    fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            roots: Roots::default(),
            to_be_made: Vec::new(),
            own: None,
            made: Vec::new(),
        }
    }

    /// The session's own directory below a base, as a root; a preview makes none.
    fn own_directory(&mut self, base: &Path) -> Result<Wanted, StartError> {
        let refusal = |error: std::io::Error| no_own_directory(base, &error);
        let place = Place::of(base).map_err(refusal)?;
        let path = match self.purpose {
            Purpose::Calls => {
                self.made.extend(Made::for_place(&place));
                let own = SessionDirectory::make(base).map_err(refusal)?;
                self.own.insert(own).path().to_owned()
            }
            Purpose::Preview => {
                SessionDirectory::check_base(&place).map_err(refusal)?;
                base.join(random::hex::<8>())
            }
        };
        Ok(Wanted {
            label: Some(SESSION.to_owned()),
            path,
            rights: Rights::Write,
            make: self.own.is_none(),
        })
    }

    /// Where the session's own directory stands, or would.
    fn base(&self, named: &Path) -> std::io::Result<Place> {
        let Some(own) = &self.own else {
            return Place::of(named);
        };
        let id = ObjectId::of(&rustix::fs::fstat(own.base())?);
        Ok(Place::at(Arc::clone(own.base()), id))
    }

    /// Takes away what the component declares that it does not need.
    fn narrow(&mut self, reads: bool, writes: bool) {
        self.roots.narrow(reads, writes);
        self.to_be_made.retain(|root| match root.report.rights {
            Rights::Read => reads,
            Rights::Write => writes,
        });
    }

    fn open_roots(
        &mut self,
        grants: &[Wanted],
        warnings: &mut Vec<String>,
    ) -> Result<(), StartError> {
        let labels = explicit_labels(grants)?;
        let is_write = |wanted: &&Wanted| wanted.rights == Rights::Write;
        if grants.iter().filter(is_write).count() > 1 {
            return Err(StartError::SecondWriteRoot);
        }
        let readers = grants.iter().filter(|wanted| wanted.rights == Rights::Read);
        for wanted in readers.chain(grants.iter().filter(is_write)) {
            let place = self.open_root(wanted, &labels)?;
            if wanted.rights == Rights::Write {
                warnings.extend(risks_of_writing(wanted.named(), &place));
            }
        }
        Ok(())
    }

    fn open_root(&mut self, wanted: &Wanted, labels: &[&str]) -> Result<Place, StartError> {
        let unsuitable = |error: std::io::Error| refused(&wanted.path, &error.to_string());
        if wanted.make {
            let place = Place::of(&wanted.path).map_err(unsuitable)?;
            if self.purpose == Purpose::Preview && !place.is_there() {
                return self.plan_root(wanted, place, labels);
            }
            self.made.extend(Made::for_place(&place));
            ambient::create_directories(&wanted.path).map_err(unsuitable)?;
        }
        let (handle, id) = ambient::open_ambient_directory(&wanted.path).map_err(unsuitable)?;
        let handle = Arc::new(handle);
        let place = Place::at(Arc::clone(&handle), id);
        refuse_unsuitable(&wanted.path, &place)?;
        let label = self.label_of(wanted, &place, labels);
        self.roots
            .push(label, wanted.rights, Boundary::Beneath, handle, id);
        Ok(place)
    }

    /// Remembers a root that is not made.
    fn plan_root(
        &mut self,
        wanted: &Wanted,
        place: Place,
        labels: &[&str],
    ) -> Result<Place, StartError> {
        let unsuitable = |error: std::io::Error| refused(&wanted.path, &error.to_string());
        refuse_unsuitable(&wanted.path, &place)?;
        place.check_makeable().map_err(unsuitable)?;
        let label = self.label_of(wanted, &place, labels);
        self.to_be_made.push(ToBeMade {
            path: wanted.named().to_owned(),
            report: report_to_be_made(label, wanted.rights, place.nearest()),
            place: place.clone(),
        });
        Ok(place)
    }

    /// The name by which a root is known. One directory both ways has one.
    fn label_of(&self, wanted: &Wanted, place: &Place, labels: &[&str]) -> String {
        if let Some(label) = &wanted.label {
            return label.clone();
        }
        let mut planned = self.to_be_made.iter();
        if let Some(same) = planned.find(|root| root.place.is(place)) {
            return same.report.label.clone();
        }
        let planned = self.to_be_made.iter();
        let planned = planned.map(|root| root.report.label.as_str());
        let taken: Vec<&str> = labels.iter().copied().chain(planned).collect();
        let own = place.is_there().then(|| place.id());
        let default = ambient::default_label(&wanted.path);
        self.roots.unique_label(default, own, &taken)
    }

    /// Where the granted directories are on the host, as they were named and as the kernel knows
    /// them.
    fn host_paths(&self, grants: &[Wanted]) -> Vec<PathBuf> {
        let named = grants.iter().map(|wanted| wanted.path.clone());
        let there = self.roots.iter();
        let there = there.filter_map(|root| ambient::path_of(root.handle.as_fd()));
        let planned = self.to_be_made.iter();
        let planned = planned.filter_map(|root| root.place.host_path());
        named.chain(there).chain(planned).collect()
    }

    fn candidates(&self, grants: &[Wanted]) -> Vec<Candidate> {
        let there = self.roots.iter().map(|root| Candidate {
            path: granted_path(grants, root),
            label: root.label.clone(),
            rights: root.rights,
            place: Place::of_root(root),
        });
        let planned = self.to_be_made.iter().map(|root| Candidate {
            path: root.path.clone(),
            label: root.report.label.clone(),
            rights: root.report.rights,
            place: root.place.clone(),
        });
        there.chain(planned).collect()
    }

    fn has_label(&self, label: &str) -> bool {
        let mut there = self.roots.iter();
        let mut planned = self.to_be_made.iter();
        there.any(|root| root.label == label) || planned.any(|root| root.report.label == label)
    }
}

fn risks_of_writing(path: &Path, place: &Place) -> impl Iterator<Item = String> {
    let id = place.is_there().then(|| place.id());
    let home = id
        .is_some_and(ambient::is_home)
        .then_some("your home directory: a tool can change what your shell and programs run");
    let checkout = ambient::is_checkout(path)
        .then_some("a version-control checkout: a tool can change what is run from it");
    let system = (home.is_none() && ambient::is_of_the_system(place))
        .then_some("a directory of the system: a tool can change what other programs run or keep");
    let program = id
        .is_some_and(ambient::holds_this_program)
        .then_some("where this program's own file is: a tool can replace what runs next time");
    let name = path.display().to_string();
    home.into_iter()
        .chain(checkout)
        .chain(system)
        .chain(program)
        .map(move |what| format!("`{name}` is {what}"))
}

/// Roots that lie in one another while patterns say where in a root something is: what the inner
/// one holds has two paths then, and each root is judged by its own.
fn overlaps(policy: &Policy, judge: Option<&Judge>, roots: &[Candidate]) -> Vec<String> {
    let Some(judge) = judge else {
        return Vec::new();
    };
    let mut warnings: Vec<String> = Vec::new();
    let pairs = roots
        .iter()
        .flat_map(|inner| roots.iter().map(move |outer| (inner, outer)));
    let nested = pairs.filter(|(inner, outer)| {
        !inner.place.is(&outer.place) && inner.place.lies_in(&outer.place)
    });
    for (inner, outer) in nested {
        let warning = match policy.patterns.all().find(|pattern| is_anchored(pattern)) {
            Some(pattern) => format!(
                "`{}` lies in `{}`, and patterns begin at each of them: `{pattern}` is not about the same files in both, and what one denies the other can admit",
                inner.label, outer.label
            ),
            None if inner.place.is_admitted_in(&outer.place, judge) => continue,
            None => format!(
                "`{}` lies in `{}`, where the patterns deny it: what it holds is judged by itself, and can be reached through it",
                inner.label, outer.label
            ),
        };
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    warnings
}

/// Whether a pattern names things by where they are in a root, and not at every depth.
fn is_anchored(pattern: &str) -> bool {
    let text = pattern.strip_prefix('!').unwrap_or(pattern);
    let text = text.strip_suffix('/').unwrap_or(text);
    text.strip_prefix("**/").unwrap_or(text).contains('/')
}

/// Patterns that begin with a root's label, as paths of tools do, where nothing has that name.
fn labels_in_patterns(policy: &Policy, opening: &Opening) -> Vec<String> {
    let is_there = |name: &str| {
        let mut looks = opening
            .roots
            .iter()
            .map(|root| walk::look(root.handle.as_fd(), name));
        looks.any(|look| look.is_ok())
    };
    let patterns = policy.patterns.all();
    patterns
        .filter_map(|pattern| {
            let text = pattern.strip_prefix('!').unwrap_or(pattern);
            let (label, rest) = text.strip_prefix('/').unwrap_or(text).split_once('/')?;
            (opening.has_label(label) && !rest.is_empty() && !is_there(label)).then(|| {
                format!("the pattern `{pattern}` begins with a label, and patterns begin below it: is `/{rest}` meant?")
            })
        })
        .collect()
}

fn explicit_labels(grants: &[Wanted]) -> Result<Vec<&str>, StartError> {
    let labels: Vec<&str> = grants
        .iter()
        .filter_map(|wanted| wanted.label.as_deref())
        .collect();
    for (at, label) in labels.iter().enumerate() {
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if label.is_empty() || !label.chars().all(named) || labels[..at].contains(label) {
            return Err(StartError::Label((*label).to_owned()));
        }
    }
    Ok(labels)
}

fn open_file_system(roots: &mut Roots) -> Result<Respelling, StartError> {
    let unsuitable = |error: std::io::Error| StartError::Root {
        path: PathBuf::from("/"),
        reason: error.to_string(),
    };
    for rights in [Rights::Read, Rights::Write] {
        let (handle, id) = ambient::open_ambient_directory(Path::new("/")).map_err(unsuitable)?;
        roots.push(
            "filesystem".to_owned(),
            rights,
            Boundary::WholeFileSystem,
            Arc::new(handle),
            id,
        );
    }
    let working_directory = ambient::working_directory().map_err(unsuitable)?;
    Ok(Respelling {
        prefixes: vec![String::new()],
        working_directory: working_directory
            .to_string_lossy()
            .trim_matches('/')
            .to_owned(),
    })
}

fn respell_from(directory: &Path) -> Result<Respelling, StartError> {
    let real = ambient::canonical(directory).map_err(|error| StartError::Root {
        path: directory.to_owned(),
        reason: error.to_string(),
    })?;
    let spell = |path: &Path| path.to_string_lossy().trim_end_matches('/').to_owned();
    let mut prefixes = vec![spell(&real)];
    if directory.is_absolute() {
        prefixes.push(spell(directory));
    }
    Ok(Respelling {
        prefixes,
        working_directory: String::new(),
    })
}

/// A directory that cannot be granted.
fn refused(path: &Path, reason: &str) -> StartError {
    StartError::Root {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

/// The directory as the operator named it.
fn granted_path(grants: &[Wanted], root: &Root) -> PathBuf {
    let is_it = |wanted: &&Wanted| {
        ambient::open_ambient_directory(&wanted.path).is_ok_and(|(_, id)| id == root.id)
    };
    let wanted = grants.iter().find(is_it);
    wanted.map_or_else(|| PathBuf::from(&root.label), |wanted| wanted.path.clone())
}
