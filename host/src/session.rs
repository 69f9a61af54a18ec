//! A session: what was granted, under which policy, recorded where; and the calls in it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::fs::Stat;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::approval::{Approver, Decision, Nobody, Standing};
use crate::audit::{AuditLog, Entry, EntryKind};
use crate::bindings::provider::ToolError;
use crate::builder::SessionBuilder;
use crate::component::{Definition, ToolComponent};
use crate::error::{CallError, code};
use crate::expected::{self, CallerWord};
use crate::guard::CallState;
use crate::output::{Output, Receipt};
use crate::policy::{Consent, Policy, RiskClass};
use crate::random;
use crate::respell::Respelling;
use crate::roots::{Grant, Rights, Roots};
use crate::running::{self, Answer};
use crate::transaction::{self, CommitOrder, CommitRecorder, Effect, EffectReceipt};
use crate::walk::{ObjectId, Version};

/// Objects whose creation a session remembers. An object beyond that is treated as if
/// someone else had made it, which is the stricter class.
const MAX_REMEMBERED: usize = 100_000;

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

/// What all clones of a session and all its calls share.
pub(crate) struct Shared {
    pub(crate) id: String,
    pub(crate) roots: Roots,
    pub(crate) policy: Policy,
    pub(crate) audit: AuditLog,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) principal: String,
    standing: Standing,
    pub(crate) component: ToolComponent,
    pub(crate) respelling: Option<Respelling>,
    pub(crate) warnings: Vec<String>,
    pub(crate) confinement: Option<&'static str>,
    own_work: Mutex<HashMap<ObjectId, Version>>,
    closed: AtomicBool,
    calls: AtomicU64,
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
    ) -> Self {
        Self {
            id: random::hex::<8>(),
            roots,
            policy,
            audit,
            approver,
            principal: crate::ambient::local_user(),
            standing: Standing::default(),
            component,
            respelling: None,
            warnings: Vec::new(),
            confinement: None,
            own_work: Mutex::default(),
            closed: AtomicBool::new(false),
            calls: AtomicU64::new(0),
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
        ))
    }

    /// Whether the session created the object and nobody has touched it since.
    pub(crate) fn is_own_work(&self, stat: &Stat) -> bool {
        self.own_work().get(&ObjectId::of(stat)) == Some(&Version::of(stat))
    }

    fn own_work(&self) -> std::sync::MutexGuard<'_, HashMap<ObjectId, Version>> {
        self.own_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, object: ObjectId, version: Version) {
        let mut own_work = self.own_work();
        if own_work.len() < MAX_REMEMBERED || own_work.contains_key(&object) {
            own_work.insert(object, version);
        }
    }

    pub(crate) fn genesis(&self) -> Entry {
        let mut entry = Entry::new(EntryKind::Genesis);
        entry.session.clone_from(&self.id);
        entry.format = Some(crate::audit::FORMAT);
        entry.log = self.audit.id();
        entry.confinement = self.confinement;
        entry.component = Some(self.component.sha256().to_owned());
        entry.policy = Some(describe_policy(&self.policy));
        entry.grants = Some(self.roots.iter().map(describe_grant).collect());
        entry
    }
}

fn describe_grant(root: &crate::roots::Root) -> Value {
    let rights = match root.rights {
        Rights::Read => "read",
        Rights::Write => "write",
    };
    json!({ "label": root.label, "rights": rights })
}

/// The effective policy, members in alphabetical order as everywhere in the audit log.
pub(crate) fn describe_policy(policy: &Policy) -> Value {
    let limits = &policy.limits;
    json!({
        "delete": policy.delete,
        "durability": policy.durability,
        "max_call_read_bytes": limits.max_call_read_bytes,
        "max_depth": limits.max_depth,
        "max_entries": limits.max_entries,
        "max_handles": limits.max_handles,
        "max_memory": limits.max_memory,
        "max_output_bytes": limits.max_output_bytes,
        "max_read_bytes": limits.max_read_bytes,
        "max_write_bytes": limits.max_write_bytes,
        "overwrite": policy.overwrite,
        "portable_names": policy.paths.portable_names,
        "strict_paths": policy.paths.strict,
        "timeout_ms": limits.timeout.as_millis() as u64,
    })
}

