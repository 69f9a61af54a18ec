//! Tool calls that change something, the states before and after them, and what must be true
//! in whichever way they end.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::BufReader;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use rootbound::{AuditLog, Session};
use rustix::fs::XattrFlags;
use serde_json::Value;

use crate::hostile::component;
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};
use crate::support::tree::{Holds, tree};

/// A tool call, and what it finds.
pub struct Scenario {
    pub name: &'static str,
    tool: &'static str,
    arguments: &'static str,
    /// Whether the tool is one of the hostile component.
    foreign: bool,
    options: &'static [&'static str],
}

const fn ours(name: &'static str, tool: &'static str, arguments: &'static str) -> Scenario {
    Scenario {
        name,
        tool,
        arguments,
        foreign: false,
        options: &[],
    }
}

pub const CREATION: Scenario = ours(
    "a creation in new directories",
    "write_file",
    r#"{"path": "made/inside/new.md", "content": "the new file"}"#,
);
pub const DIRECTORIES: Scenario = ours(
    "new directories",
    "create_directory",
    r#"{"dir_path": "made/inside"}"#,
);
pub const REPLACEMENT: Scenario = ours(
    "a replacement",
    "write_file",
    r#"{"path": "report.md", "content": "the new report"}"#,
);
pub const FAST_REPLACEMENT: Scenario = Scenario {
    name: "a replacement without syncing",
    options: &["--durability", "fast"],
    ..REPLACEMENT
};
pub const DELETION: Scenario = ours("a deletion", "delete_file", r#"{"path": "done/old.md"}"#);
pub const TREE: Scenario = ours(
    "a recursive deletion",
    "delete_file",
    r#"{"path": "done", "recursive": true}"#,
);
pub const APPENDING: Scenario = ours(
    "a change of a copy",
    "append_file",
    r#"{"path": "report.md", "content": ", and what was appended"}"#,
);
pub const RENAME: Scenario = ours(
    "a rename into a new directory",
    "move_file",
    r#"{"from": "done/old.md", "to": "made/new.md"}"#,
);
pub const RENAME_OVER: Scenario = ours(
    "a rename over another file",
    "move_file",
    r#"{"from": "done/old.md", "to": "report.md", "overwrite": true}"#,
);
/// A new file, a replacement, the deletion of a file and of a directory, and a rename.
pub const EVERYTHING: Scenario = Scenario {
    name: "a change of each kind",
    tool: "destroy_without_an_approver",
    arguments: "{}",
    foreign: true,
    options: &[],
};

impl Scenario {
    /// Whether a run takes so long that the sample is a smaller one: the component is compiled
    /// in each.
    pub fn is_slow(&self) -> bool {
        self.foreign
    }
}

/// Names below the write root, with what they hold and their modes.
pub type State = BTreeMap<String, (Holds, u32)>;

/// Directories, a log and a state directory for one run of a scenario.
pub struct Desk {
    pub fixture: Fixture,
    pub cli: Cli,
    scenario: &'static Scenario,
}

impl Desk {
    pub fn new(scenario: &'static Scenario) -> Self {
        let fixture = Fixture::new();
        let report = fixture.work("report.md", "the report");
        for file in ["done/old.md", "done/inner/x.md", "done/inner/y.md"] {
            fixture.work(file, file);
        }
        fs::create_dir(fixture.workspace().join("empty")).unwrap();
        // Whoever runs the tests: a checkout is something to warn the operator about.
        fs::create_dir(fixture.workspace().join(".git")).unwrap();
        // So that there are attributes to keep.
        fs::set_permissions(&report, Permissions::from_mode(0o640)).unwrap();
        chown(&report, Some(65534), Some(65534)).unwrap();
        rustix::fs::setxattr(&report, "user.origin", b"here", XattrFlags::empty()).unwrap();
        let cli = Cli::new();
        if scenario.foreign {
            fs::write(fixture.base().join("foreign.wasm"), component::bytes()).unwrap();
        }
        Self {
            fixture,
            cli,
            scenario,
        }
    }

    /// The call, as a user starts it.
    pub fn command(&self) -> Command {
        let Scenario {
            tool,
            arguments,
            foreign,
            options,
            ..
        } = self.scenario;
        let mut command = self.cli.command(["call", *tool, *arguments]);
        command.args(["--overwrite", "allow", "--delete", "allow", "--no-landlock"]);
        command.args(*options);
        command.arg("--read").arg(self.fixture.inputs());
        command.arg("--work").arg(self.fixture.workspace());
        command.arg("--audit").arg(self.log());
        if *foreign {
            command.arg("--component");
            command.arg(self.fixture.base().join("foreign.wasm"));
        }
        command
    }

    pub fn log(&self) -> PathBuf {
        self.fixture.base().join("audit.jsonl")
    }

    pub fn state(&self) -> State {
        let nodes = tree(&self.fixture.workspace()).into_iter();
        nodes
            .map(|(path, node)| (path, (node.holds, node.mode)))
            .collect()
    }

    fn state_directory(&self) -> PathBuf {
        self.cli.state().join("rootbound")
    }

    pub fn journals(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.state_directory().join("staging")) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// What a start of the program does besides starting: clearing what the dead left.
    pub fn start_again(&self) {
        Session::builder()
            .state_directory(self.state_directory())
            .audit(AuditLog::none())
            .build()
            .unwrap();
    }

    /// The entries of the log, which must be whole.
    pub fn entries(&self) -> Vec<Value> {
        let file = fs::File::open(self.log()).unwrap();
        rootbound::verify_log(BufReader::new(file), None).unwrap();
        let text = fs::read_to_string(self.log()).unwrap();
        let entry = |line| serde_json::from_str(line).unwrap();
        text.lines().map(entry).collect()
    }
}

/// The state before a scenario, the state after it, and the changes between them in order.
pub struct Story {
    pub old: State,
    pub new: State,
    effects: Vec<Value>,
}

impl Story {
    /// Of a call that succeeded.
    pub fn of(old: State, desk: &Desk, run: &Run) -> Self {
        let receipt = run.success()["receipt"].clone();
        Self {
            old,
            new: desk.state(),
            effects: receipt["effects"].as_array().unwrap().clone(),
        }
    }

    /// The old state with some of the changes made.
    fn with(&self, effects: &[Value]) -> State {
        let mut state = self.old.clone();
        for effect in effects {
            for name in ["path", "to_path"] {
                let Some(path) = effect[name].as_str() else {
                    continue;
                };
                let inside = format!("{path}/");
                state.retain(|other, _| other != path && !other.starts_with(&inside));
                if let Some(node) = self.new.get(path) {
                    state.insert(path.to_owned(), node.clone());
                }
            }
        }
        state
    }

    /// The states that a killed call may leave behind, each with how many of the changes
    /// were made: those before some point, and the directories that they need.
    fn prefixes(&self) -> Vec<(usize, State)> {
        let (directories, changes): (Vec<_>, Vec<_>) = (self.effects.iter().cloned())
            .partition(|effect| effect["operation"] == "create-directory");
        let mut prefixes = vec![(0, self.old.clone())];
        if changes.is_empty() {
            prefixes.push((0, self.new.clone()));
        }
        for made in 1..=changes.len() {
            let effects = [&directories[..], &changes[..made]].concat();
            prefixes.push((made, self.with(&effects)));
        }
        prefixes
    }
}

/// Whether one effect of an answer says what is there now.
fn assert_true(effect: &Value, desk: &Desk, what: &str) {
    let root = desk.fixture.workspace();
    let path = root.join(effect["path"].as_str().unwrap());
    match effect["operation"].as_str().unwrap() {
        "create" | "replace" | "change" => assert_eq!(effect["sha256"], sha256(&path), "{what}"),
        "create-directory" => assert!(path.is_dir(), "{what}"),
        "delete" => assert!(!path.exists(), "{what}"),
        "rename" => {
            let to = root.join(effect["to_path"].as_str().unwrap());
            assert!(!path.exists() && to.exists(), "{what}");
        }
        "delete-tree" => {}
        other => panic!("{other}: {what}"),
    }
}

fn sha256(file: &Path) -> String {
    crate::support::sha256(fs::read(file).unwrap())
}

fn files_in(state: &State) -> u64 {
    let is_file = |node: &&(Holds, u32)| matches!(node.0, Holds::File(_));
    state.values().filter(is_file).count() as u64
}

/// What no change is about. The hostile component goes on when something fails, and calls it
/// a success: what it did not get to is not in the receipt either.
fn untouched<'a>(state: &'a State, done: &[Value]) -> Vec<(&'a String, &'a (Holds, u32))> {
    let is_about = |path: &String| {
        let named = |name: &str| done.iter().any(|effect| effect[name] == **path);
        named("path") || named("to_path")
    };
    state.iter().filter(|(path, _)| !is_about(path)).collect()
}

