//! The commit: one question, everything verified, each change recorded, made, recorded.

use rustix::io::Errno;

use super::describe::{self, describe_all, with_committed};
use super::effect::hide_unread;
use super::perform::{self, Stopped, perform, prepare, sync_names};
use super::verify::{lock_directories, verify_all, verify_expected};
use super::{Covers, Effect, EffectReceipt, Transaction};
use crate::approval::{self, ApprovalRequest, Approver, Decision, Standing};
use crate::errno;
use crate::error::CallError;
use crate::expected::Expected;
use crate::policy::{Consent, Operation, Policy, RiskClass};
use crate::roots::{RootIndex, Roots};
use crate::walk::{self, ObjectId, Version};

/// What the commit needs to know, and whom it tells.
pub(crate) struct CommitOrder<'a> {
    pub(crate) tool: &'a str,
    pub(crate) component: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) session: &'a str,
    pub(crate) roots: &'a Roots,
    pub(crate) policy: &'a Policy,
    pub(crate) expected: Option<&'a Expected>,
    pub(crate) approver: &'a dyn Approver,
    pub(crate) standing: &'a Standing,
    pub(crate) recorder: &'a mut dyn CommitRecorder,
}

/// Where the commit records what it does. An error of `intent` prevents the change.
pub(crate) trait CommitRecorder {
    fn approval(&mut self, request: &ApprovalRequest, decision: &Decision)
    -> Result<(), CallError>;
    fn intent(&mut self, effect: &Effect, receipt: &EffectReceipt) -> Result<(), CallError>;
    fn outcome(
        &mut self,
        effect: &Effect,
        receipt: &EffectReceipt,
        made: bool,
        error: Option<&CallError>,
    ) -> Result<(), CallError>;
    /// A new object of this session, in the state in which the session left it.
    fn created(&mut self, object: ObjectId, version: Version);
}

/// Makes every pending change, in order, or explains which one stopped it.
///
/// # Errors
///
/// Nothing is changed when the approver refuses, a target is not what it was, or the
/// content cannot be prepared. When a change fails after others were made, the error
/// lists them as `committed`.
pub(crate) fn commit(
    transaction: &mut Transaction,
    order: &mut CommitOrder<'_>,
) -> Result<Vec<EffectReceipt>, CallError> {
    let mut directories = describe::directories(transaction, order.roots)?;
    let planned = describe_all(transaction, order.roots)?;
    ask(transaction, order, &planned)?;
    prepare(transaction, order.policy.durability)?;
    let _locks = lock_directories(transaction)?;
    verify_all(transaction, order.roots)?;
    if let Some(expected) = order.expected {
        verify_expected(transaction, expected, order.policy.limits.max_read_bytes)?;
    }
    let unread = transaction.changed_unread();
    let mut done = Vec::with_capacity(planned.len());
    for (index, receipt) in planned.into_iter().enumerate() {
        let effect = transaction.effects[index].clone();
        change(transaction, order, &effect, receipt, &mut done)
            .map_err(|error| told(error, order.roots, &unread, &directories, &done))?;
    }
    describe::refresh_versions(transaction, &mut directories);
    remember_directories(transaction, order.recorder);
    transaction.settle().map_err(|errno| {
        let error = errno::explain(errno);
        told(error, order.roots, &unread, &directories, &done)
    })?;
    Ok(directories.into_iter().chain(done).collect())
}

/// The directories of the call are its session's own, as the call leaves them.
fn remember_directories(transaction: &Transaction, recorder: &mut dyn CommitRecorder) {
    for made in &transaction.directories {
        if let Ok(stat) = walk::look(made.place.directory(), made.place.name())
            && ObjectId::of(&stat) == made.object
        {
            recorder.created(made.object, Version::of(&stat));
        }
    }
}

/// One change, between its intent and its outcome.
fn change(
    transaction: &mut Transaction,
    order: &mut CommitOrder<'_>,
    effect: &Effect,
    mut receipt: EffectReceipt,
    done: &mut Vec<EffectReceipt>,
) -> Result<(), CallError> {
    order.recorder.intent(effect, &receipt)?;
    if let Err(stopped) = perform(transaction, effect) {
        return Err(not_made(order, effect, receipt, &stopped, done));
    }
    if let Some((object, version)) = perform::state_after(effect) {
        receipt.version = Some(version);
        if effect.risk <= RiskClass::Draft {
            order.recorder.created(object, version);
        }
    }
    done.push(receipt.clone());
    // The change is there for everyone; what may be missing is that it survives a power cut.
    let synced = sync_names(effect, order.policy.durability).map_err(not_durable);
    let error = synced.as_ref().err();
    let recorded = order.recorder.outcome(effect, &receipt, true, error);
    synced.and(recorded)
}

