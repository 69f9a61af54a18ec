//! No path argument of any tool reaches outside its root, and inside the root a path means
//! what it means to the kernel.
//!
//! The cases are tables, one situation a row; `cases/README.md` says how to read them.

mod agreement;
mod another_user;
mod answer;
mod control;
mod drift;
mod layout;
mod listing;
mod motion;
mod native;
mod roots;
mod setup;
mod snapshot;
mod special;
mod table;
mod trial;
mod uses;
mod verdict;

use std::sync::mpsc;
use std::time::Duration;

/// Nothing hangs: one row is a few calls of at most five seconds each.
const WATCHDOG: Duration = Duration::from_secs(120);

/// Runs all rows of a table; what is not as it should be comes out together.
fn hold(table: &'static str) {
    let mut complaints = Vec::new();
    for row in table::rows(table) {
        complaints.extend(watched(&row));
    }
    assert!(
        complaints.is_empty(),
        "{}:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

fn watched(row: &table::Row) -> Vec<String> {
    let (tell, told) = mpsc::channel();
    let tried = row.clone();
    std::thread::spawn(move || {
        let _ = tell.send(trial::complaints_of(&tried));
    });
    match told.recv_timeout(WATCHDOG) {
        Ok(complaints) => complaints,
        Err(error) => vec![format!(
            "{} in `{}`: it hangs or panics: {error}",
            row.id, row.setup
        )],
    }
}

macro_rules! tables {
    ($($sentence:ident: $file:literal,)*) => {
        $(
            #[test]
            fn $sentence() {
                hold(include_str!(concat!("cases/", $file, ".tsv")));
            }
        )*
        /// The tables that are run here.
        const TABLES: &[(&str, &str)] = &[$(($file, include_str!(concat!("cases/", $file, ".tsv"))),)*];
    };
}

tables! {
    ordinary_paths_mean_what_they_mean_natively: "ordinary",
    paths_that_climb_or_are_absolute_are_refused: "climbing",
    links_are_followed_inside_the_root_and_never_out: "links",
    spellings_that_deceive_are_refused: "spelling",
    names_of_other_systems_are_refused_until_they_are_allowed: "windows",
    names_are_bytes_and_lengths_are_exact: "names",
    special_files_are_never_opened: "special",
    what_moves_at_the_same_time_opens_no_way_out: "races",
    what_patterns_exclude_is_out_of_reach: "patterns",
}

/// The table that another user runs.
const PERMISSIONS: (&str, &str) = ("permissions", include_str!("cases/permissions.tsv"));
