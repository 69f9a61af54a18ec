//! Asking the person at the client, where the operator named nobody else to ask.
//!
//! Clients up to 2025-11-25 are asked during the call, by an elicitation. From 2026-07-28
//! on, the call ends with the question, and the client makes it again with the answer.
//! No tool and no argument can answer; a client that cannot ask has refused.

mod deferred;
mod elicited;
mod state;

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, ErrorData, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rootbound::Approver;
use tokio::sync::mpsc::UnboundedReceiver;

use super::under_way::UnderWay;
pub(super) use deferred::Deferred;
use elicited::Elicited;
pub(super) use elicited::Question;
pub(super) use state::{States, random_key, random_text};

/// The one member of an answer.
const APPROVE: &str = "approve";

/// How the clients of one server are asked.
#[derive(Debug)]
pub(super) struct ClientApprovals {
    patience: Duration,
    states: States,
}

/// How the person behind one call is asked.
pub(super) enum Way {
    /// Not at all.
    None,
    /// While the call waits.
    During(Arc<Elicited>, UnboundedReceiver<Question>),
    /// Between this call and the same call once more.
    Between(Arc<Deferred>),
}

impl Way {
    pub(super) fn approver(&self) -> Option<Arc<dyn Approver>> {
        match self {
            Self::None => None,
            Self::During(approver, _) => Some(Arc::clone(approver) as _),
            Self::Between(approver) => Some(Arc::clone(approver) as _),
        }
    }
}

impl ClientApprovals {
    pub(super) fn new(patience: Duration, states: States) -> Self {
        Self { patience, states }
    }

    /// How this call's person can be asked. `place` is given back when a question is put.
    ///
    /// # Errors
    ///
    /// When the call carries a state that this server did not give, or not to this caller.
    pub(super) fn way(
        &self,
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        principal: &str,
        place: Option<&UnderWay>,
    ) -> Result<Way, ErrorData> {
        let can = context.client_capabilities().is_some_and(takes_forms);
        let between = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if !can {
            return Ok(Way::None);
        }
        if between {
            let answer = self.states.answer_in(request, principal)?;
            return Ok(Way::Between(Arc::new(Deferred::new(answer))));
        }
        let (approver, questions) =
            Elicited::new(context.peer.clone(), self.patience, place.cloned());
        Ok(Way::During(Arc::new(approver), questions))
    }

    /// The states that calls end with.
    pub(super) fn states(&self) -> &States {
        &self.states
    }
}

/// Whether a client says that it shows forms; one that names no kind of elicitation means
/// forms (2025-06-18).
pub(super) fn takes_forms(capabilities: ClientCapabilities) -> bool {
    capabilities
        .elicitation
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// The question as a form with one box to tick.
fn form(text: &str) -> ElicitRequestParams {
    let schema = ElicitationSchema::builder()
        .required_bool_property(APPROVE, |tick| {
            tick.title("Allow this change").with_default(false)
        })
        .build_unchecked();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("{}\n\nAllow this?", set_apart(text)),
        requested_schema: schema,
    }
}

/// The question with all that strangers chose in a block of its own: four spaces after an
/// empty line keep clients that render Markdown from taking any of it for markup.
fn set_apart(text: &str) -> String {
    let (head, effects) = text.split_once('\n').unwrap_or((text, ""));
    let effects = effects.lines().map(|line| format!("    {line}\n"));
    format!("{head}\n\n{}", effects.collect::<String>().trim_end())
}

/// Only an accepted form with the box ticked is a yes.
fn is_yes(result: &ElicitResult) -> bool {
    let ticked = |content: &serde_json::Value| content[APPROVE] == true;
    result.action == ElicitationAction::Accept && result.content.as_ref().is_some_and(ticked)
}
