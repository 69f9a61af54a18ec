//! Asking while the call waits.

use std::sync::mpsc;
use std::time::Duration;

use rmcp::service::ServiceError;
use rmcp::{Peer, RoleServer};
use rootbound::{ApprovalRequest, Approver, Decision, Unanswered};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::{form, is_yes};
use crate::mcp::under_way::UnderWay;

/// Asks by an elicitation. The question goes to the task that serves the request, since
/// the client expects it in the request's own stream.
#[derive(Debug)]
pub(in crate::mcp) struct Elicited {
    peer: Peer<RoleServer>,
    patience: Duration,
    questions: UnboundedSender<Question>,
    /// A call that waits for a person keeps no other from being read: the answer has to be.
    place: Option<UnderWay>,
}

/// A question on its way to the client.
#[derive(Debug)]
pub(in crate::mcp) struct Question {
    text: String,
    peer: Peer<RoleServer>,
    patience: Duration,
    answer: mpsc::Sender<Decision>,
}

impl Elicited {
    pub(super) fn new(
        peer: Peer<RoleServer>,
        patience: Duration,
        place: Option<UnderWay>,
    ) -> (Self, UnboundedReceiver<Question>) {
        let (questions, receiver) = unbounded_channel();
        let approver = Self {
            peer,
            patience,
            questions,
            place,
        };
        (approver, receiver)
    }
}

impl Approver for Elicited {
    fn decide(&self, request: &ApprovalRequest) -> Decision {
        if let Some(place) = &self.place {
            place.give_back();
        }
        let (answer, answered) = mpsc::channel();
        let question = Question {
            text: request.describe(),
            peer: self.peer.clone(),
            patience: self.patience,
            answer,
        };
        // Whoever serves the request holds the other ends, or is gone.
        let _ = self.questions.send(question);
        answered
            .recv()
            .unwrap_or(Decision::Unanswered(Unanswered::Gone))
    }
}

impl Question {
    /// Asks the client, for as long as it can be heard and wants to know.
    pub(in crate::mcp) async fn ask(
        self,
        unwanted: &CancellationToken,
        unheard: &CancellationToken,
    ) {
        let asked = self
            .peer
            .create_elicitation_with_timeout(form(&self.text), Some(self.patience));
        let decision = tokio::select! {
            result = asked => match result {
                Ok(result) if is_yes(&result) => Decision::approve_once("client"),
                Ok(_) => Decision::refuse("client"),
                Err(error) => Decision::Unanswered(unanswered(&error)),
            },
            () = unwanted.cancelled() => Decision::Unanswered(Unanswered::Cancelled),
            () = unheard.cancelled() => Decision::Unanswered(Unanswered::Gone),
        };
        // The call waits for it.
        let _ = self.answer.send(decision);
    }
}

/// Why a client that was asked did not say yes or no.
fn unanswered(error: &ServiceError) -> Unanswered {
    match error {
        ServiceError::Timeout { .. } => Unanswered::NotInTime,
        ServiceError::TransportSend(_) | ServiceError::TransportClosed => Unanswered::Gone,
        _ => Unanswered::Failed,
    }
}
