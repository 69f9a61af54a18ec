//! A session: what was granted, under which policy, recorded where; and the calls in it.

mod call;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;
use serde_json::Value;

use crate::audit::{self, AuditLog, Settler};
use crate::builder::SessionBuilder;
use crate::component::{Definition, ToolComponent};
use crate::errno;
use crate::error::{CallError, code};
use crate::place::Made;
use crate::policy::{Consent, Policy};
use crate::roots::Grant;
use crate::session_directory::SessionDirectory;
use crate::shared::{Shared, describe_policy};
use crate::toolset::Toolset;

pub use call::{Arguments, CallOptions};
pub use watch::CallWatch;

/// Grants, policy, audit log and component, ready to run tool calls.
///
/// Cloning is cheap, and clones may be used from many threads at once: every call gets an
/// instance of the component of its own.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let inputs = tempfile::tempdir()?;
/// # std::fs::write(inputs.path().join("notes.md"), "hello")?;
/// use rootbound::{AuditLog, Session};
///
/// let session = Session::builder()
///     .read_root(inputs.path())
///     .audit(AuditLog::none())
///     .build()?;
/// let output = session.call("read_file", r#"{"path": "notes.md"}"#)?;
/// assert_eq!(output.text(), Some("hello"));
///
/// let refused = session.call("read_file", r#"{"path": "../secret"}"#).unwrap_err();
/// assert_eq!((refused.code(), refused.reason()), ("invalid-path", Some("traversal")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    shared: Arc<Shared>,
}

