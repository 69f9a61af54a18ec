//! Kills at random instants. `ROOTBOUND_KILLS` says how many; the default is for every run.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::thread;
use std::time::{Duration, Instant};

use super::desk::{CREATION, Desk, REPLACEMENT, Scenario, Story, judge_answer, judge_remains};
use super::strace::Held;

fn how_many() -> usize {
    let kills = std::env::var("ROOTBOUND_KILLS").ok();
    kills.map_or(40, |text| text.parse().unwrap())
}

/// Between nothing and `most`.
fn random_pause(most: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish();
    most.mul_f64(random as f64 / u64::MAX as f64)
}

/// The longest that the call takes of a few times.
fn usual_duration(scenario: &'static Scenario) -> (Duration, Story) {
    let mut longest = Duration::ZERO;
    let mut story = None;
    for _ in 0..3 {
        let desk = Desk::new(scenario);
        let old = desk.state();
        let held = Held::start(desk.command());
        let began = Instant::now();
        let run = held.go_on();
        longest = longest.max(began.elapsed());
        story = Some(Story::of(old, &desk, &run));
    }
    (longest, story.unwrap())
}

fn kill_at_random(scenario: &'static Scenario) {
    let (duration, story) = usual_duration(scenario);
    let (mut old, mut new, mut killed) = (0, 0, 0);
    for _ in 0..how_many() {
        let desk = Desk::new(scenario);
        let pause = random_pause(duration);
        let run = Held::start(desk.command()).go_on_and(|program| {
            thread::sleep(pause);
            program.kill().unwrap();
        });
        let what = format!("{}: killed after {pause:?}", scenario.name);
        match run.status {
            None => drop(judge_remains(&desk, &story, &what)),
            Some(_) => judge_answer(&desk, &story, &run, &what),
        }
        killed += usize::from(run.status.is_none());
        old += usize::from(desk.state() == story.old);
        new += usize::from(desk.state() == story.new);
    }
    // The control: some kills came before the change, and some after it.
    assert!(killed > 0 && old > 0 && new > 0, "{killed}: {old}, {new}");
    assert_eq!(old + new, how_many());
}

#[test]
fn killed_at_any_instant_a_replacement_is_old_or_new() {
    kill_at_random(&REPLACEMENT);
}

#[test]
fn killed_at_any_instant_a_creation_is_whole_or_absent() {
    kill_at_random(&CREATION);
}
