//! The commit: one question, everything verified, each change recorded, made, recorded.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Before, Effect, EffectReceipt, Place, Transaction};
use crate::approval::{self, ApprovalRequest, Approver, Decision};
use crate::errno;
use crate::error::{CallError, code};
use crate::policy::{Consent, Durability, Operation, Policy, RiskClass};
use crate::roots::Roots;
use crate::walk::{self, Kind, ObjectId, Version};

/// How long a commit waits for another process's commit in the same directories.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// What the commit needs to know, and whom it tells.
pub(crate) struct CommitOrder<'a> {
    pub(crate) tool: &'a str,
    pub(crate) roots: &'a Roots,
    pub(crate) policy: &'a Policy,
    pub(crate) approver: &'a dyn Approver,
    pub(crate) recorder: &'a mut dyn CommitRecorder,
}

/// Where the commit records what it does. An error of `intent` prevents the change.
pub(crate) trait CommitRecorder {
    fn approval(&mut self, decision: &Decision) -> Result<(), CallError>;
    fn intent(&mut self, effect: &Effect, receipt: &EffectReceipt) -> Result<(), CallError>;
    fn outcome(
        &mut self,
        effect: &Effect,
        receipt: &EffectReceipt,
        result: Result<(), &CallError>,
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
    let mut receipts = describe_directories(transaction, order.roots)?;
    let planned = describe(transaction, order.roots)?;
    ask(transaction, order, &planned)?;
    prepare(transaction, order.policy.durability)?;
    let _locks = lock_directories(transaction)?;
    verify_all(transaction)?;
    for (index, mut receipt) in planned.into_iter().enumerate() {
        let effect = transaction.effects[index].clone();
        order
            .recorder
            .intent(&effect, &receipt)
            .map_err(|error| with_committed(error, &receipts))?;
        let result = perform(transaction, &effect, order.policy.durability);
        if result.is_ok() {
            receipt.version = version_now(&effect);
            remember(&effect, order.recorder);
        }
        let recorded = order
            .recorder
            .outcome(&effect, &receipt, result.as_ref().copied());
        result.map_err(|error| with_committed(error, &receipts))?;
        receipts.push(receipt);
        recorded.map_err(|error| with_committed(error, &receipts))?;
    }
    transaction.effects.clear();
    transaction.pending.clear();
    transaction.directories.clear();
    Ok(receipts)
}

/// The effects as they would be, for a dry run.
pub(crate) fn preview(
    transaction: &mut Transaction,
    roots: &Roots,
) -> Result<Vec<EffectReceipt>, CallError> {
    let mut effects = describe_directories(transaction, roots)?;
    for effect in &mut effects {
        effect.version = None;
    }
    effects.extend(describe(transaction, roots)?);
    Ok(effects)
}

fn with_committed(error: CallError, receipts: &[EffectReceipt]) -> CallError {
    if receipts.is_empty() {
        return error;
    }
    let done: Vec<_> = receipts.iter().map(EffectReceipt::to_json).collect();
    error.detail("committed", done)
}

fn describe_directories(
    transaction: &Transaction,
    roots: &Roots,
) -> Result<Vec<EffectReceipt>, CallError> {
    let receipt = |place: &Place| {
        let stat = walk::look(place.directory(), place.name()).map_err(errno::explain)?;
        let mut receipt = blank(Operation::CreateDirectory, place, roots);
        receipt.version = Some(Version::of(&stat));
        Ok(receipt)
    };
    transaction
        .directories
        .iter()
        .map(|made| receipt(&made.place))
        .collect()
}

fn describe(transaction: &mut Transaction, roots: &Roots) -> Result<Vec<EffectReceipt>, CallError> {
    let Transaction { effects, files, .. } = transaction;
    let mut receipts = Vec::with_capacity(effects.len());
    for effect in effects {
        let mut receipt = blank(effect.operation, &effect.place, roots);
        receipt.version_before = effect.before.map(|before| before.version);
        receipt.to = effect
            .to
            .as_ref()
            .map(|to| (roots.label(to.root).to_owned(), to.path.clone()));
        if let Some(index) = effect.staged {
            receipt.bytes = Some(files[index].size().map_err(errno::explain)?);
            receipt.sha256 = Some(files[index].sha256().map_err(errno::explain)?);
        }
        receipts.push(receipt);
    }
    Ok(receipts)
}

fn blank(operation: Operation, place: &Place, roots: &Roots) -> EffectReceipt {
    EffectReceipt {
        operation,
        root: roots.label(place.root).to_owned(),
        path: place.path.clone(),
        to: None,
        bytes: None,
        sha256: None,
        version_before: None,
        version: None,
    }
}

fn ask(
    transaction: &Transaction,
    order: &mut CommitOrder<'_>,
    planned: &[EffectReceipt],
) -> Result<(), CallError> {
    let asks = |effect: &Effect| {
        effect.risk == RiskClass::Destructive
            && consents(effect, order.policy).contains(&Consent::Ask)
    };
    if !transaction.effects.iter().any(asks) {
        return Ok(());
    }
    let request = ApprovalRequest {
        tool: order.tool.to_owned(),
        effects: planned.to_vec(),
    };
    let decision = order.approver.decide(&request);
    order.recorder.approval(&decision)?;
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

/// Everything that can still fail without a trace: attributes and syncing of new content.
fn prepare(transaction: &Transaction, durability: Durability) -> Result<(), CallError> {
    for effect in &transaction.effects {
        let Some(index) = effect.staged else { continue };
        let file = &transaction.files[index];
        if effect.before.is_some() {
            let old =
                walk::look(effect.place.directory(), effect.place.name()).map_err(|_| changed())?;
            let handle = open_for_attributes(&effect.place);
            file.keep_attributes(&old, handle.as_ref().map(OwnedFd::as_fd))
                .map_err(errno::explain)?;
        }
        file.sync(durability).map_err(errno::explain)?;
    }
    Ok(())
}

fn open_for_attributes(place: &Place) -> Option<OwnedFd> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(place.directory(), place.name(), flags, Mode::empty()).ok()
}

/// Locks the directories of all targets in an order that all processes keep, so that two
/// commits never wait for each other.
fn lock_directories(transaction: &Transaction) -> Result<Vec<OwnedFd>, CallError> {
    let mut places = BTreeMap::new();
    for effect in &transaction.effects {
        for place in std::iter::once(&effect.place).chain(&effect.to) {
            places.entry(place.slot.parent).or_insert(place);
        }
    }
    let give_up = Instant::now() + LOCK_PATIENCE;
    let mut locks = Vec::with_capacity(places.len());
    for place in places.into_values() {
        // A directory that may be written but not read cannot be locked.
        let Ok(handle) = open_to_sync(place) else {
            continue;
        };
        lock(&handle, give_up)?;
        locks.push(handle);
    }
    Ok(locks)
}

fn lock(directory: &OwnedFd, give_up: Instant) -> Result<(), CallError> {
    loop {
        match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < give_up => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(Errno::WOULDBLOCK) => {
                return Err(CallError::new(
                    code::CONFLICT,
                    "another process holds the lock of the directory",
                )
                .reason_of("locked")
                .hint_of("try again later"));
            }
            // Some file systems have no locks; the exchange itself is still atomic.
            _ => return Ok(()),
        }
    }
}

