//! What the next start clears: what a dead process left, all of it, and nothing else.

use std::fs;
use std::thread;
use std::time::Duration;

use rootbound::{AuditLog, Session};
use serde_json::json;

use super::desk::{DIRECTORIES, Desk, REPLACEMENT, Scenario};
use super::strace::{Fault, SystemCall, trace, trace_and};
use crate::support::Fixture;
use crate::support::mounts::Mount;
use crate::support::tree::names;

fn staged(desk: &Desk) -> Vec<String> {
    let names = desk.state().into_keys();
    names.filter(|path| path.contains(".rootbound-")).collect()
}

fn first(scenario: &'static Scenario, name: &str) -> SystemCall {
    let desk = Desk::new(scenario);
    let traced = trace(desk.command(), &desk.log(), None);
    traced.run.success();
    let mut calls = traced.calls.into_iter();
    calls.find(|call| call.name == name).unwrap()
}

/// Leaves a temporary name behind, with the journal that lists it.
fn kill_before_the_exchange(desk: &Desk) {
    let exchange = Fault::at("renameat", "signal=KILL", "1");
    let traced = trace(desk.command(), &desk.log(), Some(&exchange));
    assert_eq!(traced.run.status, None);
    assert_eq!(staged(desk).len(), 1);
}

#[test]
fn the_next_start_clears_what_a_killed_one_left() {
    let desk = Desk::new(&REPLACEMENT);
    let old = desk.state();
    kill_before_the_exchange(&desk);
    assert_eq!(desk.journals().len(), 1);
    desk.start_again();
    assert_eq!(desk.state(), old);
    assert!(desk.journals().is_empty());
}

#[test]
fn what_looks_like_staging_and_is_in_no_journal_stays() {
    let desk = Desk::new(&REPLACEMENT);
    let foreign = ".rootbound-0123456789abcdef0123456789abcdef.tmp";
    desk.fixture
        .work(foreign, "staged by a process on another machine");
    kill_before_the_exchange_beside(&desk);
    desk.start_again();
    assert_eq!(staged(&desk), [foreign]);
}

fn kill_before_the_exchange_beside(desk: &Desk) {
    let exchange = Fault::at("renameat", "signal=KILL", "1");
    trace(desk.command(), &desk.log(), Some(&exchange));
    assert_eq!(staged(desk).len(), 2);
}

#[test]
fn a_directory_that_someone_uses_by_now_stays() {
    let desk = Desk::new(&DIRECTORIES);
    // Both directories are made, and the call is not over.
    let over = first(&DIRECTORIES, "fsync");
    trace(desk.command(), &desk.log(), Some(&over.killing()));
    desk.fixture.work("made/someone", "");
    desk.start_again();
    let workspace = desk.fixture.workspace();
    assert!(workspace.join("made/someone").exists());
    assert!(!workspace.join("made/inside").exists());
    assert!(desk.journals().is_empty());
}

#[test]
fn a_start_leaves_a_living_process_alone() {
    let desk = Desk::new(&REPLACEMENT);
    let exchange = Fault::at("renameat", "delay_enter=1000000", "1");
    let traced = trace_and(desk.command(), &desk.log(), Some(&exchange), |_| {
        while staged(&desk).is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        desk.start_again();
        assert_eq!(staged(&desk).len(), 1);
        assert_eq!(desk.journals().len(), 1);
    });
    traced.run.success();
    assert_eq!(desk.fixture.workspace_text("report.md"), "the new report");
}

/// A journal is created first and locked then. A start in between takes it for the journal
/// of a dead process; the living one must notice.
#[test]
fn a_journal_that_a_start_took_away_is_begun_anew() {
    let exchange = "renameat:signal=KILL:when=1";
    for (fault, starts) in [("delay_enter=1000000", true), ("error=EAGAIN", false)] {
        let desk = Desk::new(&REPLACEMENT);
        let old = desk.state();
        // The first lock is that of the directory, the second that of the journal.
        let lock = Fault::at("flock", fault, "2").and(exchange);
        let traced = trace_and(desk.command(), &desk.log(), Some(&lock), |_| {
            while starts && desk.journals().is_empty() {
                thread::sleep(Duration::from_millis(1));
            }
            if starts {
                desk.start_again();
                assert!(desk.journals().is_empty());
            }
        });
        assert_eq!(traced.run.status, None, "{fault}");
        assert_eq!(staged(&desk).len(), 1, "{fault}");
        desk.start_again();
        assert_eq!(desk.state(), old, "{fault}");
        assert!(desk.journals().is_empty(), "{fault}");
    }
}

#[test]
fn what_a_start_cannot_clear_is_left_to_the_one_after() {
    let desk = Desk::new(&REPLACEMENT);
    let old = desk.state();
    let disk = Mount::bind(&desk.fixture.workspace(), &desk.fixture.workspace());
    kill_before_the_exchange(&desk);
    disk.make_read_only();
    desk.start_again();
    assert_eq!((staged(&desk).len(), desk.journals().len()), (1, 1));
    disk.make_writable();
    desk.start_again();
    assert_eq!(desk.state(), old);
    assert!(desk.journals().is_empty());
}

/// What half a line leaves behind must not make the next one unreadable.
#[test]
fn a_note_that_could_not_be_written_hides_no_later_one() {
    let desk = Desk::new(&DIRECTORIES);
    let old = desk.state();
    // The notes of the first directory are made; that of the second one's name is not, and
    // then the program is killed before it can take anything back.
    let fault = Fault::at("pwrite64", "error=EIO", "4").and("unlinkat:signal=KILL:when=1");
    let traced = trace(desk.command(), &desk.log(), Some(&fault));
    assert_eq!(traced.run.status, None);
    assert_ne!(desk.state(), old);
    desk.start_again();
    assert_eq!(desk.state(), old);
}

#[test]
fn a_session_keeps_its_state_where_it_is_told_to() {
    let fixture = Fixture::new();
    let state = fixture.base().join("state");
    fixture.work("t", "old");
    let builder = || {
        let builder = Session::builder().state_directory(&state);
        builder.overwrite(rootbound::Consent::Allow)
    };
    let session = builder().write_root(fixture.workspace()).build().unwrap();
    let arguments = json!({ "path": "t", "content": "new" });
    session.call("write_file", arguments).unwrap();
    let made = names(&state);
    assert!(made.contains(&"audit".to_owned()), "{made:?}");
    assert!(
        made.iter().any(|name| name.ends_with(".journal")),
        "{made:?}"
    );
    // It must lie outside every root, also where it is not there yet.
    for root in [
        state.clone(),
        fixture.base().to_owned(),
        state.join("audit"),
    ] {
        assert!(
            builder()
                .audit(AuditLog::none())
                .write_root(root)
                .build()
                .is_err()
        );
    }
    drop(session);
    fs::remove_dir_all(&state).unwrap();
    let refused = builder().write_root(fixture.base()).build();
    assert!(refused.is_err());
}
