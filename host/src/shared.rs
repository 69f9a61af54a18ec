//! What all clones of a session and all its calls share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::Stat;
use serde_json::{Value, json};

use crate::approval::{Approver, Nobody, Standing};
use crate::audit::{AuditLog, Entry, EntryKind, Object};
use crate::component::{Definition, ToolComponent};
use crate::explain::RootReport;
use crate::guest_log::GuestLog;
use crate::journal::Journal;
use crate::patterns::{Denying, Judge};
use crate::place::Made;
use crate::policy::Policy;
use crate::quotas::SessionQuotas;
use crate::random;
use crate::respell::Respelling;
use crate::roots::{Rights, Roots};
use crate::session_directory::SessionDirectory;
use crate::toolset::Toolset;
use crate::walk::{ObjectId, Version};

/// Objects whose creation a session remembers. An object beyond that is treated as if
/// someone else had made it, which is the stricter class.
const MAX_REMEMBERED: usize = 100_000;

/// A session's grants, policy, log and component, and what it remembers.
pub(crate) struct Shared {
    pub(crate) id: String,
    pub(crate) roots: Arc<Roots>,
    pub(crate) policy: Policy,
    /// The policy's patterns, if there are any.
    pub(crate) judge: Option<Arc<Judge>>,
    pub(crate) audit: AuditLog,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) principal: String,
    pub(crate) standing: Standing,
    pub(crate) component: ToolComponent,
    pub(crate) toolset: Toolset,
    /// The component's tools that are in the set.
    pub(crate) offered: OnceLock<Vec<Definition>>,
    pub(crate) respelling: Option<Arc<Respelling>>,
    /// What texts are taken for that do not say it themselves.
    pub(crate) default_encoding: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) confinement: Option<&'static str>,
    /// Whether the log holds what calls were asked, and not only a hash of it.
    pub(crate) records_arguments: bool,
    /// Who hears what components write to their standard streams.
    pub(crate) guest_log: GuestLog,
    /// Where this crate keeps its own files, if there is such a place.
    pub(crate) state: Option<PathBuf>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) quotas: SessionQuotas,
    /// The session's own directory, if it has one.
    pub(crate) directory: Option<SessionDirectory>,
    /// Directories that the start made besides. What stands in one is taken away before.
    pub(crate) made: Vec<Made>,
    /// Whether the session only tells what it would be, and the directories it would have then.
    pub(crate) is_preview: bool,
    pub(crate) to_be_made: Vec<RootReport>,
    own_work: Mutex<HashMap<ObjectId, Version>>,
    pub(crate) closed: Arc<AtomicBool>,
    pub(crate) calls: AtomicU64,
    /// Sessions that were set apart from this one.
    apart: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(
        roots: Roots,
        policy: Policy,
        audit: AuditLog,
        approver: Arc<dyn Approver>,
        component: ToolComponent,
        state: Option<PathBuf>,
    ) -> Self {
        let quotas = SessionQuotas::new(&policy.limits, None);
        Self {
            id: random::hex::<8>(),
            roots: Arc::new(roots),
            policy,
            judge: None,
            audit,
            approver,
            principal: crate::ambient::local_user(),
            standing: Standing::default(),
            component,
            toolset: Toolset::default(),
            offered: OnceLock::new(),
            respelling: None,
            default_encoding: None,
            warnings: Vec::new(),
            confinement: None,
            records_arguments: false,
            guest_log: GuestLog::default(),
            journal: Journal::new(state.as_deref()),
            state,
            quotas,
            directory: None,
            made: Vec::new(),
            is_preview: false,
            to_be_made: Vec::new(),
            own_work: Mutex::default(),
            closed: Arc::default(),
            calls: AtomicU64::new(0),
            apart: AtomicU64::new(0),
        }
    }

    /// Who calls, where that is not the user whose process this is.
    pub(crate) fn other_principal(&self) -> Option<String> {
        let is_other = self.principal != crate::ambient::local_user();
        is_other.then(|| self.principal.clone())
    }

    /// The same grants, policy and log, with a memory of its own.
    pub(crate) fn apart(&self, principal: String) -> Self {
        let (roots, directory) = self.own_directory_apart();
        Self {
            principal,
            directory,
            ..self.beside(roots)
        }
    }

    /// The same for another component, as far as that declares to need it. The quotas are for
    /// both together.
    pub(crate) fn with_component(&self, component: &ToolComponent) -> Self {
        let mut other = Self {
            component: component.clone(),
            quotas: self.quotas.clone(),
            ..self.beside(Arc::clone(&self.roots))
        };
        if let Some(manifest) = component.manifest() {
            let mut roots = (*self.roots).clone();
            roots.narrow(manifest.read, manifest.write);
            other.roots = Arc::new(roots);
            manifest.limits.narrow(&mut other.policy.limits);
        }
        other
    }

    /// What sessions have that know nothing of each other's work.
    fn beside(&self, roots: Arc<Roots>) -> Self {
        let number = self.apart.fetch_add(1, Ordering::Relaxed) + 1;
        Self {
            id: format!("{}.{number}", self.id),
            roots,
            policy: self.policy.clone(),
            judge: self.judge.clone(),
            audit: self.audit.clone(),
            approver: Arc::clone(&self.approver),
            principal: self.principal.clone(),
            standing: Standing::default(),
            component: self.component.clone(),
            toolset: self.toolset,
            offered: OnceLock::new(),
            respelling: self.respelling.clone(),
            default_encoding: self.default_encoding.clone(),
            warnings: self.warnings.clone(),
            confinement: self.confinement,
            records_arguments: self.records_arguments,
            guest_log: self.guest_log.clone(),
            journal: Arc::clone(&self.journal),
            state: self.state.clone(),
            quotas: self.quotas.anew(),
            directory: None,
            made: Vec::new(),
            is_preview: self.is_preview,
            to_be_made: self.to_be_made.clone(),
            own_work: Mutex::default(),
            closed: Arc::clone(&self.closed),
            calls: AtomicU64::new(0),
            apart: AtomicU64::new(0),
        }
    }

    /// Where sessions have directories of their own, another one. Without it nothing is
    /// granted for writing: the session must not write to this one's.
    fn own_directory_apart(&self) -> (Arc<Roots>, Option<SessionDirectory>) {
        let Some(directory) = &self.directory else {
            return (Arc::clone(&self.roots), None);
        };
        let made = directory.another().and_then(|another| {
            let (handle, id) = another.open()?;
            Ok((self.roots.with_write_root(Some((handle, id))), another))
        });
        match made {
            Ok((roots, another)) => (Arc::new(roots), Some(another)),
            Err(_) => (Arc::new(self.roots.with_write_root(None)), None),
        }
    }

    pub(crate) fn without_grants(
        component: ToolComponent,
        policy: Policy,
        audit: AuditLog,
    ) -> Arc<Self> {
        Arc::new(Self::new(
            Roots::default(),
            policy,
            audit,
            Arc::new(Nobody),
            component,
            None,
        ))
    }

    /// Whether the session created the object and nobody has touched it since.
    pub(crate) fn is_own_work(&self, stat: &Stat) -> bool {
        self.own_work().get(&ObjectId::of(stat)) == Some(&Version::of(stat))
    }

    fn own_work(&self) -> MutexGuard<'_, HashMap<ObjectId, Version>> {
        self.own_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn remember(&self, object: ObjectId, version: Version) {
        let mut own_work = self.own_work();
        if own_work.len() < MAX_REMEMBERED || own_work.contains_key(&object) {
            own_work.insert(object, version);
        }
    }

    pub(crate) fn genesis(&self) -> Entry {
        let mut entry = Entry::new(EntryKind::Genesis);
        entry.format = Some(crate::audit::FORMAT);
        entry.log = self.audit.id();
        entry.session.clone_from(&self.id);
        entry.audit = self.describe_audit();
        entry.confinement = self.confinement;
        entry.component = Some(self.component.sha256().to_owned());
        entry.policy = Some(describe_policy(&self.policy));
        entry.imports = (self.component.imports().iter())
            .map(|import| import.as_str())
            .collect();
        entry.grants = Some(self.roots.iter().map(describe_grant).collect());
        entry
    }
}