/// The arguments of a tool call: a JSON object, as text or as a value.
#[derive(Clone, Debug)]
pub struct Arguments(String);

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self(value.to_string())
    }
}

impl From<&Value> for Arguments {
    fn from(value: &Value) -> Self {
        Self(value.to_string())
    }
}

/// What a caller may ask of one call besides its arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// Stop before the commit and answer with the effects there would have been.
    pub dry_run: bool,
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
        shared.audit.append(vec![shared.genesis()])?;
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// Whatever keeps the call from succeeding, with one of the codes in
    /// [`code`](crate::code). Nothing that the call asked for has then happened, except
    /// what the error lists as `committed`.
    ///
    /// # Limits
    ///
    /// Those of the session's [`Policy`].
    pub fn call(&self, tool: &str, arguments: impl Into<Arguments>) -> Result<Output, CallError> {
        self.call_with(tool, arguments, CallOptions::default())
    }

    /// Calls a tool with options.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let reports = tempfile::tempdir()?;
    /// # let reports = reports.path();
    /// use rootbound::{AuditLog, CallOptions, Session};
    ///
    /// let session = Session::builder().write_root(reports).audit(AuditLog::none()).build()?;
    /// let report = r#"{"path": "report.md", "content": "done"}"#;
    /// let output = session.call_with("write_file", report, CallOptions { dry_run: true })?;
    /// let effects = output.dry_run().unwrap_or_default();
    /// assert_eq!((effects.len(), effects[0].bytes), (1, Some(4)));
    /// assert!(!reports.join("report.md").exists());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Session::call`].
    pub fn call_with(
        &self,
        tool: &str,
        arguments: impl Into<Arguments>,
        options: CallOptions,
    ) -> Result<Output, CallError> {
        if self.is_closed() {
            return Err(CallError::closed());
        }
        let started = Instant::now();
        let Arguments(arguments) = arguments.into();
        let (mut state, result) = self.attempt(tool, &arguments, options);
        let outcome = self.record_end(&mut state, &arguments, started, result.as_ref().map(|_| ()));
        match (result, outcome) {
            (result, Ok(())) => result,
            (Err(error), _) if error.code() == code::AUDIT_UNAVAILABLE => Err(error),
            (Ok(output), Err(unrecorded)) => Err(with_receipt(unrecorded, &output)),
            (Err(_), Err(unrecorded)) => Err(unrecorded),
        }
    }

    /// The story of a call: run the component, look at its answer, commit or discard.
    fn attempt(
        &self,
        tool: &str,
        arguments: &str,
        options: CallOptions,
    ) -> (CallState, Result<Output, CallError>) {
        let shared = &self.shared;
        let ceiling = self.declared_risk(tool);
        let number = shared.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let call = format!("{}-{number}", shared.id);
        let mut state = CallState::new(
            Arc::clone(shared),
            call,
            tool,
            *ceiling.as_ref().unwrap_or(&RiskClass::Read),
        );
        let arguments = match ceiling.and_then(|_| self.prepare(&mut state, tool, arguments)) {
            Ok(arguments) => arguments,
            Err(error) => return (state, Err(error)),
        };
        let answer;
        (state, answer) = running::call_tool(&shared.component, state, tool, &arguments);
        let result = self
            .output_of(&mut state, answer)
            .and_then(|output| self.finish(&mut state, output, options));
        (state, result)
    }

    /// A tool that the component does not list has declared nothing, so nothing is narrowed.
    fn declared_risk(&self, tool: &str) -> Result<RiskClass, CallError> {
        let definition = self.shared.component.definition(tool)?;
        Ok(definition.map_or(RiskClass::Send, |definition| definition.risk))
    }

    /// Reads what the arguments say to the host, and respells paths where that is wanted.
    fn prepare(
        &self,
        state: &mut CallState,
        tool: &str,
        arguments: &str,
    ) -> Result<String, CallError> {
        let arguments = self.respell(tool, arguments)?;
        let definition = self.shared.component.definition(tool)?;
        state.word = CallerWord::read(&arguments, definition)?;
        Ok(arguments)
    }

    fn respell(&self, tool: &str, arguments: &str) -> Result<String, CallError> {
        match (
            &self.shared.respelling,
            self.shared.component.definition(tool)?,
        ) {
            (Some(respelling), Some(definition)) => Ok(respelling.arguments(arguments, definition)),
            _ => Ok(arguments.to_owned()),
        }
    }

    fn output_of(
        &self,
        state: &mut CallState,
        answer: Result<Answer, CallError>,
    ) -> Result<Output, CallError> {
        match answer? {
            Ok(output) => {
                let limit = self.shared.policy.limits.max_output_bytes;
                Output::from_component(output, &self.shared.roots, limit)
            }
            Err(ToolError::Host) => Err(state.last_failure.take().unwrap_or_else(|| {
                CallError::new(code::IO, "the tool failed and named no reason")
                    .hint_of("report this to the author of the tool")
            })),
            Err(ToolError::Tool(failure)) => {
                let error = CallError::from_tool(
                    &failure.code,
                    failure.message,
                    failure.hint,
                    &failure.details,
                );
                self.record_tool_refusal(state, &error)?;
                Err(error)
            }
        }
    }

    /// A tool that found no grant to try has made no call that the guard could refuse.
    fn record_tool_refusal(
        &self,
        state: &mut CallState,
        error: &CallError,
    ) -> Result<(), CallError> {
        if error.code() != code::NOT_GRANTED || state.last_failure.is_some() {
            return Ok(());
        }
        let mut entry = state.entry(EntryKind::Refusal);
        entry.decision = Some("deny");
        entry.code = Some(code::NOT_GRANTED.to_owned());
        self.shared.audit.append(vec![entry])
    }

    /// Commits what the call staged, or says what a commit would do.
    fn finish(
        &self,
        state: &mut CallState,
        mut output: Output,
        options: CallOptions,
    ) -> Result<Output, CallError> {
        if options.dry_run {
            let effects = transaction::preview(&mut state.transaction, &self.shared.roots)?;
            output.set_dry_run(effects);
            return Ok(output);
        }
        if state.transaction.is_empty() {
            return match state.word.expected {
                // The caller expected something to be there, and the tool changed nothing.
                Some(_) if output.dry_run().is_none() => Err(expected::stale("absent")),
                _ => Ok(output),
            };
        }
        let effects = self.commit(state)?;
        output.set_receipt(Receipt {
            call: state.call.clone(),
            effects,
        });
        Ok(output)
    }

    fn commit(&self, state: &mut CallState) -> Result<Vec<EffectReceipt>, CallError> {
        let shared = Arc::clone(&self.shared);
        let mut pending = std::mem::take(&mut state.transaction);
        let tool = state.tool.clone();
        let expected = state.word.expected.clone();
        let committed = transaction::commit(
            &mut pending,
            &mut CommitOrder {
                tool: &tool,
                component: shared.component.sha256(),
                principal: &shared.principal,
                expected: expected.as_ref(),
                standing: &shared.standing,
                roots: &shared.roots,
                policy: &shared.policy,
                approver: &*shared.approver,
                recorder: &mut Recorder { state },
            },
        );
        state.transaction = pending;
        committed
    }

    /// Discards what is still pending and writes what the call read and how it ended.
    fn record_end(
        &self,
        state: &mut CallState,
        arguments: &str,
        started: Instant,
        result: Result<(), &CallError>,
    ) -> Result<(), CallError> {
        let removed = state.transaction.discard();
        let mut entries: Vec<Entry> = removed
            .iter()
            .map(|place| state.directory_entry(place, Some("rolled-back")))
            .collect();
        entries.extend(state.access_entries());
        let mut entry = state.entry(EntryKind::Call);
        entry.arguments_sha256 = Some(random::hex_of(&Sha256::digest(arguments.as_bytes())));
        entry.duration_us = Some(started.elapsed().as_micros() as u64);
        entry.outcome = Some(match result {
            Ok(()) => "ok",
            Err(error) if error.code() == code::TRAPPED => "trapped",
            Err(error) if error.code() == code::TIMEOUT => "timeout",
            Err(_) => "failed",
        });
        if let Err(error) = result {
            entry.code = Some(error.code().to_owned());
            entry.reason = error.static_reason();
        }
        entries.push(entry);
        self.shared.audit.append(entries)
    }

    /// The tools of the session's component, in the order in which front-ends show them.
    ///
    /// # Errors
    ///
    /// When the component cannot list them.
    pub fn tools(&self) -> Result<&[Definition], CallError> {
        self.shared.component.definitions()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Ends the session: this handle and all its clones answer `closed` from now on, and
    /// the audit log is synced. Calls that are running end as they would have.
    ///
    /// # Errors
    ///
    /// `audit-unavailable` when the log cannot be synced; the session is closed all the
    /// same.
    pub fn close(&self) -> Result<(), CallError> {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.shared.audit.sync()
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
        let grant = |root: &crate::roots::Root| Grant {
            label: root.label.clone(),
            rights: root.rights,
        };
        self.shared.roots.iter().map(grant).collect()
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

/// Changes that were made and recorded must not get lost with the last line of the log.
fn with_receipt(error: CallError, output: &Output) -> CallError {
    match output.receipt() {
        None => error,
        Some(receipt) => {
            let done: Vec<_> = receipt.effects.iter().map(EffectReceipt::to_json).collect();
            error.detail("committed", done)
        }
    }
}

/// Writes the commit of one call to the audit log.
struct Recorder<'a> {
    state: &'a mut CallState,
}

impl Recorder<'_> {
    fn entry(&self, kind: EntryKind, effect: &Effect, receipt: &EffectReceipt) -> Entry {
        let mut entry = self.state.entry(kind);
        entry.operation = Some(effect.operation);
        entry.risk = Some(effect.risk);
        entry.decision = Some("allow");
        entry.root = Some(receipt.root.clone());
        entry.path = Some(receipt.path.clone());
        if let Some((root, path)) = &receipt.to {
            entry.to_root = Some(root.clone());
            entry.to_path = Some(path.clone());
        }
        entry.object = effect.before.map(|before| before.object.into());
        entry.bytes = receipt.bytes;
        entry.version_before = receipt.version_before.map(|version| version.to_string());
        entry.sha256_after.clone_from(&receipt.sha256);
        entry
    }
}

