//! `rootbound check` and dry runs: what they tell is what a session would be, and nothing is left.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::components::guest;
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};
use crate::support::tree::{Tree, names, tree};

/// Options with `BASE` for the directory of a test, which has `inputs`, `outside` and
/// `workspace`, and in `outside` a log that a killed process left half a line in.
const OPTIONS: [&[&str]; 13] = [
    &["--read=BASE/inputs"],
    &["--work=BASE/new"],
    &["--work=BASE/new/deep/down"],
    &["--work=BASE/new/../other/./deep"],
    &["--session-dir=BASE/sessions"],
    &["--session-dir=BASE/workspace"],
    &["--session-dir=BASE/workspace", "--remove-session-dir"],
    &["--read=BASE/inputs", "--audit=BASE/outside/new.jsonl"],
    &["--read=BASE/inputs", "--audit=BASE/outside/torn.jsonl"],
    &[
        "--read=BASE/inputs",
        "--audit=BASE/outside/torn.jsonl",
        "--audit-key=BASE/outside/key",
    ],
    &["--work=BASE/new", "--approve=queue"],
    &["--work=BASE/new", "--audit=none"],
    &["--work=BASE/new", "--audit=stderr"],
];

struct Place {
    fixture: Fixture,
    cli: Cli,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            fixture: Fixture::new(),
            cli: Cli::new(),
        };
        let audit = "--audit=BASE/outside/torn.jsonl";
        assert_eq!(
            place.run(&["call", "list_files", "{}", audit]).status,
            Some(1)
        );
        let log = place.fixture.outside().join("torn.jsonl");
        let torn = fs::read_to_string(&log).unwrap() + "{\"half\":";
        fs::write(&log, torn).unwrap();
        assert_eq!(
            place.run(&["audit", "keygen", "BASE/outside/key"]).status,
            Some(0)
        );
        place
    }

    fn options(&self, options: &[&str]) -> Vec<String> {
        let base = self.fixture.base().to_str().unwrap();
        options.iter().map(|it| it.replace("BASE", base)).collect()
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.cli.run(self.options(arguments))
    }

    fn check(&self, options: &[&str]) -> Value {
        self.run(&[&["check", "--json"], options].concat())
            .success()
    }

    fn stands(&self) -> [Tree; 2] {
        [tree(self.fixture.base()), tree(self.cli.state())]
    }
}

#[test]
fn check_changes_nothing_on_the_disk() {
    for options in OPTIONS {
        let place = Place::new();
        let before = place.stands();
        for further in [
            &["check"][..],
            &["check", "--json", "--look-inside"],
            &["check", "--print-config"],
        ] {
            let run = place.run(&[further, options].concat());
            assert_eq!(run.status, Some(0), "{options:?}: {run:?}");
            assert!(!run.stderr.contains("genesis"), "{options:?}: {run:?}");
            assert_eq!(place.stands(), before, "{further:?} {options:?}");
        }
        // A session does change something.
        let call = [&["call", "list_files", "{}"], options].concat();
        let run = place.run(&call);
        let is_elsewhere = options.contains(&"--audit=stderr");
        assert!(place.stands() != before || is_elsewhere, "{run:?}");
    }
}

#[test]
fn check_leaves_the_cache_of_components_as_it_is() {
    let place = Place::new();
    let file = place.fixture.input("guest.wasm", guest::plain());
    let component = format!("--component={}", file.display());
    let before = place.stands();
    let run = place.run(&["check", &component]);
    assert_eq!(
        (run.status, run.stderr.contains("not kept")),
        (Some(0), false),
        "{run:?}"
    );
    assert_eq!(place.stands(), before);
    // A session keeps it, and there check finds it.
    place.run(&["tools", &component]);
    let kept = place.stands();
    assert!(kept != before);
    assert_eq!(place.run(&["check", &component]).status, Some(0));
    assert_eq!(place.stands(), kept);
}

