//! One row, tried: unguarded first, then under the host.

use rootbound::{CallError, Durability, Output};
use serde_json::{Value, json};

use super::component;
use super::layout::{Tree, lay_out, open_below};
use super::ledger::{agree, counted, in_words};
use super::row::{Answer, Row, Unguarded};
use super::unguarded::{self, Ending};
use crate::support::{Fixture, Recorded};

/// The most that one call may write to the audit log, whatever the guest does: the paths of
/// its accesses, 16 MiB of them, and what stands around them.
const MAX_LOG: usize = 24 << 20;

/// A row and what it is tried in.
pub struct Trial<'a> {
    row: &'a Row,
    complaints: Vec<String>,
}

impl<'a> Trial<'a> {
    pub fn of(row: &'a Row) -> Self {
        let complaints = Vec::new();
        Self { row, complaints }
    }

    /// Everything that is not as the row says.
    pub fn complaints(mut self) -> Vec<String> {
        self.try_unguarded();
        self.try_guarded();
        self.complaints
    }

    fn complain(&mut self, complaint: String) {
        let Row {
            attack, arguments, ..
        } = self.row;
        self.complaints
            .push(format!("{attack} {arguments}: {complaint}"));
    }

    fn try_unguarded(&mut self) {
        let expected = self.row.unguarded;
        if matches!(expected, Unguarded::NotShown(_)) {
            return;
        }
        let fixture = lay_out(self.row);
        let before = Tree::of(fixture.base());
        let preopens = self.row.grants.preopens(&fixture);
        let ending = unguarded::attack(self.row.attack, self.row.arguments, &preopens);
        let changes = before.changes(&Tree::of(fixture.base()));
        let works = works(self.row, &ending) || !agree(self.row.leaves, &changes);
        if works != matches!(expected, Unguarded::Works) {
            let said = if works { "works" } else { "is stopped" };
            self.complain(format!(
                "unguarded it {said}: {} {changes:?}",
                describe(&ending)
            ));
        }
    }

    fn try_guarded(&mut self) {
        let row = self.row;
        let fixture = lay_out(row);
        let before = Tree::of(fixture.base());
        let builder = (row.policy)(row.grants.session(&fixture));
        let builder = builder.durability(Durability::Fast);
        let recorded = Recorded::build(builder.component(component::compiled()));
        let answer = recorded.session.call(row.attack, row.arguments);
        self.compare_answer(&answer);
        self.compare_log(&recorded, &answer);
        let held = open_below(fixture.base());
        if held.len() != 2 {
            self.complain(format!(
                "only the roots may be open after the call: {held:?}"
            ));
        }
        drop(recorded);
        let changes = before.changes(&Tree::of(fixture.base()));
        if !agree(row.leaves, &changes) {
            self.complain(format!("it leaves {changes:?}"));
        }
        self.try_a_good_call(&fixture);
    }

    fn compare_answer(&mut self, answer: &Result<Output, CallError>) {
        let (expected, found) = (expected(self.row.answer), answer_in_words(answer));
        if expected != found {
            self.complain(format!("it answers {found}"));
        }
    }

    fn compare_log(&mut self, recorded: &Recorded, answer: &Result<Output, CallError>) {
        let entries = recorded.entries();
        let lines = in_words(&entries);
        if !agree(self.row.audit, &lines) {
            let lines = counted(&lines);
            let first: Vec<_> = lines.iter().take(20).map(|line| clipped(line)).collect();
            self.complain(format!("the log says {first:#?}"));
        }
        let size: usize = recorded.lines().iter().map(String::len).sum();
        if size > MAX_LOG {
            self.complain(format!("the log grew by {size} bytes"));
        }
        let receipt = receipt(answer);
        // The receipt of a file that may not be read says neither its size nor its hash.
        let hides = |change: &str| receipt.contains(&format!("change {change} None"));
        if receipt != made(&entries, hides) {
            self.complain("the receipt is not what the log says was made".to_owned());
        }
    }