/// Holds a call that ended by itself to what it answered.
pub fn judge_answer(desk: &Desk, story: &Story, run: &Run, what: &str) {
    assert!(matches!(run.status, Some(0 | 1)), "{what}: {run:?}");
    let answer = run.json();
    let (done, code) = match run.status {
        Some(0) => (answer["receipt"]["effects"].clone(), None),
        _ => (
            answer["error"]["committed"].clone(),
            answer["error"]["code"].as_str(),
        ),
    };
    if let Some(code) = code {
        let known = ["io", "no-space", "audit-unavailable"];
        assert!(known.contains(&code), "{what}: {answer}");
        assert_ne!(answer["error"]["hint"], "", "{what}: {answer}");
        let text = answer.to_string();
        let base = desk.fixture.base().to_str().unwrap();
        assert!(!text.contains(base), "{what}: {answer}");
    }
    let done: Vec<Value> = serde_json::from_value(done).unwrap_or_default();
    desk.start_again();
    let now = desk.state();
    for effect in &done {
        assert_true(effect, desk, what);
    }
    match done
        .iter()
        .find(|effect| effect["operation"] == "delete-tree")
    {
        // What is not gone is as it was; and as many are gone as the answer says.
        Some(deleted) => {
            assert!(
                now.iter()
                    .all(|(path, node)| story.old.get(path) == Some(node))
            );
            let gone = files_in(&story.old) - files_in(&now);
            assert_eq!(deleted["files"], gone, "{what}: {answer}");
        }
        None if desk.scenario.foreign => {
            let (other, others) = (untouched(&now, &done), untouched(&story.old, &done));
            assert_eq!(other, others, "{what}: {answer}");
        }
        None => assert_eq!(now, story.with(&done), "{what}: {answer}"),
    }
    if code.is_none() && !desk.scenario.foreign {
        assert_eq!(now, story.new, "{what}");
    }
    assert_cleared(desk, what);
    assert_log_agrees(desk, &done, code, what);
}

