//! What the sessions of a log did.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use rootbound::{Unsettled, escaped};
use serde_json::{Value, json};

/// What happened to a place, in the order in which a reader asks.
const DEEDS: [&str; 6] = ["read", "listed", "written", "deleted", "renamed", "refused"];

/// Places, and how often it happened there.
type Places = BTreeMap<String, u64>;

/// What one session did.
#[derive(Default)]
struct Story {
    calls: u64,
    deeds: BTreeMap<&'static str, Places>,
    /// Directories that were made, each with its call, which may take them back.
    made: BTreeSet<(String, String)>,
}

/// What each session did, in the order of the log.
#[derive(Default)]
pub(super) struct Summary(Vec<(String, Story)>);

impl Summary {
    pub(super) fn add(&mut self, entry: &Value) {
        let Some(session) = session_of(entry) else {
            return;
        };
        let at = match self.0.iter().rposition(|(id, _)| id == session) {
            Some(at) => at,
            None => {
                self.0.push((session.to_owned(), Story::default()));
                self.0.len() - 1
            }
        };
        self.0[at].1.add(entry);
    }

    /// One line for each session.
    pub(super) fn in_short(&self) -> String {
        let mut text = String::new();
        for (id, story) in &self.0 {
            let counts = DEEDS.map(|deed| format!("{} {deed}", story.count(deed)));
            let _ = writeln!(
                text,
                "session {}: {} calls; {}",
                escaped(id),
                story.calls,
                counts.join(", ")
            );
        }
        text
    }

    /// Every place, under what happened there.
    pub(super) fn in_full(&self) -> String {
        let mut text = String::new();
        for (id, story) in &self.0 {
            let _ = writeln!(text, "session {}: {} calls", escaped(id), story.calls);
            for deed in DEEDS {
                let places = story.deeds.get(deed).into_iter().flatten();
                for (place, times) in places {
                    let times = if *times == 1 {
                        String::new()
                    } else {
                        format!("  ({times} times)")
                    };
                    let place = escaped(place).replace('\t', "\\u{9}");
                    let _ = writeln!(text, "  {deed:<8}  {place}{times}");
                }
            }
        }
        text
    }

    pub(super) fn as_json(&self, unsettled: &[Unsettled]) -> Value {
        let sessions = self.0.iter().map(|(id, story)| {
            let mut session = json!({ "session": id, "calls": story.calls });
            for deed in DEEDS {
                session[deed] = json!(story.deeds.get(deed).cloned().unwrap_or_default());
            }
            session
        });
        json!({ "sessions": sessions.collect::<Value>(), "unsettled": unsettled.len() })
    }
}

/// The session that did what an entry tells: that of the call, where a later session tells what
/// became of it.
fn session_of(entry: &Value) -> Option<&str> {
    let call = entry["call"].as_str().filter(|_| entry["settles"].is_u64());
    let session = call.and_then(|call| call.rsplit_once('-'));
    session
        .map(|(session, _)| session)
        .or(entry["session"].as_str())
}

fn place_of(entry: &Value) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    format!("{}:{}", text("root"), text("path"))
}

fn made(outcome: &Value) -> (String, String) {
    let call = outcome["call"].as_str().unwrap_or_default();
    (call.to_owned(), place_of(outcome))
}

impl Story {
    fn add(&mut self, entry: &Value) {
        match entry["kind"].as_str() {
            Some("call") => self.calls += 1,
            Some("access") => match entry["objects"].as_array() {
                Some(objects) => objects.iter().for_each(|object| self.add_access(object)),
                None => self.add_access(entry),
            },
            Some("outcome") if entry["outcome"] == "ok" => self.add_change(entry),
            Some("outcome") if entry["outcome"] == "rolled-back" => self.take_back(entry),
            Some("outcome") if entry["reason"] == "partial" => self.note("deleted", entry),
            Some("refusal") => self.note("refused", entry),
            _ => {}
        }
    }

    fn add_access(&mut self, access: &Value) {
        match access["operation"].as_str() {
            Some("read") => self.note("read", access),
            Some("list") => self.note("listed", access),
            _ => {}
        }
    }

    fn add_change(&mut self, outcome: &Value) {
        match outcome["operation"].as_str() {
            Some("delete" | "delete-tree") => self.note("deleted", outcome),
            Some("rename") => self.note("renamed", outcome),
            operation => {
                if operation == Some("create-directory") {
                    self.made.insert(made(outcome));
                }
                self.note("written", outcome);
            }
        }
    }

    /// A directory of a call that came to nothing, or was a dry run, is gone again.
    fn take_back(&mut self, outcome: &Value) {
        let directory = made(outcome);
        let written = self.deeds.get_mut("written");
        if let Some(written) = written.filter(|_| self.made.remove(&directory))
            && let Some(times) = written.get_mut(&directory.1)
        {
            *times -= 1;
            if *times == 0 {
                written.remove(&directory.1);
            }
        }
    }

    fn note(&mut self, deed: &'static str, entry: &Value) {
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        let mut place = place_of(entry);
        if deed == "renamed" {
            place.push_str(&format!(" -> {}:{}", text("to_root"), text("to_path")));
        }
        if entry["reason"] == "partial" {
            place.push_str("  (in part)");
        }
        if deed == "refused" {
            place.push_str(&format!("  {} {}", text("operation"), text("code")));
        }
        *self
            .deeds
            .entry(deed)
            .or_default()
            .entry(place)
            .or_default() += 1;
    }

    /// How many places, and how many refusals: the same one again is another attempt.
    fn count(&self, deed: &str) -> u64 {
        let places = self.deeds.get(deed);
        places.map_or(0, |places| match deed {
            "refused" => places.values().sum(),
            _ => places.len() as u64,
        })
    }
}
