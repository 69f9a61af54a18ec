//! Words that stand for something: a slip in one is told, and makes no file of that name.

use std::fs;

use crate::components::declaring::built_in;
use crate::support::cli::{Cli, Run};
use crate::support::tree::names;

#[test]
fn a_slip_in_a_word_stops_the_start_and_makes_no_file() {
    #[rustfmt::skip]
    let rows = [
        ("--audit=None",            "`./None`"),
        ("--audit=NONE",            "`./NONE`"),
        ("--audit=none ",           "`./none `"),
        ("--audit=STDERR",          "`./STDERR`"),
        ("--audit=StdErr",          "`./StdErr`"),
        ("--audit=stdout",          "`stderr`"),
        ("--audit=-",               "`stderr`"),
        ("--audit=off",             "`none`"),
        ("--component=Built-In",    "`built-in`"),
        ("--component=builtin",     "`built-in`"),
        ("--overwrite=Ask",         "possible values: deny, ask, allow"),
        ("--approve=None",          "possible values: deny, prompt, queue, allow"),
        ("--toolset=Single",        "possible values: files, single"),
        ("--durability=FULL",       "possible values: full, fast"),
        ("--otlp=Env",              "error: "),
        ("--max-session-files=none", "not a whole number"),
        ("--max-memory=unlimited",  "not a size"),
        ("--timeout-ms=never",      "not a time"),
    ];
    let (place, cli) = (tempfile::tempdir().unwrap(), Cli::new());
    for (option, told) in rows {
        let mut command = cli.command(["call", "list_files", "{}", option]);
        let run = Run::of(command.current_dir(place.path()));
        assert_eq!(run.status, Some(2), "{option}: {run:?}");
        assert!(run.stderr.contains(told), "{option}: {run:?}");
        assert_eq!(names(place.path()), [""; 0], "{option}");
    }
}

#[test]
fn a_file_of_such_a_name_can_be_had_by_its_path() {
    let (place, cli) = (tempfile::tempdir().unwrap(), Cli::new());
    let mut command = cli.command(["call", "list_files", "{}", "--audit=./None"]);
    let run = Run::of(command.current_dir(place.path()));
    assert_eq!(run.status, Some(1), "nothing is granted: {run:?}");
    assert_eq!(names(place.path()), ["None"]);
}

/// With a name before it, in the file as on the command line.
#[test]
fn the_word_of_the_built_in_component_may_have_a_name() {
    let (place, cli) = (tempfile::tempdir().unwrap(), Cli::new());
    let file = place.path().join("rootbound.toml");
    let other = built_in().display().to_string();
    fs::write(
        &file,
        format!("component = [\"ours=built-in\", \"{other}\"]\n"),
    )
    .unwrap();
    let mut command = cli.command(["check", "--json", "--config"]);
    let check = Run::of(command.arg(&file)).success();
    assert_eq!(check["name"], "ours");
    let mut command = cli.command(["check", "--json", "--component=ours=built-in"]);
    assert_eq!(Run::of(&mut command).success()["name"], "ours");
}
