//! Asking between a call and the same call once more.

use std::sync::{Mutex, PoisonError};

use rootbound::{ApprovalRequest, Approver, Decision};

use super::state::Answer;

/// Takes the answer that the call brought; without one, keeps the question for the client.
#[derive(Debug)]
pub(in crate::mcp) struct Deferred {
    answer: Option<Answer>,
    asked: Mutex<Option<Asked>>,
}

/// A question that the call ended with.
#[derive(Clone, Debug)]
pub(in crate::mcp) struct Asked {
    pub(in crate::mcp) digest: String,
    pub(in crate::mcp) text: String,
}

impl Deferred {
    pub(super) fn new(answer: Option<Answer>) -> Self {
        Self {
            answer,
            asked: Mutex::default(),
        }
    }

    /// The question that is to be put to the client.
    pub(in crate::mcp) fn asked(&self) -> Option<Asked> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

impl Approver for Deferred {
    fn decide(&self, request: &ApprovalRequest) -> Decision {
        // An answer to another question is none: the effects are not those that were shown.
        match self
            .answer
            .as_ref()
            .filter(|it| it.is_about(&request.digest))
        {
            Some(answer) => answer.use_up(),
            None => {
                let asked = Asked {
                    digest: request.digest.clone(),
                    text: request.describe(),
                };
                *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
                Decision::Pending {
                    id: request.id().to_owned(),
                }
            }
        }
    }
}
