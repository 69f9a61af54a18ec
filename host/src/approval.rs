//! Who is asked before something is destroyed.

use crate::error::{CallError, code};
use crate::transaction::EffectReceipt;

/// What an approver is asked: one tool call and everything it would do.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// The tool.
    pub tool: String,
    /// The changes, in the order in which they will be made.
    pub effects: Vec<EffectReceipt>,
}

/// An approver's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The effects may happen, once.
    Approved,
    /// They may not; the text goes to the operator's log.
    Refused(String),
    /// Nobody could be asked.
    Nobody,
}

/// Decides about effects that destroy, one question a call.
///
/// An approver that panics or cannot decide must not lead to the effect: anything but
/// [`Decision::Approved`] is a refusal.
pub trait Approver: Send + Sync {
    /// Answers one request. Called after the tool has finished and before anything
    /// changes; the call's clock stands still meanwhile.
    fn decide(&self, request: &ApprovalRequest) -> Decision;
}

/// The default: there is nobody to ask, so nothing is approved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Approver for Nobody {
    fn decide(&self, _: &ApprovalRequest) -> Decision {
        Decision::Nobody
    }
}

pub(crate) fn refusal_of(decision: &Decision) -> Option<CallError> {
    match decision {
        Decision::Approved => None,
        Decision::Refused(_) => Some(
            CallError::new(code::APPROVAL_DENIED, "the approver refused the change")
                .hint_of("do not try the same change again without asking the user"),
        ),
        Decision::Nobody => Some(
            CallError::new(
                code::APPROVAL_REQUIRED,
                "the change needs an approval, and nobody is there to give it",
            )
            .hint_of("ask the user to make the change, or to start the session with an approver or with `--delete allow` or `--overwrite allow`"),
        ),
    }
}