impl CommitRecorder for Recorder<'_> {
    fn approval(&mut self, digest: &str, decision: &Decision) -> Result<(), CallError> {
        let mut entry = self.state.entry(EntryKind::Approval);
        entry.risk = Some(RiskClass::Destructive);
        entry.decision = Some(match decision {
            Decision::Approved { .. } => "approved",
            _ => "not-approved",
        });
        entry.approval = Some(digest.to_owned());
        entry.approver = match decision {
            Decision::Approved { by, .. } | Decision::Refused { by } => Some(by.clone()),
            _ => None,
        };
        entry.code = crate::approval::refusal_of(decision).map(|error| error.code().to_owned());
        self.state.shared.audit.append(vec![entry])
    }

    fn intent(&mut self, effect: &Effect, receipt: &EffectReceipt) -> Result<(), CallError> {
        let entry = self.entry(EntryKind::Intent, effect, receipt);
        self.state.shared.audit.append(vec![entry])
    }

    fn outcome(
        &mut self,
        effect: &Effect,
        receipt: &EffectReceipt,
        result: Result<(), &CallError>,
    ) -> Result<(), CallError> {
        let mut entry = self.entry(EntryKind::Outcome, effect, receipt);
        entry.version_after = receipt.version.map(|version| version.to_string());
        entry.outcome = Some(if result.is_ok() { "ok" } else { "failed" });
        entry.code = result.err().map(|error| error.code().to_owned());
        self.state.shared.audit.append(vec![entry])
    }

    fn created(&mut self, object: ObjectId, version: Version) {
        self.state.shared.remember(object, version);
    }
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