/// What is said before the directories are there is said of a session that has them.
#[test]
fn check_tells_of_the_session_that_would_be() {
    for options in OPTIONS {
        let place = Place::new();
        let [before, after] = [place.check(options), {
            place.run(&[&["call", "list_files", "{}"], options].concat());
            place.check(options)
        }];
        for told in [
            "grants", "policy", "refused", "warnings", "audit", "landlock",
        ] {
            assert_eq!(before[told], after[told], "{options:?}: {told}");
        }
    }
}

#[test]
fn check_names_what_would_be_made() {
    let place = Place::new();
    #[rustfmt::skip]
    let rows: [(&str, &[&str]); 4] = [
        ("--work=BASE/new/deep",        &["deep", "deep"]),
        ("--work=BASE/workspace",       &[]),
        ("--session-dir=BASE/new",      &["session"]),
        ("--session-dir=BASE/workspace", &["session"]),
    ];
    for (option, made) in rows {
        let told = place.check(&[option]);
        let roots = told["roots"].as_array().unwrap().iter();
        let labels: Vec<&Value> = roots
            .filter(|root| root["to_be_made"] == true)
            .map(|root| &root["label"])
            .collect();
        assert_eq!(labels, made, "{option}");
        let text = place.run(&["check", option]).stdout;
        let lines = text.matches("not there yet: it would be made").count();
        assert_eq!(lines, made.len(), "{text}");
    }
    let told = place.check(&["--read=BASE/inputs"]);
    let directory = place.cli.state().join("rootbound/audit");
    assert_eq!(told["audit_log"]["file"], Value::Null);
    assert_eq!(told["audit_log"]["directory"], directory.to_str().unwrap());
    let text = place.run(&["check"]).stdout;
    assert!(
        text.contains(&format!("a new file in {}", directory.display())),
        "{text}"
    );
}

/// Directories that could not be granted once they are there are not made first.
#[test]
fn what_is_refused_is_refused_alike_by_check_and_leaves_nothing() {
    let place = Place::new();
    fs::write(place.fixture.base().join("file"), "").unwrap();
    std::os::unix::fs::symlink("nowhere", place.fixture.base().join("dangling")).unwrap();
    let state = format!("--work={}/rootbound/new", place.cli.state().display());
    let logs = format!("--work={}/rootbound/audit/new", place.cli.state().display());
    let cache = format!("--work={}/cache/rootbound/new", place.cli.state().display());
    #[rustfmt::skip]
    let rows: [(&[&str], i32, &str); 12] = [
        (&["--work=/etc/rootbound-test"],                        2, "`/etc` and what lies below it"),
        (&["--work=/proc/rootbound-test"],                       2, "`/proc` and what lies below it"),
        (&[&state],                                              2, "part of Rootbound's own state"),
        (&[&logs],                                               2, "part of Rootbound's own state"),
        (&[&cache],                                              2, "part of Rootbound's own state"),
        (&["--work=BASE/file"],                                  2, "os error 17"),
        (&["--work=BASE/file/new"],                              2, "os error 20"),
        (&["--work=BASE/dangling"],                              2, "os error 17"),
        (&["--work=BASE/new", "--audit=BASE/new/log"],           2, "it contains the audit log"),
        (&["--work=BASE/new", "--audit=BASE/new/deep/log"],      2, "it contains the audit log"),
        (&["--work=BASE/new", "--deny=BASE/new/x"],              2, "write `/x`"),
        (&["--session-dir=BASE/new", "--read=BASE"],             2, "other sessions"),
    ];
    let before = place.stands();
    for (options, status, words) in rows {
        for command in [&["check"][..], &["call", "list_files", "{}"]] {
            let run = place.run(&[command, options].concat());
            assert_eq!(run.status, Some(status), "{command:?} {options:?}: {run:?}");
            assert!(
                run.stderr.contains(words),
                "{command:?} {options:?}: {run:?}"
            );
            assert_eq!(place.stands(), before, "{command:?} {options:?}");
        }
    }
}