/// Every change that the answer lists has its intent and its outcome, unless the log could
/// not be written any more; and no other has.
fn assert_log_agrees(desk: &Desk, done: &[Value], code: Option<&str>, what: &str) {
    let entries = desk.entries();
    let of = |kind: &str, effect: &Value| {
        let is_of = |entry: &&Value| {
            entry["kind"] == kind
                && entry["operation"] == effect["operation"]
                && entry["path"] == effect["path"]
        };
        entries.iter().find(is_of)
    };
    let partial = |entry: &Value| entry["reason"] == "partial";
    for effect in done {
        assert!(of("intent", effect).is_some(), "{what}: {effect}");
        if code != Some("audit-unavailable") {
            let outcome = of("outcome", effect).unwrap();
            assert!(
                outcome["outcome"] == "ok" || partial(outcome),
                "{what}: {outcome}"
            );
        }
    }
    let changes = (entries.iter()).filter(|entry| entry["operation"] != "create-directory");
    let made = changes
        .filter(|entry| entry["kind"] == "outcome" && entry["outcome"] == "ok")
        .count();
    let listed = (done.iter()).filter(|effect| effect["operation"] != "create-directory");
    assert!(made <= listed.count(), "{what}");
    let ended = entries.last().unwrap();
    if ended["kind"] == "call" {
        assert_eq!(ended["code"].as_str(), code, "{what}");
    } else {
        assert_eq!(code, Some("audit-unavailable"), "{what}: {ended}");
    }
}

/// Holds what a killed call left to what may be left. Answers how many changes were made.
pub fn judge_remains(desk: &Desk, story: &Story, what: &str) -> usize {
    desk.start_again();
    let now = desk.state();
    assert_cleared(desk, what);
    let entries = desk.entries();
    let count = |kind: &str| {
        let change =
            |entry: &&Value| entry["kind"] == kind && entry["operation"] != "create-directory";
        entries.iter().filter(change).count()
    };
    if (story.effects.iter()).any(|effect| effect["operation"] == "delete-tree") {
        assert!(
            now.iter()
                .all(|(path, node)| story.old.get(path) == Some(node)),
            "{what}"
        );
        assert!(now == story.old || count("intent") == 1, "{what}");
        assert!(now == story.new || count("outcome") == 0, "{what}");
        return usize::from(now == story.new);
    }
    let prefixes = story.prefixes();
    let prefix = prefixes.iter().find(|(_, state)| *state == now);
    let (made, _) = prefix.unwrap_or_else(|| panic!("{what}: neither old nor new: {now:#?}"));
    assert!(
        count("outcome") <= *made && *made <= count("intent"),
        "{what}"
    );
    *made
}

/// Nothing is left of the staging, neither names nor journals.
fn assert_cleared(desk: &Desk, what: &str) {
    let staged = desk
        .state()
        .into_keys()
        .find(|path| path.contains(".rootbound-"));
    assert_eq!(staged, None, "{what}");
    assert_eq!(desk.journals(), [""; 0].map(PathBuf::from), "{what}");
}
