//! The queue from another terminal: `rootbound approvals`.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{DESTRUCTIONS, destructible, is_untouched};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

/// A user with a workspace in which everything that destroys waits in the queue.
struct Desk {
    fixture: Fixture,
    cli: Cli,
}

impl Desk {
    fn new() -> Self {
        Self {
            fixture: destructible(),
            cli: Cli::new(),
        }
    }

    fn grants(&self) -> Vec<String> {
        let mut grants: Vec<String> = ["--overwrite", "ask", "--approve", "queue", "--work"]
            .map(str::to_owned)
            .into();
        grants.push(self.fixture.workspace().to_str().unwrap().to_owned());
        grants
    }

    fn call(&self, tool: &str, arguments: &Value) -> Run {
        self.cli.call(tool, arguments, self.grants())
    }

    fn delete(&self) -> Run {
        self.call("delete_file", &json!({"path": "a.txt"}))
    }

    /// Asks for a deletion and returns the id under which it waits.
    fn waiting(&self) -> String {
        id_of(&self.delete())
    }

    fn approvals(&self, arguments: &[&str]) -> Run {
        self.cli.run([&["approvals"], arguments].concat())
    }

    fn list(&self) -> Vec<Value> {
        let listed = self.approvals(&["list", "--json"]).success();
        listed["approvals"].as_array().unwrap().clone()
    }
}