/// The error with what was done before, as far as the caller may know it.
fn told(
    error: CallError,
    roots: &Roots,
    unread: &[(RootIndex, String)],
    directories: &[EffectReceipt],
    done: &[EffectReceipt],
) -> CallError {
    let mut done = done.to_vec();
    hide_unread(&mut done, unread, roots);
    with_committed(error, directories, &done)
}

/// Records that a change failed, and what there is of it all the same: a recursive deletion
/// can stop half-way.
fn not_made(
    order: &mut CommitOrder<'_>,
    effect: &Effect,
    mut receipt: EffectReceipt,
    stopped: &Stopped,
    done: &mut Vec<EffectReceipt>,
) -> CallError {
    let mut error = errno::explain_change(stopped.errno);
    if stopped.deleted.objects() > 0 {
        error = half_deleted(&error, Some(stopped.deleted).filter(|_| effect.readable));
        receipt.covers = Some(stopped.deleted);
        done.push(receipt.clone());
    }
    let recorded = order
        .recorder
        .outcome(effect, &receipt, false, Some(&error));
    recorded.err().unwrap_or(error)
}

fn half_deleted(error: &CallError, deleted: Option<Covers>) -> CallError {
    let how_much = deleted.map_or_else(String::new, |deleted| {
        let Covers {
            files, directories, ..
        } = deleted;
        format!(" ({files} files and {directories} directories in it)")
    });
    let message = format!(
        "the directory was deleted in part{how_much}, then: {}",
        error.message()
    );
    error.clone().saying(message).reason_of("partial")
}

fn not_durable(errno: Errno) -> CallError {
    let error = errno::explain(errno);
    let message = format!(
        "the change was made, and a power cut may undo it, since it could not be synced: {}",
        error.message()
    );
    error
        .saying(message)
        .reason_of("not-durable")
        .hint_of("the operator has to look at the disk")
}

/// Asks the approver once for all effects, unless the policy or an earlier answer allows
/// them.
fn ask(
    transaction: &Transaction,
    order: &mut CommitOrder<'_>,
    planned: &[EffectReceipt],
) -> Result<(), CallError> {
    let in_question: Vec<&Effect> = transaction
        .effects
        .iter()
        .filter(|effect| effect.risk >= RiskClass::Destructive)
        .filter(|effect| consents(effect, order.policy).contains(&Consent::Ask))
        .collect();
    if in_question.is_empty() {
        return Ok(());
    }
    let request = describe::request(transaction, order, planned);
    let paths: Vec<_> = in_question
        .iter()
        .flat_map(|effect| std::iter::once(&effect.place).chain(&effect.to))
        .map(|place| (place.root, place.path.clone()))
        .collect();
    let decision = match order.standing.covers(&paths) {
        Some(decision) => decision,
        None => approval::ask(order.approver, &request),
    };
    order.recorder.approval(&request, &decision)?;
    order.standing.remember(&decision, paths);
    approval::refusal_of(&decision).map_or(Ok(()), Err)
}

/// Which policy fields govern the effect: a rename over another file is both.
fn consents(effect: &Effect, policy: &Policy) -> Vec<Consent> {
    match effect.operation {
        Operation::Delete | Operation::DeleteTree => vec![policy.delete],
        Operation::Rename if effect.replaced.is_some() => vec![policy.delete, policy.overwrite],
        Operation::Rename => vec![policy.delete],
        Operation::Change | Operation::Replace => vec![policy.overwrite],
        _ => vec![],
    }
}

/// The effects as they would be, for a dry run.
pub(crate) fn preview(
    transaction: &mut Transaction,
    roots: &Roots,
) -> Result<Vec<EffectReceipt>, CallError> {
    let mut effects = describe::directories(transaction, roots)?;
    for effect in &mut effects {
        effect.version = None;
    }
    effects.extend(describe_all(transaction, roots)?);
    Ok(effects)
}
