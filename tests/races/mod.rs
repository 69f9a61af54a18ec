//! Other processes that swap things while tools run.
//!
//! A thread exchanges a name between something harmless and a link that leads out, as fast
//! as it can, while every operation runs. What lies outside must stay as it is and must
//! never be read. In the same run a control that checks the path and then opens it must
//! lose: else the race was never run, and the test says so.
//!
//! `ROOTBOUND_RACE_SECONDS` makes each race longer; the default is for every run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rootbound::{ApprovalRequest, Consent, Decision, Durability};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::support::{Fixture, Recorded};

const SECRET: &str = "the canary";

/// One root both ways, a secret beside it, and a link to exchange for something inside.
fn arena() -> Fixture {
    let fixture = Fixture::new();
    fs::write(fixture.outside().join("f"), SECRET).unwrap();
    fixture.work("d/f", "harmless");
    fixture.work("f", "harmless");
    symlink("../outside", fixture.workspace().join("d-out")).unwrap();
    symlink("../outside/f", fixture.workspace().join("f-out")).unwrap();
    fixture
}

fn session(fixture: &Fixture) -> Recorded {
    Recorded::build(
        rootbound::Session::builder()
            .work_root(fixture.workspace())
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .durability(Durability::Fast),
    )
}

fn duration() -> Duration {
    let seconds = std::env::var("ROOTBOUND_RACE_SECONDS").ok();
    seconds.map_or(Duration::from_millis(1500), |text| {
        Duration::from_secs_f64(text.parse().unwrap())
    })
}

fn exchange(a: &Path, b: &Path) {
    let _ = renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE);
}

/// How long a race may go on until its control has lost.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `attack` over and over in one thread and `work` in this one, for a while and until
/// `work` says that the control has lost.
fn race(attack: impl Fn() + Send + Sync, mut work: impl FnMut() -> bool) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                attack();
            }
        });
        let start = Instant::now();
        while !work() || start.elapsed() < duration() {
            if start.elapsed() > PATIENCE {
                break;
            }
        }
        over.store(true, Ordering::Relaxed);
    });
}

/// What tools did before they held handles: look where the path leads, then open it.
fn check_then_open(root: &Path, path: &str) -> Option<String> {
    let real = fs::canonicalize(root.join(path)).ok()?;
    if !real.starts_with(fs::canonicalize(root).ok()?) {
        return None;
    }
    fs::read_to_string(root.join(path)).ok()
}

fn assert_untouched(fixture: &Fixture) {
    let names: Vec<_> = fs::read_dir(fixture.outside())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["f"], "something appeared outside");
    assert_eq!(
        fs::read_to_string(fixture.outside().join("f")).unwrap(),
        SECRET
    );
}

fn race_a_reader(name: &str, path: &str) {
    let fixture = arena();
    let recorded = session(&fixture);
    let root = fixture.workspace();
    let (inside, out) = (root.join(name), root.join(format!("{name}-out")));
    let (mut control_lost, mut served) = (false, 0);
    race(
        || exchange(&inside, &out),
        || {
            if check_then_open(&root, path).as_deref() == Some(SECRET) {
                control_lost = true;
            }
            if let Ok(output) = recorded.call("read_file", json!({"path": path})) {
                assert_eq!(output.text(), Some("harmless"));
                served += 1;
            }
            recorded.forget();
            control_lost && served > 0
        },
    );
    assert!(
        control_lost,
        "the control was never fooled, so this run proves nothing"
    );
    assert!(
        served > 0,
        "no read ever succeeded, so this run proves nothing"
    );
    assert_untouched(&fixture);
}

#[test]
fn a_file_swapped_for_a_link_is_never_read_through() {
    race_a_reader("f", "f");
}

#[test]
fn a_directory_swapped_for_a_link_is_never_read_through() {
    race_a_reader("d", "d/f");
}

