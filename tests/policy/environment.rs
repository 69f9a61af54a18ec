//! `ROOTBOUND_WORK_DIR`: a grant by the environment, which never widens one by hand.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

fn grants(work_dir: &Path, arguments: &[&str]) -> Value {
    let cli = Cli::new();
    let mut command = cli.command(["check", "--json"]);
    command.args(arguments).env("ROOTBOUND_WORK_DIR", work_dir);
    let run = Run::of(&mut command);
    run.success()["grants"].clone()
}

fn grant(label: &str, rights: &str) -> Value {
    json!({ "label": label, "rights": rights })
}

#[test]
fn the_work_directory_of_the_environment_is_granted_both_ways() {
    let fixture = Fixture::new();
    let work = fixture.base().join("work");
    let expected = json!([grant("work", "read"), grant("work", "write")]);
    assert_eq!(grants(&work, &[]), expected);
    assert!(work.is_dir());
}

#[test]
fn a_grant_by_hand_is_all_that_is_granted() {
    let fixture = Fixture::new();
    let (inputs, outside) = (fixture.inputs(), fixture.outside());
    let (inputs, outside) = (inputs.to_str().unwrap(), outside.to_str().unwrap());
    let rows: [(&[&str], Value); 4] = [
        (&["--read", inputs], json!([grant("inputs", "read")])),
        (&["--write", outside], json!([grant("outside", "write")])),
        (
            &["--read", inputs, "--write", outside],
            json!([grant("inputs", "read"), grant("outside", "write")]),
        ),
        (
            &["--work", outside],
            json!([grant("outside", "read"), grant("outside", "write")]),
        ),
    ];
    let work = fixture.base().join("work");
    for (arguments, expected) in rows {
        assert_eq!(grants(&work, arguments), expected, "{arguments:?}");
        assert!(!work.exists(), "{arguments:?}");
    }
}

#[test]
fn tools_work_in_the_directory_of_the_environment() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let run = |tool: &str, arguments: Value| {
        let mut command = cli.command(["call", tool, &arguments.to_string()]);
        Run::of(command.env("ROOTBOUND_WORK_DIR", fixture.workspace()))
    };
    run("write_file", json!({ "path": "t", "content": "new" })).success();
    assert_eq!(fixture.workspace_text("t"), "new");
    let read = run("read_file", json!({ "path": "t" })).success();
    assert_eq!(read["content"], "new");
}

#[test]
fn an_empty_work_directory_grants_nothing() {
    assert_eq!(grants(Path::new(""), &[]), json!([]));
}
