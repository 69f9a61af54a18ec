//! Which intents of a log have no outcome: what a killed process was about to do.

use std::collections::HashMap;

use serde_json::Value;

/// What tells the changes of one call apart.
const IDENTITY: [&str; 5] = ["operation", "root", "path", "to_root", "to_path"];

/// An intent that was not followed by its outcome.
#[derive(Clone, Debug)]
pub(super) struct OpenIntent {
    pub(super) line: u64,
    pub(super) entry: Value,
    /// Whether its outcome is there after all, but may have been taken back by whoever
    /// cleared up: a directory of a call that did not end.
    pub(super) made: bool,
}

/// The intents of all calls that have not ended yet, as the entries go by.
#[derive(Debug, Default)]
pub(super) struct Intents(HashMap<String, Vec<OpenIntent>>);

impl Intents {
    pub(super) fn follow(&mut self, line: u64, entry: &Value) {
        let Some(call) = entry["call"].as_str() else {
            return;
        };
        match entry["kind"].as_str() {
            Some("intent") => {
                let entry = entry.clone();
                let made = false;
                let open = OpenIntent { line, entry, made };
                self.0.entry(call.to_owned()).or_default().push(open);
            }
            Some("outcome") => self.settle(call, entry),
            Some("call") => self.end(call),
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn settle(&mut self, call: &str, outcome: &Value) {
        let Some(open) = self.0.get_mut(call) else {
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
            self.0.remove(call);
        }
    }

    /// A call has ended: what it made stays made.
    fn end(&mut self, call: &str) {
        if let Some(open) = self.0.get_mut(call) {
            open.retain(|open| !open.made);
            if open.is_empty() {
                self.0.remove(call);
            }
        }
    }

    /// Everything that is open, in the order of the log.
    pub(super) fn open(&self) -> Vec<OpenIntent> {
        let mut open: Vec<OpenIntent> = self.0.values().flatten().cloned().collect();
        open.sort_by_key(|open| open.entry["seq"].as_u64());
        open
    }
}
