//! What a row demands of an argument, and what an answer must leave behind.

use serde_json::Value;

use super::answer;
use super::layout::Layout;
use super::table::{ABSOLUTE_ROOT, Row};
use super::uses::{USES, Use, looks};

/// What stands in the files outside; it must never be seen.
const CANARY: &str = "secret";
/// Refusals of the path as text: no tool and no argument takes it.
const SPELLINGS: &[&str] = &[
    "absolute",
    "backslash",
    "control",
    "empty",
    "home",
    "nul",
    "reserved",
    "too-long",
    "traversal",
    "unc",
    "windows-device",
    "windows-drive",
    "windows-stream",
];

/// What is wrong with one row.
pub struct Complaints {
    row: String,
    pub lines: Vec<String>,
}

impl Complaints {
    pub fn of(row: &Row) -> Self {
        let path: String = row.path.chars().take(60).collect();
        Self {
            row: format!("{} {} {path:?} in `{}`", row.id, row.operation, row.setup),
            lines: Vec::new(),
        }
    }

    pub fn unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.lines.push(format!("{}: {}", self.row, what()));
        }
    }
}

/// What the operator allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Overwriting and deleting, so that nothing hides the decision about the path.
    Everything,
    /// The same, and the names of other systems.
    AnyNames,
    /// Neither: what confinement refuses is refused all the same.
    Defaults,
}

/// How much a row says about an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// One of its answers.
    AsTheRowSays,
    /// No success, but for the deletion of a link by its own name.
    NoWayOut,
    /// Any answer: the row is about another operation. The tree and the log are looked at.
    AnythingInside,
}

impl Demand {
    pub fn of(row: &Row, one: &Use) -> Self {
        if one.operation == row.operation {
            return Self::AsTheRowSays;
        }
        let row_looks = USES
            .iter()
            .filter(|other| other.operation == row.operation)
            .all(looks);
        let reason = row.answers[0].strip_prefix("invalid-path:");
        let spelling = reason.is_some_and(|reason| SPELLINGS.contains(&reason));
        let escape = matches!(row.answers[0], "escape" | "pattern-denied");
        // What ends in a slash is refused earlier where a file is meant.
        let may_name_a_file = !row.path.ends_with('/');
        match (spelling, escape) {
            (true, _) if row_looks || !looks(one) => Self::AsTheRowSays,
            (_, true) if row_looks && looks(one) && may_name_a_file => Self::AsTheRowSays,
            (_, true) => Self::NoWayOut,
            _ => Self::AnythingInside,
        }
    }
}

/// Whether the answer is what the row demands.
pub fn is_right(row: &Row, one: &Use, policy: Policy, answer: &str) -> bool {
    match Demand::of(row, one) {
        Demand::AsTheRowSays => {
            row.answers.contains(&answer)
                || (opens_the_file(row) && one.own_codes.contains(&answer))
                || (policy == Policy::Defaults && is_denied_by_default(row, one, answer))
        }
        Demand::NoWayOut => !answer.starts_with("ok") || deletes(one),
        Demand::AnythingInside => true,
    }
}

/// A deletion takes the link itself, wherever it leads.
fn deletes(one: &Use) -> bool {
    one.operation.starts_with("delete")
}

/// A tool may find fault with what is in a file that it was let open.
fn opens_the_file(row: &Row) -> bool {
    let opens = |answer: &&str| *answer == "ok" || answer.starts_with("limit-exceeded");
    row.answers.iter().any(opens)
}

/// Under the defaults nothing that exists is changed or deleted.
fn is_denied_by_default(row: &Row, one: &Use, answer: &str) -> bool {
    let changes = |answer: &&str| matches!(*answer, "ok" | "hard-link");
    match answer {
        "overwrite-denied" => row.answers.iter().any(changes),
        "approval-required" => deletes(one) && row.answers.iter().any(changes),
        _ => false,
    }
}

/// Exactly one `refusal` with code and reason where the guard said no, none otherwise; and
/// one `call`. A walk goes on where it meets with a refusal, so one that succeeds may leave
/// some.
pub fn check_log(entries: &[Value], answer: &str, one: &Use, complaints: &mut Complaints) {
    let name = one.name();
    let of_kind = |kind: &'static str| entries.iter().filter(move |entry| entry["kind"] == kind);
    let calls = of_kind("call").count();
    complaints.unless(calls == 1, || format!("{name} left {calls} `call` entries"));
    let refusals: Vec<String> = of_kind("refusal")
        .map(|entry| {
            let code = entry["code"].as_str().unwrap_or_default();
            answer::of_error(code, entry["reason"].as_str(), None)
        })
        .collect();
    // A limit's name is in the answer only.
    let limit = answer
        .starts_with("limit-exceeded:")
        .then_some("limit-exceeded");
    let refused = answer::is_refusal(answer).then_some(limit.unwrap_or(answer));
    let went_on = one.walks() && answer.starts_with("ok");
    complaints.unless(went_on || refusals == Vec::from_iter(refused), || {
        format!("{name} answered {answer} and left the refusals {refusals:?}")
    });
    for entry in of_kind("refusal") {
        let says = |key: &str| entry[key].is_string();
        complaints.unless(
            ["tool", "operation", "root", "path"].into_iter().all(says),
            || format!("{name} left a refusal that does not say of what: {entry}"),
        );
    }
}

/// Nothing that lies outside, and no path of the host, comes out in an answer or the log.
pub fn check_silence(
    row: &Row,
    layout: &Layout,
    said: &str,
    name: &str,
    complaints: &mut Complaints,
) {
    // Another name of a file is that file; nobody can see where it was first.
    let aliased = row.setup.contains("== ../OUT");
    // The hint names an option of the operator's.
    let shown = said.replace("--protect-secrets", "");
    complaints.unless(aliased || !shown.contains(CANARY), || {
        format!("{name} tells what lies outside: {said}")
    });
    let base = layout.base().to_str().unwrap();
    let given = row.path.contains(ABSOLUTE_ROOT);
    complaints.unless(given || !said.contains(base), || {
        format!("{name} tells a path of the host: {said}")
    });
}
