//! Every system call of a change fails, and the program is killed before every one of them:
//! what stands there in the end is old or new, and the answer and the log say which.

use super::desk::{
    APPENDING, CREATION, DELETION, DIRECTORIES, Desk, EVERYTHING, FAST_REPLACEMENT, RENAME,
    RENAME_OVER, REPLACEMENT, Scenario, Story, TREE, judge_answer, judge_remains,
};
use super::strace::{Fault, SystemCall, trace};

/// What a disk may answer.
const ERRORS: [&str; 3] = ["EIO", "ENOSPC", "EDQUOT"];

fn all_of_them() -> bool {
    std::env::var("ROOTBOUND_FAULTS").is_ok_and(|which| which == "all")
}

/// The story of a scenario to which nothing happens, and the system calls in it.
fn rehearse(scenario: &'static Scenario) -> (Story, Vec<SystemCall>) {
    let desk = Desk::new(scenario);
    let old = desk.state();
    let traced = trace(desk.command(), &desk.log(), None);
    let story = Story::of(old, &desk, &traced.run);
    assert_ne!(story.old, story.new, "{}", scenario.name);
    judge_answer(&desk, &story, &traced.run, scenario.name);
    (story, traced.calls)
}

/// Which errors a call is made to answer. The sample takes one for calls that only look, and
/// for the others `EIO` and one of the two that mean that the disk is full.
fn errors_for(scenario: &Scenario, at: usize, call: &SystemCall) -> Vec<&'static str> {
    match (all_of_them(), call.changes()) {
        (true, _) => ERRORS.to_vec(),
        (false, true) if scenario.is_slow() => vec![ERRORS[at % 3]],
        (false, true) => vec!["EIO", ERRORS[1 + at % 2]],
        (false, false) => vec!["EIO"],
    }
}

/// Whether the sample does without faults at a call. In a slow scenario it keeps to what
/// gives and takes names, and to the log.
fn is_left_out(scenario: &Scenario, call: &SystemCall) -> bool {
    const NAMES_AND_LOG: [&str; 5] = ["linkat", "renameat", "renameat2", "unlinkat", "write"];
    let matters = NAMES_AND_LOG.contains(&&*call.name);
    !all_of_them() && scenario.is_slow() && !matters
}

fn fail_everywhere(scenario: &'static Scenario) {
    let (story, calls) = rehearse(scenario);
    let (mut refused, mut reached, mut runs) = (0, 0, 0);
    for (at, call) in calls.iter().enumerate() {
        if call.name == "exit_group" || is_left_out(scenario, call) {
            continue;
        }
        for errno in errors_for(scenario, at, call) {
            let desk = Desk::new(scenario);
            let what = format!("{}: {errno} at {}", scenario.name, call.text);
            let traced = trace(desk.command(), &desk.log(), Some(&call.failing(errno)));
            judge_answer(&desk, &story, &traced.run, &what);
            runs += 1;
            refused += usize::from(traced.run.status == Some(1));
            reached += usize::from(traced.struck);
        }
    }
    // The controls: the faults did happen, and they did matter.
    assert!(reached > runs / 2, "{}: {reached}", scenario.name);
    assert!(refused > 3, "{}: {refused}", scenario.name);
}

/// Before a call is also after the one before it; `exit_group` is after the last.
fn kill_everywhere(scenario: &'static Scenario) {
    let (story, calls) = rehearse(scenario);
    let (mut old, mut new) = (0, 0);
    for call in &calls {
        let is_last = call.name == "exit_group";
        let changes = call.changes() && !is_left_out(scenario, call);
        if !(all_of_them() || changes || is_last) {
            continue;
        }
        let desk = Desk::new(scenario);
        let what = format!("{}: killed before {}", scenario.name, call.text);
        let traced = trace(desk.command(), &desk.log(), Some(&call.killing()));
        assert_eq!(traced.run.status, None, "{what}: {:?}", traced.run);
        judge_remains(&desk, &story, &what);
        old += usize::from(desk.state() == story.old);
        new += usize::from(desk.state() == story.new);
    }
    assert!(old > 0 && new > 0, "{}: {old}, {new}", scenario.name);
}

#[test]
fn whatever_fails_in_a_creation_it_is_whole_or_absent() {
    fail_everywhere(&CREATION);
}

#[test]
fn wherever_a_creation_is_killed_it_is_whole_or_absent() {
    kill_everywhere(&CREATION);
}

#[test]
fn whatever_fails_in_making_directories_they_are_there_or_not() {
    fail_everywhere(&DIRECTORIES);
}

#[test]
fn wherever_making_directories_is_killed_they_are_there_or_not() {
    kill_everywhere(&DIRECTORIES);
}

#[test]
fn whatever_fails_in_a_replacement_the_file_is_old_or_new() {
    fail_everywhere(&REPLACEMENT);
}

#[test]
fn wherever_a_replacement_is_killed_the_file_is_old_or_new() {
    kill_everywhere(&REPLACEMENT);
}

#[test]
fn without_syncing_a_replacement_is_as_whole() {
    fail_everywhere(&FAST_REPLACEMENT);
    kill_everywhere(&FAST_REPLACEMENT);
}

#[test]
fn whatever_fails_in_appending_the_file_is_old_or_new() {
    fail_everywhere(&APPENDING);
}

#[test]
fn wherever_appending_is_killed_the_file_is_old_or_new() {
    kill_everywhere(&APPENDING);
}

#[test]
fn whatever_fails_in_a_rename_the_file_has_one_name() {
    fail_everywhere(&RENAME);
    fail_everywhere(&RENAME_OVER);
}

#[test]
fn wherever_a_rename_is_killed_the_file_has_one_name() {
    kill_everywhere(&RENAME);
    kill_everywhere(&RENAME_OVER);
}

#[test]
fn whatever_fails_in_a_deletion_the_file_is_there_or_not() {
    fail_everywhere(&DELETION);
}

#[test]
fn wherever_a_deletion_is_killed_the_file_is_there_or_not() {
    kill_everywhere(&DELETION);
}

#[test]
fn whatever_fails_in_a_recursive_deletion_the_answer_says_how_much_is_gone() {
    fail_everywhere(&TREE);
}

#[test]
fn wherever_a_recursive_deletion_is_killed_what_is_left_is_as_it_was() {
    kill_everywhere(&TREE);
}

#[test]
fn whatever_fails_among_several_changes_the_answer_says_which_were_made() {
    fail_everywhere(&EVERYTHING);
}

#[test]
fn wherever_several_changes_are_killed_those_before_are_made_and_no_other() {
    kill_everywhere(&EVERYTHING);
}

/// A name that cannot be removed again is for the next start to remove.
#[test]
fn what_cannot_be_taken_back_is_cleared_by_the_next_start() {
    for (scenario, fails) in [(&REPLACEMENT, "renameat"), (&DIRECTORIES, "renameat2")] {
        let (story, _) = rehearse(scenario);
        let desk = Desk::new(scenario);
        let both = Fault::at(&format!("{fails},unlinkat"), "error=EIO", "1+");
        let traced = trace(desk.command(), &desk.log(), Some(&both));
        assert_eq!(traced.run.refusal()["code"], "io", "{}", scenario.name);
        let staged = |path: &String| path.contains(".rootbound-");
        assert!(desk.state().keys().any(staged), "{}", scenario.name);
        judge_answer(&desk, &story, &traced.run, scenario.name);
    }
}
