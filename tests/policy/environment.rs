//! `ROOTBOUND_WORK_DIR`: as `--work`, where the command line does not say which directory is
//! written to.

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
}

#[test]
fn a_written_directory_by_hand_takes_its_place() {
    let fixture = Fixture::new();
    let (inputs, outside) = (fixture.inputs(), fixture.outside());
    let (inputs, outside) = (inputs.to_str().unwrap(), outside.to_str().unwrap());
    let rows: [(&[&str], Value); 3] = [
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

/// What is read beside it is another matter.
#[test]
fn it_is_granted_beside_what_is_read_by_hand() {
    let fixture = Fixture::new();
    let (inputs, work) = (fixture.inputs(), fixture.base().join("work"));
    let granted = grants(&work, &["--read", inputs.to_str().unwrap()]);
    let expected = [
        grant("inputs", "read"),
        grant("work", "read"),
        grant("work", "write"),
    ];
    assert_eq!(granted, json!(expected));
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