fn verify_all(transaction: &Transaction) -> Result<(), CallError> {
    for effect in &transaction.effects {
        if let Some(before) = effect.before {
            verify(&effect.place, before)?;
        }
        if let (Some(to), Some(replaced)) = (&effect.to, effect.replaced) {
            verify(to, replaced)?;
        }
    }
    Ok(())
}

fn verify(place: &Place, before: Before) -> Result<(), CallError> {
    match walk::look(place.directory(), place.name()) {
        Ok(stat) if Before::of(&stat) == before => Ok(()),
        _ => Err(changed()),
    }
}

fn changed() -> CallError {
    CallError::new(
        code::CONFLICT,
        "the object was changed or replaced by someone else while the call ran",
    )
    .reason_of("changed")
    .hint_of("read it again and decide anew")
}

fn perform(
    transaction: &mut Transaction,
    effect: &Effect,
    durability: Durability,
) -> Result<(), CallError> {
    let place = &effect.place;
    let done = match (effect.operation, effect.staged, &effect.to) {
        (Operation::Create, Some(index), _) => {
            transaction.files[index].publish(place.directory(), place.name())
        }
        (Operation::Change | Operation::Replace, Some(index), _) => {
            transaction.files[index].replace(place.directory(), place.name())
        }
        (Operation::Rename, _, Some(to)) => {
            let flags = match effect.replaced {
                Some(_) => RenameFlags::empty(),
                None => RenameFlags::NOREPLACE,
            };
            rustix::fs::renameat_with(
                place.directory(),
                place.name(),
                to.directory(),
                to.name(),
                flags,
            )
        }
        (Operation::Delete, ..) => {
            let directory = effect
                .before
                .is_some_and(|before| before.kind == Kind::Directory);
            let flags = if directory {
                AtFlags::REMOVEDIR
            } else {
                AtFlags::empty()
            };
            rustix::fs::unlinkat(place.directory(), place.name(), flags)
        }
        _ => Err(Errno::INVAL),
    };
    done.map_err(errno::explain)?;
    if durability == Durability::Full {
        for place in std::iter::once(place).chain(&effect.to) {
            sync_directory(place)?;
        }
    }
    Ok(())
}

fn open_to_sync(place: &Place) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(place.directory(), ".", flags, Mode::empty())
}

fn sync_directory(place: &Place) -> Result<(), CallError> {
    let handle = match open_to_sync(place) {
        // Without read permission a directory cannot be opened, and so not synced.
        Err(Errno::ACCESS) => return Ok(()),
        other => other.map_err(errno::explain)?,
    };
    match rustix::fs::fsync(handle) {
        // File systems that keep no directory buffers say that there is nothing to sync.
        Err(Errno::INVAL) => Ok(()),
        other => other.map_err(errno::explain),
    }
}

fn version_now(effect: &Effect) -> Option<Version> {
    let place = effect.to.as_ref().unwrap_or(&effect.place);
    let gone = matches!(effect.operation, Operation::Delete | Operation::DeleteTree);
    let stat = walk::look(place.directory(), place.name()).ok()?;
    (!gone).then(|| Version::of(&stat))
}

fn remember(effect: &Effect, recorder: &mut dyn CommitRecorder) {
    let ours = effect.operation == Operation::Create || effect.risk == RiskClass::Draft;
    let place = effect.to.as_ref().unwrap_or(&effect.place);
    if ours && let Ok(stat) = walk::look(place.directory(), place.name()) {
        recorder.created(ObjectId::of(&stat), Version::of(&stat));
    }
}
