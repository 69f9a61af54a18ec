//! Effects in the words of receipts and approval requests.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::commit::CommitOrder;
use super::{Effect, EffectReceipt, Place, Transaction};
use crate::approval::{ApprovalRequest, ContentChange};
use crate::errno;
use crate::error::CallError;
use crate::policy::Operation;
use crate::random;
use crate::roots::Roots;
use crate::walk::{self, Kind, Version};

/// The directories that the call made already.
pub(super) fn directories(
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

/// A directory's version is that after the last change inside it.
pub(super) fn refresh_versions(transaction: &Transaction, directories: &mut [EffectReceipt]) {
    for (receipt, made) in directories.iter_mut().zip(&transaction.directories) {
        let stat = walk::look(made.place.directory(), made.place.name()).ok();
        receipt.version = stat.as_ref().map(Version::of);
    }
}

/// The staged effects, in order.
pub(super) fn describe_all(
    transaction: &mut Transaction,
    roots: &Roots,
) -> Result<Vec<EffectReceipt>, CallError> {
    let Transaction { effects, files, .. } = transaction;
    let mut receipts = Vec::with_capacity(effects.len());
    for effect in effects {
        let mut receipt = blank(effect.operation, &effect.place, roots);
        receipt.version_before = effect.before.map(|before| before.version);
        receipt.bytes_before = effect
            .before
            .filter(|before| before.kind == Kind::File)
            .map(|before| before.size);
        receipt.covers = effect.tree.as_ref().map(|tree| tree.covers);
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
        bytes_before: None,
        covers: None,
        sha256: None,
        version_before: None,
        version: None,
    }
}

/// Adds what was done before something failed. Directories of the call that hold nothing
/// are taken back, so only those that hold a change are named.
pub(super) fn with_committed(
    error: CallError,
    directories: &[EffectReceipt],
    done: &[EffectReceipt],
) -> CallError {
    if done.is_empty() {
        return error;
    }
    let holds_change = |directory: &&EffectReceipt| {
        let prefix = format!("{}/", directory.path.trim_end_matches('/'));
        let mut places = done.iter().flat_map(|effect| {
            let from = (&effect.root, &effect.path);
            let to = effect.to.as_ref().map(|(root, path)| (root, path));
            std::iter::once(from).chain(to)
        });
        places.any(|(root, path)| *root == directory.root && path.starts_with(&prefix))
    };
    let kept = directories.iter().filter(holds_change);
    let committed: Vec<Value> = kept.chain(done).map(EffectReceipt::to_json).collect();
    error.having_committed(committed)
}

/// What the approver is asked.
pub(super) fn request(
    transaction: &Transaction,
    order: &CommitOrder<'_>,
    planned: &[EffectReceipt],
) -> ApprovalRequest {
    let contents = transaction
        .effects
        .iter()
        .map(|effect| content_change(transaction, effect))
        .collect();
    ApprovalRequest {
        tool: order.tool.to_owned(),
        principal: order.principal.to_owned(),
        session: order.session.to_owned(),
        digest: digest(transaction, order, planned),
        effects: planned.to_vec(),
        contents,
    }
}

/// The two contents that a person may want to see side by side.
fn content_change(transaction: &Transaction, effect: &Effect) -> Option<Arc<ContentChange>> {
    let new = effect
        .staged
        .map(|index| Arc::clone(transaction.files[index].handle()));
    let is_file = effect
        .before
        .is_some_and(|before| before.kind == Kind::File);
    let shows_old = is_file && effect.operation != Operation::Rename;
    let old = if shows_old {
        open_to_compare(&effect.place)
    } else {
        None
    };
    (old.is_some() || new.is_some()).then(|| Arc::new(ContentChange { old, new }))
}

fn open_to_compare(place: &Place) -> Option<OwnedFd> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(place.directory(), place.name(), flags, Mode::empty()).ok()
}

/// SHA-256 over what an approval is bound to. Members stand in alphabetical order, so the
/// text is the canonical form of RFC 8785.
fn digest(transaction: &Transaction, order: &CommitOrder<'_>, planned: &[EffectReceipt]) -> String {
    let effects: Vec<Value> = transaction
        .effects
        .iter()
        .zip(planned)
        .map(|(effect, receipt)| describe_for_digest(effect, receipt))
        .collect();
    let grants: Vec<Value> = order
        .roots
        .iter()
        .map(|root| {
            json!({
                "device": root.id.device.to_string(),
                "inode": root.id.inode.to_string(),
                "label": root.label,
                "preopen": root.preopen,
            })
        })
        .collect();
    let bound = json!({
        "component": order.component,
        "effects": effects,
        "grants": grants,
        "tool": order.tool,
    });
    random::hex_of(&Sha256::digest(bound.to_string().as_bytes()))
}

fn describe_for_digest(effect: &Effect, receipt: &EffectReceipt) -> Value {
    json!({
        "bytes": receipt.bytes,
        "bytes_before": receipt.bytes_before,
        "operation": receipt.operation.as_str(),
        "path": receipt.path,
        "replaced": effect.replaced.map(|before| before.version.to_string()),
        "root": receipt.root,
        "sha256": receipt.sha256,
        "to": receipt.to,
        "tree": effect.tree.as_ref().map(|tree| tree.digest()),
        "version_before": receipt.version_before.map(|version| version.to_string()),
    })
}