impl Shared {
    /// How the log is kept, members in alphabetical order; nothing where there is none.
    pub(crate) fn describe_audit(&self) -> Option<Value> {
        let mut described = self.audit.describe_keeping()?;
        let arguments = match self.records_arguments {
            true => "full",
            false => "digest",
        };
        described["arguments"] = arguments.into();
        described.sort_all_objects();
        Some(described)
    }
}

fn describe_grant(root: &crate::roots::Root) -> Value {
    let rights = match root.rights {
        Rights::Read => "read",
        Rights::Write => "write",
    };
    json!({ "label": root.label, "object": Object::new(root.id, None), "rights": rights })
}

/// The effective policy, members in alphabetical order as everywhere in the audit log.
pub(crate) fn describe_policy(policy: &Policy) -> Value {
    let limits = &policy.limits;
    // RFC 8785 carries integers up to 2^53 - 1 and no further.
    let exact = |number: u64| number.min((1 << 53) - 1);
    // What protects secrets comes first, so that the policy says that it does.
    let mut denying: Vec<_> = policy.patterns.denying().collect();
    denying.sort_by_key(|list| !list.protect_secrets);
    let mut described = json!({
        "allow": policy.patterns.allowing().next().map_or(&[][..], Vec::as_slice),
        "delete": policy.delete,
        "deny": denying.first().map_or(&[][..], |list| list.patterns),
        "durability": policy.durability,
        "max_call_read_bytes": exact(limits.max_call_read_bytes),
        "max_calls_per_second": limits.max_calls_per_second,
        "max_depth": limits.max_depth,
        "max_entries": exact(limits.max_entries),
        "max_handles": limits.max_handles,
        "max_memory": exact(limits.max_memory),
        "max_output_bytes": exact(limits.max_output_bytes),
        "max_read_bytes": exact(limits.max_read_bytes),
        "max_session_files": limits.max_session_files.map(exact),
        "max_session_write_bytes": limits.max_session_write_bytes.map(exact),
        "max_write_bytes": exact(limits.max_write_bytes),
        "overwrite": policy.overwrite,
        "portable_names": policy.paths.portable_names,
        "strict_paths": policy.paths.strict,
        "timeout_ms": exact(limits.timeout.as_millis() as u64),
    });
    if denying.first().is_some_and(|list| list.protect_secrets) {
        described["protect_secrets"] = json!(true);
    }
    if denying.len() > 1 {
        let list = |list: &Denying<'_>| json!({ "deny": list.patterns, "protect_secrets": list.protect_secrets });
        described["deny_also"] = denying[1..].iter().map(list).collect();
    }
    // The first list is `allow`, from wherever it is.
    let further: Vec<_> = policy.patterns.allowing().skip(1).collect();
    if !further.is_empty() {
        described["allow_also"] = json!(further);
    }
    described.sort_all_objects();
    described
}