/// What the operator's patterns deny lies in the same root, so that the kernel's walk does not
/// keep from it. A link leads there every other moment.
#[test]
fn a_link_swapped_for_one_to_what_is_denied_does_not_lead_there() {
    let fixture = Fixture::new();
    fixture.work("open/f", "harmless");
    fixture.work("private/f", SECRET);
    fixture.work("private/canary", "");
    let root = fixture.workspace();
    let (link, other) = (root.join("l"), root.join("l-private"));
    symlink("open", &link).unwrap();
    symlink("private", &other).unwrap();
    let recorded = Recorded::build(
        rootbound::Session::builder()
            .work_root(&root)
            .deny("/private")
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .durability(Durability::Fast),
    );
    let private = root.join("private");
    let judge_then_open = || {
        let real = fs::canonicalize(root.join("l/f")).ok()?;
        match real.starts_with(fs::canonicalize(&private).ok()?) {
            true => None,
            false => fs::read_to_string(root.join("l/f")).ok(),
        }
    };
    let (mut control_lost, mut served, mut written, mut round) = (false, 0, 0, 0_u64);
    race(
        || exchange(&link, &other),
        || {
            round += 1;
            for _ in 0..20 {
                control_lost |= judge_then_open().as_deref() == Some(SECRET);
            }
            if let Ok(output) = recorded.call("read_file", json!({ "path": "l/f" })) {
                assert_eq!(output.text(), Some("harmless"));
                served += 1;
            }
            if let Ok(listed) = recorded.call("list_files", json!({ "path": "l" })) {
                let listed = listed.fields();
                assert!(!format!("{listed:?}").contains("canary"), "{listed:?}");
            }
            let new = json!({ "path": format!("l/n{round}"), "content": "x" });
            written += u64::from(recorded.call("write_file", new).is_ok());
            let _ = recorded.call("delete_file", json!({ "path": format!("l/n{round}") }));
            let _ = recorded.call("delete_file", json!({ "path": "l/canary" }));
            recorded.forget();
            control_lost && served > 0 && written > 0
        },
    );
    assert!(
        control_lost && served > 0 && written > 0,
        "control {control_lost}, {served} read, {written} written: this run proves nothing"
    );
    assert_eq!(crate::support::tree::names(&private), ["canary", "f"]);
    assert_eq!(fs::read_to_string(private.join("f")).unwrap(), SECRET);
}

#[test]
fn changes_never_land_outside_while_directories_and_links_are_swapped() {
    let fixture = arena();
    let recorded = session(&fixture);
    let root = fixture.workspace();
    let pairs: [(PathBuf, PathBuf); 2] = [
        (root.join("d"), root.join("d-out")),
        (root.join("f"), root.join("f-out")),
    ];
    let (mut round, mut done) = (0_u64, 0_u64);
    let mut control_lost = false;
    race(
        || pairs.iter().for_each(|(inside, out)| exchange(inside, out)),
        || {
            round += 1;
            let attempts = [
                ("write_file", json!({"path": "d/f", "content": "ours"})),
                ("write_file", json!({"path": "f", "content": "ours"})),
                (
                    "create_file",
                    json!({"file_path": format!("d/n{round}"), "content": "x"}),
                ),
                (
                    "create_directory",
                    json!({"dir_path": format!("d/m{round}")}),
                ),
                ("delete_file", json!({"path": format!("d/n{round}")})),
                ("delete_file", json!({"path": format!("d/m{round}")})),
                ("list_files", json!({"path": "d"})),
                ("file_exists", json!({"path": "d/f"})),
            ];
            for (tool, arguments) in attempts {
                done += u64::from(recorded.call(tool, arguments).is_ok());
            }
            for _ in 0..20 {
                control_lost |= check_then_open(&root, "d/f").as_deref() == Some(SECRET);
            }
            recorded.forget();
            control_lost && done > 0
        },
    );
    assert!(
        control_lost,
        "the control was never fooled, so this run proves nothing"
    );
    assert!(
        done > 0,
        "no call ever succeeded, so this run proves nothing"
    );
    assert_untouched(&fixture);
}