impl Session {
    /// Starts a session. The defaults are: no roots, so every file operation is refused;
    /// the policy of [`Policy::default`]; nobody to approve anything; the audit log on, in
    /// the user's state directory; the file tools of this crate.
    #[must_use]
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    pub(crate) fn from_shared(shared: Shared) -> Result<Self, CallError> {
        if shared.is_preview {
            return Self::preview(shared);
        }
        let mut entries = vec![shared.genesis()];
        entries.extend(audit::settlements(&shared.audit, &shared.roots));
        for entry in &mut entries {
            entry.session.clone_from(&shared.id);
        }
        shared.audit.append(entries)?;
        let settler = Settler {
            roots: &shared.roots,
            genesis: &shared.genesis(),
            key: shared.audit.key(),
        };
        audit::settle_what_is_left(shared.state.as_deref(), &settler);
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// A session that is over before it begins, and leaves no trace.
    fn preview(shared: Shared) -> Result<Self, CallError> {
        shared.audit.check_signature()?;
        shared.closed.store(true, Ordering::SeqCst);
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// A session with the same grants, policy, approver and log that remembers nothing of
    /// this one: what this one created is not its own work. Its id begins with this one's.
    /// For front-ends that serve many callers; closing either closes both.
    #[must_use]
    pub fn apart(&self, principal: impl Into<String>) -> Self {
        Self {
            shared: Arc::new(self.shared.apart(principal.into())),
        }
    }

    /// As [`Session::apart`], for a caller who has another session already: what both share of
    /// quotas they share there as well.
    pub(crate) fn apart_beside(&self, other: &Self) -> Self {
        let mut shared = self.shared.apart(other.principal().to_owned());
        shared.quotas = self.shared.quotas.anew_with(&other.shared.quotas);
        Self {
            shared: Arc::new(shared),
        }
    }

    /// A session with the same grants and policy for another component, as far as that declares
    /// to need them. The log says that it began.
    pub(crate) fn with_component(&self, component: &ToolComponent) -> Result<Self, CallError> {
        let shared = self.shared.with_component(component);
        let mut genesis = shared.genesis();
        genesis.session.clone_from(&shared.id);
        shared.audit.append(vec![genesis])?;
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// The tools of the session's component, of the built-in one those that are in the toolset,
    /// in the order in which front-ends show them.
    ///
    /// # Errors
    ///
    /// When the component cannot list them.
    pub fn tools(&self) -> Result<&[Definition], CallError> {
        let Shared {
            component,
            toolset,
            offered,
            ..
        } = &*self.shared;
        if let Some(offered) = offered.get() {
            return Ok(offered);
        }
        let tools = component.definitions().map_err(|error| error.in_a_call())?;
        let tools = (tools.iter())
            .filter(|tool| toolset.offers(component, &tool.name))
            .cloned()
            .collect();
        Ok(offered.get_or_init(|| tools))
    }

    /// Which tools of the built-in component the session offers.
    #[must_use]
    pub fn toolset(&self) -> Toolset {
        self.shared.toolset
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Ends the session: this handle and all its clones answer `closed` from now on, and
    /// the audit log is signed, where it has a key, and synced. Calls that are running end as
    /// they would have, unless the session's own directory is removed with it: then they fail.
    ///
    /// # Errors
    ///
    /// `audit-unavailable` when the log cannot be signed or synced, `io` when the session's own
    /// directory cannot be removed; the session is closed all the same.
    pub fn close(&self) -> Result<(), CallError> {
        let ended = self.end();
        self.shared.audit.close().and(ended)
    }

    /// Ends the session, and leaves its log open for others.
    pub(crate) fn end(&self) -> Result<(), CallError> {
        self.shared.closed.store(true, Ordering::SeqCst);
        let ended = match &self.shared.directory {
            Some(directory) => directory.end().map_err(not_removed),
            None => Ok(()),
        };
        self.shared.made.iter().for_each(Made::end);
        ended
    }

    /// The session's own directory, if it was given one with
    /// [`SessionBuilder::session_dir`](crate::SessionBuilder::session_dir).
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.shared.directory.as_ref().map(SessionDirectory::path)
    }

    /// Removes the session's own directory with what it holds. Later writes fail.
    ///
    /// # Errors
    ///
    /// `io` when something in it cannot be removed.
    pub fn remove_directory(&self) -> Result<(), CallError> {
        match &self.shared.directory {
            Some(directory) => directory.remove().map_err(not_removed),
            None => Ok(()),
        }
    }

    /// Whether the session was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::SeqCst)
    }

    /// The session's id, as in the audit log.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// What was granted, in order.
    #[must_use]
    pub fn grants(&self) -> Vec<Grant> {
        let grant = |label: &String, rights| Grant {
            label: label.clone(),
            rights,
        };
        let there = self.shared.roots.iter();
        let to_be_made = self.shared.to_be_made.iter();
        there
            .map(|root| grant(&root.label, root.rights))
            .chain(to_be_made.map(|root| grant(&root.label, root.rights)))
            .collect()
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// The policy in force as a JSON object.
    #[must_use]
    pub fn policy_json(&self) -> Value {
        describe_policy(&self.shared.policy)
    }

    /// How the audit log is kept, as its `genesis` has it under `audit`; nothing where there is
    /// no log.
    #[must_use]
    pub fn audit_json(&self) -> Option<Value> {
        self.shared.describe_audit()
    }

    /// The component that runs the calls.
    #[must_use]
    pub fn component(&self) -> &ToolComponent {
        &self.shared.component
    }

    /// The audit log in use.
    #[must_use]
    pub fn audit(&self) -> &AuditLog {
        &self.shared.audit
    }

    /// On whose behalf the calls run.
    #[must_use]
    pub fn principal(&self) -> &str {
        &self.shared.principal
    }

    /// What the operator should know about this session: risky but allowed grants.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.shared.warnings
    }

    /// Whether anything would be refused for want of an approver.
    #[must_use]
    pub fn asks_for_approval(&self) -> bool {
        let policy = &self.shared.policy;
        policy.overwrite == Consent::Ask || policy.delete == Consent::Ask
    }
}

fn not_removed(error: std::io::Error) -> CallError {
    let why = match Errno::from_io_error(&error) {
        Some(errno) => errno::explain(errno).message().to_owned(),
        None => "something in it stays".to_owned(),
    };
    CallError::new(
        code::IO,
        format!("the session's own directory cannot be removed: {why}"),
    )
    .hint_of("the operator has to remove it")
}

/// Where the audit log of a new session goes.
#[derive(Clone, Debug, Default)]
pub(crate) enum AuditTarget {
    /// A new file in the user's state directory.
    #[default]
    StateDirectory,
    /// A file that the operator names.
    File(PathBuf),
    /// A log that the embedding program opened.
    Log(AuditLog),
}
