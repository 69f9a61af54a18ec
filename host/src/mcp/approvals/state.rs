//! What the client carries between a question and its answer: sealed, so that it cannot be
//! made up; bound to the effects and to the caller; short-lived; good for one use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitResult, ErrorData, InputRequest,
    InputRequiredResult, RequestStateCodec, RequestStateError, SealOptions,
};
use rootbound::{Decision, Unanswered};
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};

use super::deferred::Asked;
use super::form;

/// The name of the question in a result and of the answer in a request.
const QUESTION: &str = "approval";
/// How long an answer is good.
const LIFETIME: Duration = Duration::from_secs(600);
/// Uses that are remembered. Each is a change that a person approved within the lifetime.
const MAX_SPENT: usize = 100_000;

/// Seals and opens states, and knows which were used in this process.
#[derive(Debug)]
pub(in crate::mcp) struct States {
    codec: RequestStateCodec,
    spent: Arc<Spent>,
}

/// What is sealed. The caller is sealed too, as associated data.
#[derive(Debug, Deserialize, Serialize)]
struct Sealed {
    digest: String,
    nonce: String,
}

/// An answer that a call brought with it.
#[derive(Debug)]
pub(super) struct Answer {
    about: Sealed,
    is_yes: bool,
    spent: Arc<Spent>,
}

/// The nonces of used answers, with the time until which they could be used again.
#[derive(Debug, Default)]
struct Spent(Mutex<HashMap<String, Instant>>);

impl States {
    /// # Errors
    ///
    /// When the key is shorter than 32 bytes.
    pub(in crate::mcp) fn with_key(key: Vec<u8>) -> Result<Self, RequestStateError> {
        Ok(Self {
            codec: RequestStateCodec::try_new(key)?,
            spent: Arc::default(),
        })
    }

    /// The result that puts a question to the client.
    pub(in crate::mcp) fn question(
        &self,
        asked: &Asked,
        principal: &str,
    ) -> Result<InputRequiredResult, ErrorData> {
        let sealed = Sealed {
            digest: asked.digest.clone(),
            nonce: random_text(),
        };
        let options = SealOptions::new()
            .associated_data(principal.as_bytes())
            .ttl(LIFETIME);
        let state = self
            .codec
            .seal_json_with(&sealed, &options)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let question = InputRequest::Elicitation(ElicitRequest::new(form(&asked.text)));
        let questions = [(QUESTION.to_owned(), question)].into();
        Ok(InputRequiredResult::new(Some(questions), Some(state)))
    }

    /// The answer that a call carries, if it carries one that is still good.
    ///
    /// # Errors
    ///
    /// When the state was not sealed by this server for this caller.
    pub(super) fn answer_in(
        &self,
        request: &mut CallToolRequestParams,
        principal: &str,
    ) -> Result<Option<Answer>, ErrorData> {
        let Some(state) = request.request_state.take() else {
            return Ok(None);
        };
        let opened: Result<Sealed, _> = self.codec.open_json_with(&state, principal.as_bytes());
        let about = match opened {
            Ok(sealed) => sealed,
            // Then the question is put again.
            Err(RequestStateError::Expired) => return Ok(None),
            Err(_) => {
                let why = "the request state was not given by this server to this caller";
                return Err(ErrorData::invalid_params(why, None));
            }
        };
        let responses = request.input_responses.take().unwrap_or_default();
        let response = responses.get(QUESTION).cloned().unwrap_or_default();
        let is_yes = serde_json::from_value::<ElicitResult>(response)
            .is_ok_and(|result| super::is_yes(&result));
        Ok(Some(Answer {
            about,
            is_yes,
            spent: Arc::clone(&self.spent),
        }))
    }
}

impl Answer {
    pub(super) fn is_about(&self, digest: &str) -> bool {
        self.about.digest == digest
    }

    /// What the answer says, once: after a no, a yes to the same question is none.
    pub(super) fn use_up(&self) -> Decision {
        match (self.spent.spend(&self.about.nonce), self.is_yes) {
            (true, true) => Decision::approve_once("client"),
            (true, false) => Decision::refuse("client"),
            (false, _) => Decision::Unanswered(Unanswered::Used),
        }
    }
}

impl Spent {
    /// Whether this is the first use.
    fn spend(&self, nonce: &str) -> bool {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if spent.len() >= MAX_SPENT {
            spent.retain(|_, until| *until > now);
        }
        let first = spent.len() < MAX_SPENT && !spent.contains_key(nonce);
        if first {
            spent.insert(nonce.to_owned(), now + LIFETIME);
        }
        first
    }
}

/// 32 bytes that nobody can guess.
pub(in crate::mcp) fn random_key() -> Vec<u8> {
    let mut bytes = vec![0; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        // Short only when a signal interrupts (getrandom(2)).
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty()).unwrap_or(0);
    }
    bytes
}

/// The same as hexadecimal digits.
pub(in crate::mcp) fn random_text() -> String {
    let bytes = random_key();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_good_once() {
        let spent = Spent::default();
        assert!(spent.spend("a"));
        assert!(!spent.spend("a"));
        assert!(spent.spend("b"));
    }
}