    /// The host is well, and a component that is not hostile works.
    fn try_a_good_call(&mut self, fixture: &Fixture) {
        let arguments = json!({"path": "notes.md"});
        match fixture.session().call("read_file", arguments) {
            Ok(output) if output.text() == Some("the notes\n") => {}
            other => self.complain(format!("a good call after it: {other:?}")),
        }
    }
}

/// Whether an attack got more than its row concedes.
pub fn works(row: &Row, ending: &Ending) -> bool {
    let Ending::Answered(answer) = ending else {
        return matches!(ending, Ending::StillRunning);
    };
    let Ok(output) = answer else {
        return true;
    };
    let Ok(report) = serde_json::from_str::<Value>(&output.fields) else {
        return true;
    };
    let conceded = match row.answer {
        Answer::Counted(amount, _) => amount,
        Answer::Error(_) => return true,
        _ => 0,
    };
    report["gained"] != json!([]) || report["amount"].as_u64() > Some(conceded)
}

fn describe(ending: &Ending) -> String {
    match ending {
        Ending::Answered(Ok(output)) => clipped(&output.fields),
        Ending::Answered(Err(_)) => "it answers a failure".to_owned(),
        Ending::Trapped(why) => why.clone(),
        Ending::StillRunning => "it is still running".to_owned(),
    }
}

/// How an answer has to read.
fn expected(answer: Answer) -> String {
    match answer {
        Answer::Error(text) | Answer::Fields(text) => text.to_owned(),
        Answer::Stopped(stops) => report(0, stops),
        Answer::Counted(amount, stops) => report(amount, stops),
    }
}

fn report(amount: u64, stops: &[&str]) -> String {
    format!(
        "nothing gained, {amount} counted, stopped by {}",
        stops.join(", ")
    )
}

/// How it reads.
fn answer_in_words(answer: &Result<Output, CallError>) -> String {
    let output = match answer {
        Ok(output) => output,
        Err(error) => {
            return match error.reason() {
                Some(reason) => format!("{}/{reason}", error.code()),
                None => error.code().to_owned(),
            };
        }
    };
    let fields = output.fields();
    let (Some(gained), Some(stopped)) = (fields.get("gained"), fields.get("stopped")) else {
        return clipped(output.fields_json());
    };
    let stops: Vec<String> = serde_json::from_value(stopped.clone()).unwrap();
    let stops = counted(&sorted(stops));
    let stops: Vec<&str> = stops.iter().map(String::as_str).collect();
    let amount = fields["amount"].as_u64().unwrap();
    match gained.as_array().is_some_and(Vec::is_empty) {
        true => report(amount, &stops),
        false => format!("{gained} gained, {}", report(amount, &stops)),
    }
}

/// What the host says it made.
fn receipt(answer: &Result<Output, CallError>) -> Vec<String> {
    let effects = match answer {
        Ok(output) => output.receipt().map(|receipt| receipt.effects.clone()),
        Err(_) => None,
    };
    let describe = |effect: &rootbound::EffectReceipt| {
        let operation = effect.operation.as_str();
        format!(
            "{operation} {}:{} {:?}",
            effect.root, effect.path, effect.sha256
        )
    };
    sorted(effects.unwrap_or_default().iter().map(describe))
}

/// What the log says was made and not undone.
fn made(entries: &[Value], hides: impl Fn(&str) -> bool) -> Vec<String> {
    let mut made = Vec::new();
    for entry in entries.iter().filter(|entry| entry["kind"] == "outcome") {
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        let hidden =
            text("operation") == "change" && hides(&format!("{}:{}", text("root"), text("path")));
        let sha256 = entry["sha256_after"].as_str().filter(|_| !hidden);
        let change = format!(
            "{} {}:{} {sha256:?}",
            text("operation"),
            text("root"),
            text("path")
        );
        match text("outcome") {
            "ok" => made.push(change),
            "rolled-back" => made.retain(|other| *other != change),
            _ => {}
        }
    }
    sorted(made)
}

fn sorted(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.into_iter().collect();
    lines.sort();
    lines
}

fn clipped(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Fails with all complaints.
pub fn complain(complaints: &[String]) {
    assert!(
        complaints.is_empty(),
        "{} complaints:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}