/// As somebody without any privilege: for root nothing is closed.
#[test]
fn what_could_not_be_made_is_refused_by_check_as_well() {
    let place = Place::new();
    let base = place.fixture.base().to_str().unwrap().to_owned();
    crate::support::cli::open_to_everyone(place.fixture.base());
    for options in [
        [format!("--work={base}/outside/new")],
        [format!("--session-dir={base}/outside/new")],
        [format!("--audit={base}/outside/new.jsonl")],
    ] {
        let before = place.stands();
        let told = [&["check"][..], &["call", "list_files", "{}"]].map(|command| {
            let mut command = place.cli.command_as_nobody(command);
            let run = Run::of(command.args(&options));
            (
                run.status,
                run.stderr.lines().next_back().map(str::to_owned),
            )
        });
        assert_eq!(told[0], told[1], "{options:?}");
        assert!(
            (told[0].1.as_ref())
                .is_some_and(|it| it.contains("denied") || it.contains("not permit")),
            "{told:?}"
        );
        assert_eq!(place.stands(), before, "{options:?}");
    }
}

/// A log that a session would not continue is refused by check, and stays as it is.
#[test]
fn check_looks_at_the_log_that_would_be_continued() {
    let place = Place::new();
    let log = place.fixture.outside().join("torn.jsonl");
    let whole = fs::read_to_string(&log).unwrap();
    let edited = whole.replace("list_files", "read_files");
    assert_ne!(whole, edited);
    fs::write(&log, edited).unwrap();
    for command in [&["check"][..], &["call", "list_files", "{}"]] {
        let before = place.stands();
        let run = place.run(&[command, &["--audit=BASE/outside/torn.jsonl"]].concat());
        assert_eq!(run.refusal()["code"], "audit-unavailable");
        assert_eq!(place.stands(), before);
    }
}

#[test]
fn a_dry_run_takes_away_the_directories_that_were_made_for_it() {
    let arguments = json!({ "path": "d/t", "content": "x" }).to_string();
    let rows = [
        "--work=BASE/new/deep",
        "--work=BASE/workspace",
        "--session-dir=BASE/new/base",
        "--session-dir=BASE/workspace",
    ];
    for option in rows {
        let place = Place::new();
        let call = ["call", "write_file", &arguments, option];
        let before = names(place.fixture.base());
        let dry = place.run(&[&call[..], &["--dry-run"]].concat()).success();
        assert_eq!(dry["dry_run"], true, "{option}: {dry}");
        assert!(
            dry["effects"].to_string().contains("d/t"),
            "{option}: {dry}"
        );
        assert_eq!(names(place.fixture.base()), before, "{option}");
        place.run(&call).success();
        assert_ne!(names(place.fixture.base()), before, "{option}");
    }
}

/// From wherever the program runs.
#[test]
fn relative_directories_are_taken_away_as_well() {
    let place = Place::new();
    let before = names(place.fixture.base());
    let arguments = json!({ "path": "t", "content": "x" }).to_string();
    for options in [
        ["--work", "new"],
        ["--work", "new/deep"],
        ["--session-dir", "new"],
        ["--session-dir", "new/deep"],
    ] {
        let call = ["call", "write_file", &arguments, "--dry-run"];
        for command in [&call[..], &["check", "--json"]] {
            let mut command = place.cli.command(command);
            command.current_dir(place.fixture.base()).args(options);
            Run::of(&mut command).success();
            assert_eq!(names(place.fixture.base()), before, "{options:?}");
        }
    }
}

/// What somebody else put there meanwhile stays: directories go only where they are empty.
#[test]
fn a_directory_that_others_use_by_then_is_not_taken_away() {
    use rootbound::{AuditLog, Session};
    let fixture = Fixture::new();
    let work = fixture.base().join("new/deep");
    let build = |work: &Path| {
        let builder = Session::builder().work_root(work).audit(AuditLog::none());
        builder.take_back_directories(true).build().unwrap()
    };
    let session = build(&work);
    fs::write(fixture.base().join("new/other"), "").unwrap();
    session.close().unwrap();
    assert_eq!(names(&fixture.base().join("new")), ["other"]);
    let session = build(&work);
    fs::write(work.join("t"), "").unwrap();
    drop(session);
    assert!(work.join("t").exists());
}
