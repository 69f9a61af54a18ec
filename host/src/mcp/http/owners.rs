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
use crate::mcp::handler::Principal;

/// The header by which MCP names a session (revision 2025-11-25, Streamable HTTP).
const SESSION: &str = "mcp-session-id";
/// Sessions at one time.
const MAX_SESSIONS: usize = 500;
/// Sessions that were not used for so long are over: the SDK ends them after five minutes.
const IDLE: Duration = Duration::from_secs(360);

/// The sessions that were begun, and by whom.
#[derive(Default)]
pub(super) struct Owners {
    sessions: Mutex<HashMap<String, Owner>>,
    under_way: Mutex<HashSet<Asked>>,
}

/// A request by its session and id.
type Asked = (String, RequestId);

/// A request of a session that is under way, until it is dropped.
pub(super) struct UnderWay {
    owners: Arc<Owners>,
    asked: Asked,
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

    /// Whether it begins a session, where there are sessions.
    pub(super) fn begins(&self, headers: &HeaderMap) -> bool {
        self.method.as_deref() == Some("initialize") && !headers.contains_key(SESSION)
    }
}

struct Owner {
    principal: Principal,
    used: Instant,
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

    /// Whether there is room for another session.
    pub(super) fn have_room(&self) -> bool {
        let mut sessions = self.sessions();
        if sessions.len() >= MAX_SESSIONS {
            sessions.retain(|_, owner| owner.used.elapsed() < IDLE);
        }
        sessions.len() < MAX_SESSIONS
    }

    /// Notes the session that an answer begins.
    pub(super) fn note(&self, headers: &HeaderMap, principal: &Principal) {
        if let Some(id) = id_of(headers) {
            let owner = Owner {
                principal: principal.clone(),
                used: Instant::now(),
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
    ) -> Result<Option<UnderWay>, Refusal> {
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
        Ok(Some(UnderWay { owners, asked }))
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Owner>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn under_way(&self) -> MutexGuard<'_, HashSet<Asked>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.owners.under_way().remove(&self.asked);
    }
}

/// A header that is no text names no session that was ever begun.
fn id_of(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(SESSION)?;
    Some(String::from_utf8_lossy(id.as_bytes()).into_owned())
}
