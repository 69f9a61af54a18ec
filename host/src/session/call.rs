//! One call: from its arguments to its result and its record.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Session;
use super::watch::{CallWatch, Phase};
use crate::approval::Approver;
use crate::arguments;
use crate::audit::{self, Entry, EntryKind};
use crate::bindings::provider::ToolError;
use crate::component::{Definition, PathRole};
use crate::default_encoding;
use crate::error::{CallError, Ending, code};
use crate::expected::{self, CallerWord};
use crate::guard::{CallState, timed_out};
use crate::named_root;
use crate::output::{Output, Receipt, Sent};
use crate::policy::RiskClass;
use crate::random;
use crate::recorder::Recorder;
use crate::roots::Rights;
use crate::running::{self, Answer};
use crate::trace::TraceParent;
use crate::transaction::{self, CommitOrder, EffectReceipt};

/// Bytes of a path that the record of a refusal names though no WASI call had it (Linux:
/// `PATH_MAX`).
const MAX_NAMED_PATH: usize = 4096;
/// Letters of a tool's name: the contract allows no more, and records keep no more.
const MAX_TOOL_NAME: usize = 64;

/// The arguments of a tool call: a JSON object, as text, as a value, or as bytes that may
/// turn out to be neither.
#[derive(Clone, Debug)]
pub struct Arguments(Vec<u8>);

impl From<Vec<u8>> for Arguments {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self(value.to_string().into_bytes())
    }
}

impl From<&Value> for Arguments {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into_bytes())
    }
}

/// What a caller may ask of one call besides its arguments.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Stop before the commit and answer with the effects there would have been.
    pub dry_run: bool,
    /// Lets another thread see how far the call has got, and cancel it.
    pub watch: Option<Arc<CallWatch>>,
    /// Who is asked in this call instead of the session's approver.
    pub approver: Option<Arc<dyn Approver>>,
    /// The trace that the call belongs to. Its entries in the audit log name it, and so does
    /// what is exported of them.
    pub trace: Option<TraceParent>,
}

impl std::fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallOptions")
            .field("dry_run", &self.dry_run)
            .field("watch", &self.watch)
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}