fn id_of(run: &Run) -> String {
    let refusal = run.refusal();
    assert_eq!(refusal["code"], "approval-required", "{refusal}");
    refusal["approval"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_waits_is_approved_from_another_terminal_and_admitted_once() {
    for destruction in &DESTRUCTIONS {
        let desk = Desk::new();
        let call = || desk.call(destruction.tool, &(destruction.arguments)());
        let id = id_of(&call());
        assert!(is_untouched(&desk.fixture));

        let shown = desk.approvals(&["list"]).stdout;
        assert!(shown.contains(&format!("{id}  pending  {}", destruction.tool)));
        let approved = desk.approvals(&["approve", &id]);
        assert_eq!(approved.status, Some(0), "{approved:?}");
        assert!(approved.stdout.contains("approved"));

        let done = call().success();
        assert_eq!(done["receipt"]["effects"].as_array().unwrap().len(), 1);
        assert!(!is_untouched(&desk.fixture));
        assert!(desk.list().is_empty());
        assert_eq!(
            desk.approvals(&["list"]).stdout,
            "nothing waits for an approval\n"
        );
    }
}

/// The one tool that stands for all others says the id as well.
#[test]
fn what_the_single_tool_waits_for_can_be_approved() {
    let desk = Desk::new();
    let mut grants = desk.grants();
    grants.extend(["--toolset", "single"].map(str::to_owned));
    let delete = json!({ "operation": "delete", "path": "a.txt", "force": true });
    let call = || desk.cli.call("sandbox_filesystem", &delete, grants.clone());
    let refused = call();
    let failure = refused.json();
    assert_eq!(
        (refused.status, &failure["success"]),
        (Some(1), &json!(false))
    );
    let id = failure["error"]["approval"].as_str().unwrap();
    assert!(is_untouched(&desk.fixture));
    assert_eq!(desk.approvals(&["approve", id]).status, Some(0));
    assert_eq!(call().status, Some(0));
    assert!(!is_untouched(&desk.fixture));
}

/// Whatever else came into the directory, by whatever way.
#[test]
fn what_is_no_question_stops_no_queue() {
    let desk = Desk::new();
    let id = desk.waiting();
    let asked = desk.approvals(&["show", &id]).stdout;
    let queue = desk.cli.state().join("rootbound/approvals");
    assert!(queue.join(format!("{id}.json")).exists(), "the control");
    fs::create_dir(queue.join("0a.json")).unwrap();
    crate::support::pipe(&queue.join("0b.json"));
    assert_eq!(desk.list().len(), 1);
    assert_eq!(id_of(&desk.delete()), id);
    assert_eq!(
        desk.approvals(&["show", &id]).stdout.lines().next(),
        asked.lines().next()
    );
    assert_eq!(desk.approvals(&["approve", &id]).status, Some(0));
    desk.delete().success();
}

#[test]
fn a_denied_call_is_refused() {
    let desk = Desk::new();
    let id = desk.waiting();
    assert!(desk.approvals(&["deny", &id]).stdout.contains("denied"));
    assert_eq!(desk.delete().refusal()["code"], "approval-denied");
    assert!(is_untouched(&desk.fixture));
}

#[test]
fn a_yes_can_be_taken_back_and_a_no_is_final() {
    let desk = Desk::new();
    let id = desk.waiting();
    desk.approvals(&["approve", &id]);
    desk.approvals(&["deny", &id]);
    assert_eq!(desk.delete().refusal()["code"], "approval-denied");
    let late = desk.approvals(&["approve", &id]);
    assert_eq!((late.status, late.stdout.as_str()), (Some(1), ""));
    assert!(late.stderr.contains("was denied"), "{late:?}");
    assert_eq!(desk.approvals(&["deny", &id]).status, Some(0));
    assert_eq!(desk.delete().refusal()["code"], "approval-denied");
    assert!(is_untouched(&desk.fixture));
}

#[test]
fn a_question_is_shown_with_who_asks_and_what_the_content_becomes() {
    let desk = Desk::new();
    let content = format!("first\u{1b}[2J\n{}", "x".repeat(1000));
    let write = json!({"path": "a.txt", "content": content});
    let id = id_of(&desk.call("write_file", &write));
    let question = desk.approvals(&["show", &id, "--json"]).success();
    let user = format!("uid:{}", rustix::process::geteuid().as_raw());
    let session = question["session"].as_str().unwrap();
    assert_eq!(
        (session.len(), question["principal"].as_str()),
        (16, Some(user.as_str()))
    );
    let shown = desk.approvals(&["show", &id]).stdout;
    let hash = &crate::support::sha256(&content)[..16];
    for part in [
        format!("{id}  pending  write_file\n  for {user}, session {session}\n  expires in "),
        format!("digest {}", question["digest"].as_str().unwrap()),
        format!(
            "replace workspace:a.txt, 3 bytes become {}, sha256 {hash}…",
            content.len()
        ),
        "    -old\n".to_owned(),
        "    +first\\u{1b}[2J\n".to_owned(),
        "… 841 more letters".to_owned(),
    ] {
        assert!(shown.contains(&part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'));
    for wrong in ["", "0", "../x"] {
        let run = desk.approvals(&["show", "--", wrong]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""), "{run:?}");
    }
}

#[test]
fn what_is_listed_is_what_would_be_done() {
    let desk = Desk::new();
    let id = desk.waiting();
    let listed = desk.list();
    let [question] = &listed[..] else {
        panic!("{listed:?}");
    };
    assert_eq!(question["id"], id.as_str());
    assert_eq!(question["state"], "pending");
    assert_eq!(question["tool"], "delete_file");
    let exists = json!({"path": "a.txt"});
    let version = desk.call("file_exists", &exists).success()["version"].clone();
    let effect = format!(
        "delete workspace:a.txt, 3 bytes, version {}",
        version.as_str().unwrap()
    );
    assert_eq!(question["effects"], json!([effect]));
}

#[test]
fn an_id_that_is_none_is_refused() {
    let desk = Desk::new();
    let id = desk.waiting();
    let escaping = format!("../approvals/{id}");
    let longer = format!("{id}0");
    for wrong in [
        "",
        "0",
        "..",
        "*",
        &id[..19],
        &id.to_uppercase(),
        &escaping,
        &longer,
    ] {
        for answer in ["approve", "deny"] {
            let run = desk.approvals(&[answer, "--", wrong]);
            assert_eq!(run.status, Some(1), "{answer} {wrong:?}: {run:?}");
            assert_eq!(run.stdout, "");
        }
    }
    assert_eq!(desk.list()[0]["state"], "pending");
}

#[test]
fn a_name_in_the_list_cannot_draw_on_the_screen() {
    let desk = Desk::new();
    desk.fixture.work("safe\u{202e}txt.exe", "old");
    let delete = json!({"path": "safe\u{202e}txt.exe"});
    id_of(&desk.call("delete_file", &delete));
    let shown = desk.approvals(&["list"]).stdout;
    assert!(shown.contains("safe\\u{202e}txt.exe"), "{shown}");
    let json = desk.approvals(&["list", "--json"]).stdout;
    assert!(!json.contains('\u{202e}'), "{json}");
}

#[test]
fn a_queue_that_others_may_enter_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let id = desk.waiting();
    desk.approvals(&["approve", &id]);
    let queue = desk.cli.state().join("rootbound/approvals");
    fs::set_permissions(&queue, fs::Permissions::from_mode(0o755)).unwrap();
    for run in [
        desk.delete(),
        desk.approvals(&["list"]),
        desk.approvals(&["deny", &id]),
    ] {
        assert_eq!(run.status, Some(2), "{run:?}");
        assert_eq!(run.stdout, "");
    }
    assert!(is_untouched(&desk.fixture));
}

#[test]
fn a_root_that_holds_the_queue_does_not_start() {
    let desk = Desk::new();
    desk.waiting();
    let reach = |root: &std::path::Path| {
        let further = [
            "--approve".as_ref(),
            "queue".as_ref(),
            "--read".as_ref(),
            root.as_os_str(),
        ];
        desk.cli.call("list_files", &json!({}), further)
    };
    for below in ["rootbound/approvals", "rootbound", ""] {
        let run = reach(&desk.cli.state().join(below));
        assert_eq!(run.status, Some(2), "{below:?}: {run:?}");
        assert_eq!(run.stdout, "");
    }
    reach(&desk.fixture.inputs()).success();
}

#[test]
fn of_many_processes_that_use_one_approval_one_is_admitted() {
    const RACERS: usize = 6;
    let desk = Desk::new();
    let id = desk.waiting();
    // The caller's own expectation is checked after the question: whoever is admitted
    // answers `conflict`, and the file stays, so that all ask for the same effect.
    let arguments = json!({"path": "a.txt", "expected_version": "0".repeat(32)});
    for round in 0..5 {
        desk.approvals(&["approve", &id]);
        let start = || {
            let mut command = desk
                .cli
                .command(["call", "delete_file", &arguments.to_string()]);
            let command = command.args(desk.grants()).stdout(Stdio::piped());
            command.stderr(Stdio::null()).spawn().unwrap()
        };
        let racers: Vec<_> = (0..RACERS).map(|_| start()).collect();
        let code = |racer: std::process::Child| {
            let run = Run::from(racer.wait_with_output().unwrap());
            run.refusal()["code"].as_str().unwrap().to_owned()
        };
        let codes: Vec<String> = racers.into_iter().map(code).collect();
        let count = |wanted: &str| codes.iter().filter(|code| *code == wanted).count();
        assert_eq!(count("conflict"), 1, "round {round}: {codes:?}");
        assert_eq!(
            count("approval-required"),
            RACERS - 1,
            "round {round}: {codes:?}"
        );
    }
    assert!(is_untouched(&desk.fixture));
}

#[test]
fn approving_from_the_command_line_unseen_is_spelled_out() {
    let desk = Desk::new();
    let work = desk.fixture.workspace();
    let call = |approve: &str| {
        let further = [
            "--approve".as_ref(),
            approve.as_ref(),
            "--work".as_ref(),
            work.as_os_str(),
        ];
        desk.cli
            .call("delete_file", &json!({"path": "a.txt"}), further)
    };
    assert_eq!(call("deny").refusal()["code"], "approval-denied");
    assert!(is_untouched(&desk.fixture));
    call("allow").success();
    assert!(!is_untouched(&desk.fixture));
}
