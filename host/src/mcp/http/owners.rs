//! Whose the sessions of older clients are. The SDK knows a session by its id alone, and keeps
//! as many as are begun.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderMap;
use rmcp::model::{ErrorCode, RequestId};
use serde::Deserialize;
use serde_json::json;

use super::refusal::Refusal;
use super::shares::{Share, Shares};
use crate::mcp::handler::Principal;
use crate::mcp::stdio::message::too_long;

/// The header by which MCP names a session (revision 2025-11-25, Streamable HTTP).
const SESSION: &str = "mcp-session-id";
/// Sessions at one time.
const MAX_SESSIONS: usize = 500;
/// Sessions that were not used for so long are over: the SDK ends them after five minutes.
const IDLE: Duration = Duration::from_secs(360);

/// The sessions that were begun, and by whom.
pub(super) struct Owners {
    sessions: Mutex<HashMap<String, Owner>>,
    places: Arc<Shares>,
    under_way: Mutex<HashSet<Question>>,
}

/// A request by its session and id.
type Question = (String, RequestId);

/// A request of a session that is under way, until it is dropped.
pub(super) struct Asked {
    owners: Arc<Owners>,
    asked: Question,
}

/// As much of a message as tells a request. Headers say it too, and may say something else.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Message {
    id: Option<RequestId>,
    method: Option<String>,
}

impl Message {
    /// What is no message is refused by the SDK.
    pub(super) fn of(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// Checks what is kept as long as the request.
    ///
    /// # Errors
    ///
    /// When its id is too long.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        match self.id.as_ref().and_then(too_long) {
            Some(why) => Err(Refusal::bad_request(why)),
            None => Ok(()),
        }
    }

    /// Whether it begins a session, where there are sessions.
    pub(super) fn begins(&self, headers: &HeaderMap) -> bool {
        self.method.as_deref() == Some("initialize") && !headers.contains_key(SESSION)
    }
}

struct Owner {
    principal: Principal,
    used: Instant,
    #[expect(dead_code, reason = "dropping it gives the place back")]
    place: Share,
}

impl Default for Owners {
    fn default() -> Self {
        Self {
            sessions: Mutex::default(),
            places: Shares::new(MAX_SESSIONS, "sessions"),
            under_way: Mutex::default(),
        }
    }
}

impl Owners {
    /// Whether a request may pass: one without a session, or one in a session of its own
    /// token. Whatever it asks for, another's session is as good as none.
    pub(super) fn admit(&self, headers: &HeaderMap, principal: &Principal) -> bool {
        let Some(id) = id_of(headers) else {
            return true;
        };
        match self.sessions().get_mut(&id) {
            Some(owner) if owner.principal == *principal => {
                owner.used = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Takes the place of another session.
    ///
    /// # Errors
    ///
    /// As [`Shares::take`].
    pub(super) fn begin(&self, principal: &Principal) -> Result<Share, Refusal> {
        self.places.take(principal, 1).or_else(|_| {
            self.sessions()
                .retain(|_, owner| owner.used.elapsed() < IDLE);
            self.places.take(principal, 1)
        })
    }

    /// Notes the session that an answer begins.
    pub(super) fn note(&self, headers: &HeaderMap, principal: &Principal, place: Share) {
        if let Some(id) = id_of(headers) {
            let owner = Owner {
                principal: principal.clone(),
                used: Instant::now(),
                place,
            };
            self.sessions().entry(id).or_insert(owner);
        }
    }

    /// The session of a request is over.
    pub(super) fn forget(&self, headers: &HeaderMap) {
        if let Some(id) = id_of(headers) {
            self.sessions().remove(&id);
        }
    }

    /// Notes that a session asks this, if it asks anything: the SDK answers one of two
    /// requests that are under way with one id, and the other never.
    ///
    /// # Errors
    ///
    /// When the session has another request with the same id under way.
    pub(super) fn ask(
        self: &Arc<Self>,
        headers: &HeaderMap,
        message: Message,
    ) -> Result<Option<Asked>, Refusal> {
        let id = message.method.and(message.id);
        let (Some(session), Some(id)) = (id_of(headers), id) else {
            return Ok(None);
        };
        let asked = (session, id);
        if !self.under_way().insert(asked.clone()) {
            let why = "a request with this id is under way in this session";
            return Err(Refusal::no_message(
                ErrorCode::INVALID_REQUEST,
                json!(asked.1),
                why,
            ));
        }
        let owners = Arc::clone(self);
        Ok(Some(Asked { owners, asked }))
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Owner>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn under_way(&self) -> MutexGuard<'_, HashSet<Question>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.owners.under_way().remove(&self.asked);
    }
}

/// A header that is no text names no session that was ever begun.
fn id_of(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(SESSION)?;
    Some(String::from_utf8_lossy(id.as_bytes()).into_owned())
}
