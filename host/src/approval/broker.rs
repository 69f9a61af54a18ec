//! The same question for tools that are not ours: an agent host asks before it sends an
//! email as we ask before we delete a file.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ApprovalRequest, Approver, Decision, Nobody, ask, refusal_of};
use crate::policy::{Consent, RiskClass};
use crate::random;

/// Classifies tool calls and says whether they may run.
///
/// The defaults are: tools that nobody declared are `SEND`; `READ` and `DRAFT` run by
/// themselves; `DESTRUCTIVE` and `SEND` need an approval, and nobody is there to give it.
///
/// # Examples
///
/// ```
/// use rootbound::{Broker, RiskClass};
/// use serde_json::json;
///
/// let broker = Broker::default().declare("search_mail", RiskClass::Read);
/// assert!(broker.check("search_mail", &json!({"query": "invoice"})).allowed);
/// let answer = broker.check("send_email", &json!({"to": "a@example.org"}));
/// assert!(!answer.allowed);
/// assert_eq!(answer.class, RiskClass::Send);
/// ```
pub struct Broker {
    approver: Arc<dyn Approver>,
    principal: String,
    declared: HashMap<String, RiskClass>,
    consents: [Consent; 4],
}

/// What the broker says about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerAnswer {
    /// Whether the call may run now.
    pub allowed: bool,
    /// Its class.
    pub class: RiskClass,
    /// By which a waiting approval can be answered.
    pub approval: Option<String>,
    /// A sentence for the agent.
    pub message: String,
}

impl Default for Broker {
    fn default() -> Self {
        Self {
            approver: Arc::new(Nobody),
            principal: crate::ambient::local_user(),
            declared: HashMap::new(),
            consents: [Consent::Allow, Consent::Allow, Consent::Ask, Consent::Ask],
        }
    }
}

impl Broker {
    /// Who is asked.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// On whose behalf the calls run.
    #[must_use]
    pub fn principal(mut self, principal: impl Into<String>) -> Self {
        self.principal = principal.into();
        self
    }

    /// Declares the class of a tool by its exact name. The embedding program declares, not
    /// the tool.
    #[must_use]
    pub fn declare(mut self, tool: impl Into<String>, class: RiskClass) -> Self {
        self.declared.insert(tool.into(), class);
        self
    }

    /// Changes what happens with a class.
    #[must_use]
    pub fn consent(mut self, class: RiskClass, consent: Consent) -> Self {
        self.consents[class as usize] = consent;
        self
    }

    /// The class of a tool: what was declared, else `SEND`. Arguments can only raise it;
    /// today none do.
    #[must_use]
    pub fn classify(&self, tool: &str, _arguments: &Value) -> RiskClass {
        self.declared.get(tool).copied().unwrap_or(RiskClass::Send)
    }

    /// Whether a call may run. One approval admits one call with the same tool and
    /// arguments.
    #[must_use]
    pub fn check(&self, tool: &str, arguments: &Value) -> BrokerAnswer {
        let class = self.classify(tool, arguments);
        let decision = match self.consents[class as usize] {
            Consent::Allow => Decision::approve_once("policy"),
            Consent::Deny => Decision::refuse("policy"),
            Consent::Ask => ask(&*self.approver, &self.request(tool, arguments)),
        };
        let refusal = refusal_of(&decision);
        BrokerAnswer {
            allowed: refusal.is_none(),
            class,
            approval: match decision {
                Decision::Pending { id } => Some(id),
                _ => None,
            },
            message: refusal.map_or_else(
                || "allowed".to_owned(),
                |refusal| format!("{}; {}", refusal.message(), refusal.hint()),
            ),
        }
    }

    fn request(&self, tool: &str, arguments: &Value) -> ApprovalRequest {
        // A value prints its members in a fixed order, so equal arguments have one digest.
        let bound = json!({ "arguments": sorted(arguments), "tool": tool }).to_string();
        ApprovalRequest {
            tool: tool.to_owned(),
            principal: self.principal.clone(),
            session: String::new(),
            digest: random::hex_of(&Sha256::digest(bound.as_bytes())),
            effects: Vec::new(),
            contents: Vec::new(),
        }
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            names
                .into_iter()
                .map(|name| (name.clone(), sorted(&members[name])))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_declared_is_send_and_needs_an_approval() {
        let broker = Broker::default();
        for tool in ["send_email", "post_api", "read_file2", ""] {
            let answer = broker.check(tool, &json!({}));
            assert_eq!(
                (answer.allowed, answer.class),
                (false, RiskClass::Send),
                "{tool}"
            );
        }
    }

    #[test]
    fn an_approval_is_bound_to_the_arguments() {
        let broker = Broker::default();
        let one = broker.request("t", &json!({"a": 1, "b": [1, {"d": 1, "c": 2}]}));
        let same = broker.request("t", &json!({"b": [1, {"c": 2, "d": 1}], "a": 1}));
        let other = broker.request("t", &json!({"a": 2, "b": [1, {"d": 1, "c": 2}]}));
        assert_eq!(one.digest, same.digest);
        assert_ne!(one.digest, other.digest);
    }

    #[test]
    fn classes_can_be_denied_or_allowed() {
        let strict = Broker::default()
            .declare("r", RiskClass::Read)
            .consent(RiskClass::Read, Consent::Deny);
        assert!(!strict.check("r", &json!({})).allowed);
        let lax = Broker::default().consent(RiskClass::Send, Consent::Allow);
        assert!(lax.check("anything", &json!({})).allowed);
    }
}