impl Session {
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
    /// Those of the session's [`Policy`](crate::Policy).
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
    /// let output = session.call_with("write_file", report, CallOptions { dry_run: true, ..CallOptions::default() })?;
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
        let tool = &*clipped(tool);
        let tool = self.shared.component.listed_name(tool).unwrap_or(tool);
        let (mut state, result) = self.attempt(tool, &arguments, &options);
        state.dry_run = options.dry_run;
        let written = std::mem::take(&mut state.captured);
        let heard = &self.shared.guest_log;
        heard.tell(written, &state.tool, &state.call);
        let outcome = self.record_end(&mut state, &arguments, started, result.as_ref().map(|_| ()));
        match (result, outcome) {
            (result, Ok(())) => result,
            (Err(error), _) if error.code() == code::AUDIT_UNAVAILABLE => Err(error),
            (Ok(output), Err(unrecorded)) => Err(with_receipt(unrecorded, &output)),
            (Err(error), Err(unrecorded)) => Err(unrecorded.instead_of(&error)),
        }
    }

    /// The story of a call: run the component, look at its answer, commit or discard.
    fn attempt(
        &self,
        tool: &str,
        arguments: &[u8],
        options: &CallOptions,
    ) -> (CallState, Result<Output, CallError>) {
        let shared = &self.shared;
        let ceiling = self.declared_risk(tool);
        let number = shared.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let call = format!("{}-{number}", shared.id);
        if let Some(watch) = &options.watch {
            let _ = watch.call.set((call.clone(), options.trace));
        }
        let mut state = CallState::new(
            Arc::clone(shared),
            call,
            &self.recorded(tool),
            *ceiling.as_ref().unwrap_or(&None),
        );
        state.watch.clone_from(&options.watch);
        state.trace = options.trace;
        if let Err(error) = shared.quotas.call(Instant::now()) {
            let unrecorded = self.record_late_refusal(&state, "", &error).err();
            return (state, Err(unrecorded.unwrap_or(error)));
        }
        let arguments = match ceiling.and_then(|_| self.prepare(&mut state, tool, arguments)) {
            Ok(arguments) => arguments,
            Err(error) => return (state, Err(error)),
        };
        let answer;
        (state, answer) = running::call_tool(&shared.component, state, tool, &arguments);
        let result = self
            .output_of(&mut state, tool, answer)
            .and_then(|output| self.finish(&mut state, output, options))
            .map_err(
                |error| match self.record_late_refusal(&state, &arguments, &error) {
                    Ok(()) => error,
                    Err(unrecorded) => unrecorded.instead_of(&error),
                },
            );
        (state, result)
    }

    /// A stranger's component is not called for a tool that it does not list. Ours has the better
    /// words for that; what is not listed has declared nothing, and may do nothing.
    fn declared_risk(&self, tool: &str) -> Result<Option<RiskClass>, CallError> {
        let component = &self.shared.component;
        if component.is_built_in() {
            self.shared.toolset.refuse(tool)?;
        }
        match component.definition(tool)? {
            Some(definition) => Ok(Some(definition.risk)),
            None if component.is_built_in() => Ok(None),
            None => {
                let names = self.tools()?.iter().map(|tool| tool.name.clone());
                Err(CallError::unknown_tool(tool, names))
            }
        }
    }

    /// Reads what the arguments say to the host, and respells paths where that is wanted.
    fn prepare(
        &self,
        state: &mut CallState,
        tool: &str,
        arguments: &[u8],
    ) -> Result<String, CallError> {
        let arguments = std::str::from_utf8(arguments).map_err(|_| not_utf_8())?;
        let arguments = self.respell(tool, arguments)?;
        let definition = self.shared.component.definition(tool)?;
        let Some(definition) = definition else {
            return Ok(arguments);
        };
        arguments::check(&arguments, definition)?;
        state.word = CallerWord::read(&arguments, definition)?;
        let label = self.shared.default_encoding.as_deref();
        let arguments = default_encoding::arguments(arguments, definition, label)?;
        named_root::arguments(arguments, definition, &self.shared.roots)
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

    /// Whether the caller cannot know from the arguments which path a failure is about.
    fn names_no_path(&self, tool: &str) -> Result<bool, CallError> {
        let definition = self.shared.component.definition(tool)?;
        Ok(definition.is_some_and(|definition| definition.paths.is_empty()))
    }

    fn output_of(
        &self,
        state: &mut CallState,
        tool: &str,
        answer: Result<Answer, CallError>,
    ) -> Result<Output, CallError> {
        match answer? {
            Ok(output) => {
                let limit = self.shared.policy.limits.max_output_bytes;
                state.advise_on_parts(&output.fields);
                Output::from_component(output, &self.shared.roots, &state.failures, limit)
            }
            Err(ToolError::Host) => Err(match state.answer() {
                Some(error) if self.names_no_path(tool)? => error.about(state.failures.at_hand()),
                Some(error) => error,
                None => CallError::new(code::IO, "the tool failed and named no reason")
                    .hint_of("report this to the author of the tool"),
            }),
            Err(ToolError::Tool(failure)) => {
                let limit = self.shared.policy.limits.max_output_bytes;
                let sent = Sent::default().text(&failure.message).text(&failure.hint);
                sent.text(&failure.details).within(limit)?;
                let error = CallError::from_tool(
                    &failure.code,
                    failure.message,
                    failure.hint,
                    &failure.details,
                );
                Err(
                    match self
                        .not_declared(tool)?
                        .filter(|_| error.code() == code::NOT_GRANTED)
                    {
                        Some(hint) => error.hint_of(hint),
                        None => error,
                    },
                )
            }
        }
    }

    /// What to do where a tool finds a grant missing that its component says it does not need: no
    /// user could give it. Nothing where the session lacks a grant that the component does need,
    /// since that may be the one that is meant.
    fn not_declared(&self, tool: &str) -> Result<Option<&'static str>, CallError> {
        let component = &self.shared.component;
        let definition = component.definition(tool)?;
        // Where both are missing, that which the tool is for comes first.
        let first = match definition.is_some_and(|it| it.risk > RiskClass::Read) {
            true => [Rights::Write, Rights::Read],
            false => [Rights::Read, Rights::Write],
        };
        let is_missing = |rights: Rights| {
            let mut roots = self.shared.roots.iter();
            !roots.any(|root| root.rights == rights)
        };
        let missing = first.into_iter().filter(|it| is_missing(*it));
        let hints: Option<Vec<_>> = missing.map(|it| component.not_declared(it)).collect();
        Ok(hints.and_then(|hints| hints.first().copied()))
    }

    /// A refusal that no WASI call saw: of a grant that the tool found missing, of the
    /// commit, of the result. A refused call has one `refusal` in the log.
    fn record_late_refusal(
        &self,
        state: &CallState,
        arguments: &str,
        error: &CallError,
    ) -> Result<(), CallError> {
        let refused = matches!(error.ending(), Ending::Denied | Ending::NotApproved)
            || matches!(error.code(), code::LIMIT_EXCEEDED | code::CONFLICT);
        if !refused || state.was_refused() || error.code() == code::AUDIT_UNAVAILABLE {
            return Ok(());
        }
        let mut entry = state.entry(EntryKind::Refusal);
        entry.decision = Some(match error.ending() {
            Ending::NotApproved => "not-approved",
            _ => "deny",
        });
        entry.code = Some(error.code().to_owned());
        entry.reason = error.static_reason();
        if let Some(effect) = state.transaction.first_effect() {
            entry.operation = Some(effect.operation);
            entry.risk = Some(effect.risk);
            entry.root = Some(self.shared.roots.label(effect.place.root).to_owned());
            entry.path = Some(effect.place.path.clone());
            if let Some(to) = &effect.to {
                entry.to_root = Some(self.shared.roots.label(to.root).to_owned());
                entry.to_path = Some(to.path.clone());
            }
        } else if error.code() == code::NOT_GRANTED
            && let Some(definition) = self.shared.component.definition(&state.tool)?
        {
            self.name_what_was_asked(&mut entry, definition, arguments);
        }
        self.shared.audit.append(vec![entry])
    }

    /// Names what a tool finds not granted, by the arguments: the object that the call is to
    /// change, else its first path.
    fn name_what_was_asked(&self, entry: &mut Entry, definition: &Definition, arguments: &str) {
        let paths = &definition.paths;
        let Some(argument) = paths.iter().find(|path| path.guarded).or(paths.first()) else {
            return;
        };
        let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else {
            return;
        };
        let path = arguments.get(&argument.pointer).and_then(Value::as_str);
        entry.path = path
            .filter(|path| path.len() <= MAX_NAMED_PATH)
            .map(str::to_owned);
        entry.operation = Some(argument.role.operation());
        entry.risk = Some(argument.role.operation().risk());
        if argument.role != PathRole::Read {
            let mut roots = self.shared.roots.iter();
            let write = roots.find(|root| root.rights == Rights::Write);
            entry.root = write.map(|root| root.label.clone());
        }
    }

    /// Commits what the call staged, or says what a commit would do.
    fn finish(
        &self,
        state: &mut CallState,
        mut output: Output,
        options: &CallOptions,
    ) -> Result<Output, CallError> {
        state.still_owed()?;
        if options.dry_run {
            let unread = state.transaction.changed_unread();
            let mut effects = transaction::preview(&mut state.transaction, &self.shared.roots)?;
            transaction::hide_unread(&mut effects, &unread, &self.shared.roots);
            if let Some(expected) = &state.word.expected {
                let most = self.shared.policy.limits.max_read_bytes;
                transaction::verify_expected(&state.transaction, expected, most)?;
            }
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
        if let Some(watch) = &options.watch
            && !watch.enter(Phase::Committing)
        {
            return Err(match watch.is_cancelled() {
                true => CallError::cancelled(),
                false => self.timed_out(),
            });
        }
        let unread = state.transaction.changed_unread();
        let mut effects = self.commit(state, options)?;
        transaction::hide_unread(&mut effects, &unread, &self.shared.roots);
        output.set_receipt(Receipt {
            call: state.call.clone(),
            effects,
        });
        Ok(output)
    }

    fn commit(
        &self,
        state: &mut CallState,
        options: &CallOptions,
    ) -> Result<Vec<EffectReceipt>, CallError> {
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
                session: &shared.id,
                expected: expected.as_ref(),
                standing: &shared.standing,
                roots: &shared.roots,
                policy: &shared.policy,
                approver: &**options.approver.as_ref().unwrap_or(&shared.approver),
                recorder: &mut Recorder::new(state),
            },
        );
        state.transaction = pending;
        committed
    }

    /// Discards what is still pending and writes what the call read and how it ended.
    fn record_end(
        &self,
        state: &mut CallState,
        arguments: &[u8],
        started: Instant,
        result: Result<(), &CallError>,
    ) -> Result<(), CallError> {
        if state.dry_run || result.is_err_and(|error| !error.has_committed()) {
            state.give_back();
        }
        let removed = state.transaction.discard();
        let mut entries: Vec<Entry> = removed
            .iter()
            .map(|place| state.directory_entry(place, Some("rolled-back")))
            .collect();
        entries.extend(state.access_entries());
        let mut entry = state.entry(EntryKind::Call);
        entry.principal = self.shared.other_principal();
        entry.arguments_sha256 = Some(random::hex_of(&Sha256::digest(arguments)));
        if self.shared.records_arguments {
            let definition = self.shared.component.definition(&state.tool);
            let schema = definition.ok().flatten().map(|known| &*known.input_schema);
            entry.arguments = audit::recorded_arguments(arguments, schema.unwrap_or_default());
        }
        entry.duration_us = Some(started.elapsed().as_micros() as u64);
        entry.dry_run = state.dry_run;
        entry.outcome = Some(match result {
            Ok(()) => "ok",
            Err(error) if error.code() == code::TRAPPED => "trapped",
            Err(error) if error.code() == code::TIMEOUT => "timeout",
            Err(error) if error.code() == code::CANCELLED => "cancelled",
            Err(_) => "failed",
        });
        if let Err(error) = result {
            entry.code = Some(error.code().to_owned());
            entry.reason = error.static_reason();
        }
        entries.push(entry);
        self.shared.audit.append(entries)
    }

    /// Records a call of a tool that no component has.
    pub(crate) fn unknown(
        &self,
        tool: &str,
        Arguments(arguments): Arguments,
        error: CallError,
    ) -> CallError {
        let number = self.shared.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let call = format!("{}-{number}", self.shared.id);
        let mut state = CallState::new(Arc::clone(&self.shared), call, &self.recorded(tool), None);
        match self.record_end(&mut state, &arguments, Instant::now(), Err(&error)) {
            Ok(()) => error,
            Err(unrecorded) => unrecorded,
        }
    }

    /// Abandons a call at its deadline, records that, and answers what the caller gets;
    /// `None` when the commit has begun, which is to be waited for. The call's thread may
    /// stay until the kernel returns; it will not commit.
    pub fn abandon(&self, tool: &str, watch: &CallWatch) -> Option<CallError> {
        if !watch.enter(Phase::Abandoned) {
            return None;
        }
        let mut entry = Entry::new(EntryKind::Call);
        entry.session.clone_from(&self.shared.id);
        entry.principal = self.shared.other_principal();
        if let Some((call, trace)) = watch.call.get() {
            entry.call = Some(call.clone());
            entry.traceparent = *trace;
        }
        entry.tool = Some(self.recorded(tool).into_owned());
        entry.outcome = Some("timeout");
        entry.code = Some(code::TIMEOUT.to_owned());
        let error = self.timed_out();
        Some(match self.shared.audit.append(vec![entry]) {
            Ok(()) => error,
            Err(unrecorded) => unrecorded,
        })
    }

    /// A tool's name as the log has it. One that is none may be a secret that went astray.
    fn recorded<'a>(&self, tool: &'a str) -> Cow<'a, str> {
        let is_known = matches!(self.shared.component.definition(tool), Ok(Some(_)));
        match !is_known && audit::looks_like_secret(tool) {
            true => Cow::Borrowed("(hidden)"),
            false => clipped(tool),
        }
    }

    /// For callers who know no more than that the time is over.
    fn timed_out(&self) -> CallError {
        let limit = self.shared.policy.limits.timeout;
        timed_out(limit, limit)
    }
}

fn not_utf_8() -> CallError {
    CallError::new(code::INVALID_ARGUMENTS, "the arguments are not UTF-8 text")
        .hint_of("give the arguments as one JSON object, encoded as UTF-8")
}

/// A tool's name as it was asked for. No tool has a longer one than the contract allows, and
/// what looks for a near one, or logs it, need not bear more.
fn clipped(tool: &str) -> Cow<'_, str> {
    match tool.char_indices().nth(MAX_TOOL_NAME) {
        None => Cow::Borrowed(tool),
        Some((end, _)) => Cow::Owned(format!("{}…", &tool[..end])),
    }
}

/// Changes that were made and recorded must not get lost with the last line of the log.
fn with_receipt(error: CallError, output: &Output) -> CallError {
    match output.receipt() {
        None => error,
        Some(receipt) => {
            let done: Vec<_> = receipt.effects.iter().map(EffectReceipt::to_json).collect();
            error.having_committed(done)
        }
    }
}
