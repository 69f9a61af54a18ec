//! Which intents of a log have no outcome: what a killed process was about to do.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

/// What tells the changes of one call apart.
const IDENTITY: [&str; 5] = ["operation", "root", "path", "to_root", "to_path"];

/// An intent that was not followed by its outcome.
#[derive(Clone, Debug)]
pub(super) struct OpenIntent {
    pub(super) line: u64,
    pub(super) entry: Value,
    /// The `genesis` of its session: what was granted, and who signs the log. Found by whoever
    /// settles.
    pub(super) genesis: Option<Arc<Value>>,
    /// Whether its outcome is there after all, but may have been taken back by whoever
    /// cleared up: a directory of a call that did not end.
    pub(super) made: bool,
}

impl OpenIntent {
    pub(super) fn session(&self) -> &str {
        session_of(&self.entry)
    }
}

/// The intents of all calls that have not ended yet, as the entries go by.
#[derive(Debug, Default)]
pub(super) struct Intents {
    of_calls: HashMap<String, Vec<OpenIntent>>,
}

/// The session that an entry is of. Those that were set apart from it have its grants.
pub(super) fn session_of(entry: &Value) -> &str {
    let session = entry["session"].as_str().unwrap_or_default();
    session.split('.').next().unwrap_or_default()
}

impl Intents {
    pub(super) fn follow(&mut self, line: u64, entry: &Value) {
        let Some(call) = entry["call"].as_str() else {
            return;
        };
        match entry["kind"].as_str() {
            Some("intent") => {
                let open = OpenIntent {
                    line,
                    entry: entry.clone(),
                    genesis: None,
                    made: false,
                };
                self.of_calls.entry(call.to_owned()).or_default().push(open);
            }
            Some("outcome") => self.settle(call, entry),
            Some("call") => self.end(call),
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of_calls.is_empty()
    }

    fn settle(&mut self, call: &str, outcome: &Value) {
        let Some(open) = self.of_calls.get_mut(call) else {
            return;
        };
        let is_of = |open: &OpenIntent| {
            IDENTITY
                .iter()
                .all(|name| open.entry[*name] == outcome[*name])
        };
        let Some(at) = open.iter().position(is_of) else {
            return;
        };
        let may_be_taken_back = outcome["operation"] == "create-directory"
            && outcome["outcome"] == "ok"
            && outcome["settles"].is_null();
        if may_be_taken_back {
            open[at].made = true;
        } else {
            open.remove(at);
        }
        if open.is_empty() {
            self.of_calls.remove(call);
        }
    }

    /// A call has ended: what it made stays made.
    fn end(&mut self, call: &str) {
        if let Some(open) = self.of_calls.get_mut(call) {
            open.retain(|open| !open.made);
            if open.is_empty() {
                self.of_calls.remove(call);
            }
        }
    }

    /// Everything that is open, in the order of the log.
    pub(super) fn open(&self) -> Vec<OpenIntent> {
        let mut open: Vec<OpenIntent> = self.of_calls.values().flatten().cloned().collect();
        open.sort_by_key(|open| open.entry["seq"].as_u64());
        open
    }
}
