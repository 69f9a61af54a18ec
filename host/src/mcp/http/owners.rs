//! Whose the sessions of older clients are. The SDK knows a session by its id alone, and keeps
//! as many as are begun.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderMap;

use crate::mcp::handler::Principal;

/// The header by which MCP names a session (revision 2025-11-25, Streamable HTTP).
const SESSION: &str = "mcp-session-id";
/// The header that every request of revision 2026-07-28 has, which knows no sessions.
const METHOD: &str = "mcp-method";
/// Sessions at one time.
const MAX_SESSIONS: usize = 500;
/// Sessions that were not used for so long are over: the SDK ends them after five minutes.
const IDLE: Duration = Duration::from_secs(360);

/// The sessions that were begun, and by whom.
#[derive(Default)]
pub(super) struct Owners(Mutex<HashMap<String, Owner>>);

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

    /// Whether a request begins a session, as far as its headers tell.
    pub(super) fn begins(headers: &HeaderMap) -> bool {
        let stateless = headers
            .get(METHOD)
            .is_some_and(|method| method != "initialize");
        !stateless && !headers.contains_key(SESSION)
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

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Owner>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A header that is no text names no session that was ever begun.
fn id_of(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(SESSION)?;
    Some(String::from_utf8_lossy(id.as_bytes()).into_owned())
}
