//! What tools cost on large trees and files: a tool, beside `std::fs` doing the same, and
//! ripgrep with one thread where `rg` is on the `PATH`.
//!
//! All of a row take turns, round after round, so that a slow moment of the machine meets them
//! all; what is shown are medians, in multiples of the native one. The last column is the
//! guest's memory: the smallest `max_memory` with which the call succeeds.
//!
//! `cargo bench --bench tools [-- PART-OF-A-NAME]`. Every call has a fresh instance and its
//! audit log in a file.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise and prints what it measured"
)]

mod native;
mod rows;
mod trees;

use std::time::Instant;

use rows::{ROWS, Row};
use trees::Trees;

/// Rounds, in each of which everyone has a turn.
const ROUNDS: usize = 15;

fn main() {
    let only = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with("--"));
    let is_wanted = |row: &&Row| only.as_ref().is_none_or(|only| row.name.contains(&**only));
    println!(
        "{:<36}{:>12}{:>20}{:>20}{:>14}",
        "median, ms", "std::fs", "rg -j1", "Rootbound", "guest, MiB"
    );
    let trees = Trees::new();
    for row in ROWS.iter().filter(is_wanted) {
        measure(row, &trees);
    }
}

/// Measures one row and prints it.
fn measure(row: &Row, trees: &Trees) {
    let session = trees.session(None);
    let mut samples = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        let mut note = |who: usize, milliseconds: Option<f64>| {
            // The first round warms up.
            samples[who].extend(milliseconds.filter(|_| round > 0));
        };
        note(
            0,
            timed(|| {
                (row.native)(trees);
                Some(())
            }),
        );
        note(1, timed(|| row.ripgrep.and_then(|search| search(trees))));
        note(2, timed(|| Some((row.call)(&session, trees).unwrap())));
    }
    // Its log is its own as long as it lives.
    drop(session);
    let [native, ripgrep, rootbound] = samples.map(median);
    print!("{:<36}{:>12.2}", row.name, native.unwrap());
    for value in [ripgrep, rootbound] {
        let shown = value.map(|value| format!("{value:.2} ({:.2}x)", value / native.unwrap()));
        print!("{:>20}", shown.unwrap_or_default());
    }
    print!("{:>14}", guest_memory(row, trees));
    match row.bytes {
        Some(bytes) => println!("   {:.2} GB/s", bytes as f64 / 1e6 / rootbound.unwrap()),
        None => println!(),
    }
}

fn timed<T>(run: impl FnOnce() -> Option<T>) -> Option<f64> {
    let started = Instant::now();
    let result = run();
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    result.map(|_| milliseconds)
}

fn median(mut samples: Vec<f64>) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied()
}

/// The smallest memory, in MiB, with which the call succeeds.
fn guest_memory(row: &Row, trees: &Trees) -> u64 {
    let suffices = |mebibytes: u64| {
        let session = trees.session(Some(mebibytes << 20));
        (row.call)(&session, trees).is_ok()
    };
    let (mut too_little, mut enough) = (0_u64, 256);
    while enough - too_little > 1 {
        let middle = too_little.midpoint(enough);
        match suffices(middle) {
            true => enough = middle,
            false => too_little = middle,
        }
    }
    enough
}
