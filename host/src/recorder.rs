//! What the audit log says of a call's changes.

use crate::approval::{self, ApprovalRequest, Decision};
use crate::audit::{Covered, Entry, EntryKind, Object};
use crate::error::CallError;
use crate::guard::CallState;
use crate::policy::{Operation, RiskClass};
use crate::transaction::{CommitRecorder, Effect, EffectReceipt};
use crate::walk::{ObjectId, Version};

/// Writes the commit of one call to the audit log.
pub(crate) struct Recorder<'a> {
    state: &'a mut CallState,
    /// What the policy or the approver said about the changes.
    decision: &'static str,
    /// The object that the last change made.
    made: Option<ObjectId>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(state: &'a mut CallState) -> Self {
        Self {
            state,
            decision: "allow",
            made: None,
        }
    }

    fn entry(&self, kind: EntryKind, effect: &Effect, receipt: &EffectReceipt) -> Entry {
        let mut entry = self.state.entry(kind);
        entry.operation = Some(effect.operation);
        entry.risk = Some(effect.risk);
        entry.decision = Some(self.decision);
        entry.root = Some(receipt.root.clone());
        entry.path = Some(receipt.path.clone());
        if let Some((root, path)) = &receipt.to {
            entry.to_root = Some(root.clone());
            entry.to_path = Some(path.clone());
        }
        let object = effect.before.map(|before| before.object);
        entry.object = object.map(|object| object_at(object, effect));
        entry.bytes = receipt.bytes;
        entry.version_before = receipt.version_before.map(|version| version.to_string());
        entry.sha256_after.clone_from(&receipt.sha256);
        entry
    }
}

impl CommitRecorder for Recorder<'_> {
    fn approval(
        &mut self,
        request: &ApprovalRequest,
        decision: &Decision,
    ) -> Result<(), CallError> {
        self.decision = match decision {
            Decision::Approved { .. } => "approved",
            _ => "not-approved",
        };
        let mut entry = self.state.entry(EntryKind::Approval);
        entry.risk = Some(RiskClass::Destructive);
        entry.decision = Some(self.decision);
        entry.effects = request.effects.iter().map(Into::into).collect();
        entry.approval = Some(request.digest.clone());
        entry.approver = match decision {
            Decision::Approved { by, .. } | Decision::Refused { by } => Some(by.clone()),
            _ => None,
        };
        entry.reason = match decision {
            Decision::Unanswered(why) => Some(why.reason()),
            _ => None,
        };
        entry.code = approval::refusal_of(decision).map(|error| error.code().to_owned());
        self.state.shared.audit.append(vec![entry])
    }

    fn intent(&mut self, effect: &Effect, receipt: &EffectReceipt) -> Result<(), CallError> {
        let mut entry = self.entry(EntryKind::Intent, effect, receipt);
        let tree = effect.tree.as_deref();
        entry.covers = tree.map(|tree| Covered::new(tree.covers, Some(tree)));
        self.state.shared.audit.append(vec![entry])
    }

    fn outcome(
        &mut self,
        effect: &Effect,
        receipt: &EffectReceipt,
        made: bool,
        error: Option<&CallError>,
    ) -> Result<(), CallError> {
        let mut entry = self.entry(EntryKind::Outcome, effect, receipt);
        if let Some(made) = self.made.take()
            && effect.operation == Operation::Create
        {
            entry.object = Some(object_at(made, effect));
        }
        entry.version_after = receipt.version.map(|version| version.to_string());
        entry.outcome = Some(if made { "ok" } else { "failed" });
        entry.code = error.map(|error| error.code().to_owned());
        entry.reason = error.and_then(CallError::static_reason);
        let is_partial = entry.reason == Some("partial");
        if is_partial {
            entry.bytes = receipt.covers.map(|deleted| deleted.bytes);
        }
        let deleted = receipt.covers.filter(|_| made || is_partial);
        entry.covers = deleted.map(|deleted| Covered::new(deleted, None));
        self.state.shared.audit.append(vec![entry])
    }

    fn created(&mut self, object: ObjectId, version: Version) {
        self.made = Some(object);
        self.state.shared.remember(object, version);
    }
}

fn object_at(object: ObjectId, effect: &Effect) -> Object {
    Object::new(object, effect.place.resolved.as_deref())
}