/// A directory is deleted with what it holds while it is exchanged for a link: it is gone, or
/// the link is, or the caller hears that someone interfered.
#[test]
fn a_recursive_deletion_that_is_raced_is_a_conflict() {
    let fixture = arena();
    let recorded = session(&fixture);
    let root = fixture.workspace();
    let (inside, out) = (root.join("d"), root.join("d-out"));
    let (mut done, mut conflicts) = (0_u64, 0_u64);
    race(
        || exchange(&inside, &out),
        || {
            let arguments = json!({"path": "d", "recursive": true});
            match recorded.call("delete_file", arguments) {
                Ok(_) => done += 1,
                Err(error) if error.code() == "conflict" => conflicts += 1,
                // Between two rounds the name is missing for a moment.
                Err(error) => assert_eq!(error.code(), "not-found"),
            }
            recorded.forget();
            for path in [&inside, &out] {
                if fs::symlink_metadata(path).is_err() {
                    let directory = [&inside, &out]
                        .iter()
                        .any(|path| path.is_dir() && !path.is_symlink());
                    let _ = match directory {
                        true => symlink("../outside", path),
                        false => fs::create_dir(path),
                    };
                }
            }
            done > 0 && conflicts > 0
        },
    );
    assert!(
        done > 0 && conflicts > 0,
        "{done} done, {conflicts} conflicts: this run proves nothing"
    );
    assert_untouched(&fixture);
}

#[test]
fn a_directory_moved_out_and_back_takes_no_canary_with_it() {
    let fixture = arena();
    let recorded = session(&fixture);
    let root = fixture.workspace();
    let elsewhere = fixture.base().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let (home, away) = (root.join("d"), elsewhere.join("d"));
    race(
        || {
            let _ = fs::rename(&home, &away);
            let _ = fs::rename(&away, &home);
        },
        || {
            // Deeper than it is: when `d` stands elsewhere, `..` leads elsewhere too.
            for path in ["d/../f", "d/../../outside/f", "d/f"] {
                if let Ok(output) = recorded.call("read_file", json!({"path": path})) {
                    assert_eq!(output.text(), Some("harmless"), "{path}");
                }
            }
            let _ = recorded.call("write_file", json!({"path": "d/../new", "content": "x"}));
            let _ = recorded.call("delete_file", json!({"path": "d/../new"}));
            recorded.forget();
            true
        },
    );
    let _ = fs::rename(&away, &home);
    assert_untouched(&fixture);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_renamed_root_is_still_the_root() {
    let fixture = arena();
    let recorded = session(&fixture);
    fs::rename(fixture.workspace(), fixture.base().join("renamed")).unwrap();
    symlink("outside", fixture.workspace()).unwrap();
    let output = recorded.call("read_file", json!({"path": "f"})).unwrap();
    assert_eq!(output.text(), Some("harmless"));
    recorded
        .call("write_file", json!({"path": "n", "content": "x"}))
        .unwrap();
    assert!(fixture.base().join("renamed/n").exists());
    assert_untouched(&fixture);
}

/// What a process does while a person thinks about the question.
struct Meanwhile {
    what: &'static str,
    act: fn(&Path),
}

const MEANWHILE: [Meanwhile; 5] = [
    Meanwhile {
        what: "the file is exchanged for a link that leads out",
        act: |root| exchange(&root.join("d/f"), &root.join("f-out")),
    },
    Meanwhile {
        what: "the directory is exchanged for a link that leads out",
        act: |root| exchange(&root.join("d"), &root.join("d-out")),
    },
    Meanwhile {
        what: "the directory is moved out of the root",
        act: |root| fs::rename(root.join("d"), root.parent().unwrap().join("moved")).unwrap(),
    },
    Meanwhile {
        what: "the file is exchanged for another",
        act: |root| exchange(&root.join("d/f"), &root.join("f")),
    },
    Meanwhile {
        what: "the file is changed",
        act: |root| fs::write(root.join("d/f"), "someone else's").unwrap(),
    },
];

#[test]
fn what_happens_between_the_question_and_the_answer_is_a_conflict() {
    for meanwhile in &MEANWHILE {
        for (tool, arguments) in [
            ("write_file", json!({"path": "d/f", "content": "ours"})),
            ("delete_file", json!({"path": "d/f"})),
        ] {
            let fixture = arena();
            let root = fixture.workspace();
            let act = meanwhile.act;
            let approver_root = root.clone();
            let recorded = Recorded::build(
                rootbound::Session::builder()
                    .work_root(&root)
                    .overwrite(Consent::Ask)
                    .approver(move |_: &ApprovalRequest| {
                        act(&approver_root);
                        Decision::approve_once("test")
                    }),
            );
            let error = recorded.error(tool, arguments);
            assert_eq!(error.code(), "conflict", "{tool}: {}", meanwhile.what);
            assert_untouched(&fixture);
        }
    }
}
