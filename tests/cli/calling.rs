//! `rootbound call`: one line of JSON on the standard output, and what the exit status means.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

fn granted<'a>(fixture: &Fixture, command: &'a mut Command) -> &'a mut Command {
    command.arg("--read").arg(fixture.inputs());
    command.arg("--write").arg(fixture.workspace())
}

fn call(cli: &Cli, fixture: &Fixture, tool: &str, arguments: &str) -> Run {
    Run::of(granted(
        fixture,
        &mut cli.command(["call", tool, arguments]),
    ))
}

#[test]
fn a_success_is_the_tools_object_and_status_0() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.input("notes.md", "line\nline\u{2028}\"\n");
    let answer = call(&cli, &fixture, "read_file", r#"{"path":"notes.md"}"#).success();
    assert_eq!(answer["content"], "line\nline\u{2028}\"\n");
    assert_eq!(answer["root"], "inputs");
    let answer = call(&cli, &fixture, "list_files", "{}").success();
    assert_eq!(answer["count"], 1);
    let write = r#"{"path":"d/t","content":"x"}"#;
    let answer = call(&cli, &fixture, "write_file", write).success();
    assert_eq!(answer["receipt"]["effects"][1]["operation"], "create");
    assert_eq!(fixture.workspace_text("d/t"), "x");
}

#[test]
fn arguments_may_be_left_out() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let mut command = cli.command(["call", "list_files"]);
    let answer = Run::of(granted(&fixture, &mut command)).success();
    assert_eq!(answer["path"], ".");
}

/// Any answer that is not success: the error object, status 1, and the code.
#[test]
fn an_answer_that_is_no_success_is_an_error_object_and_status_1() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.work("old", "old");
    fixture.input("bytes", b"\xff");
    for (tool, arguments, code) in [
        ("read_file", r#"{"path":"missing"}"#, "not-found"),
        ("read_file", r#"{"path":"../x"}"#, "invalid-path"),
        ("read_file", r#"{"path":"bytes"}"#, "not-text"),
        ("read_file", "{}", "invalid-arguments"),
        ("read_file", "not json", "invalid-arguments"),
        ("read_file", "", "invalid-arguments"),
        ("read_file", "[]", "invalid-arguments"),
        (
            "generate_from_template",
            r#"{"template":"{{a}}","variables":{}}"#,
            "invalid-arguments",
        ),
        ("no_such_tool", "{}", "unknown-tool"),
        ("", "{}", "unknown-tool"),
        (
            "write_file",
            r#"{"path":"old","content":"x"}"#,
            "overwrite-denied",
        ),
        ("delete_file", r#"{"path":"old"}"#, "approval-required"),
    ] {
        let error = call(&cli, &fixture, tool, arguments).refusal();
        assert_eq!(error["code"], code, "{tool} {arguments}");
    }
    let run = cli.run(["call", "read_file", r#"{"path":"x"}"#]);
    assert_eq!(run.refusal()["code"], "not-granted");
}

#[test]
fn a_dash_reads_the_arguments_from_the_standard_input() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let content = "x".repeat(1 << 20);
    let arguments = json!({ "path": "t", "content": content }).to_string();
    for input in [arguments.clone(), format!("\n {arguments}\n")] {
        let mut command = cli.command(["call", "write_file", "-", "--overwrite", "allow"]);
        Run::with_input(granted(&fixture, &mut command), input.as_bytes()).success();
        assert_eq!(fixture.workspace_text("t"), content);
    }
}

#[test]
fn what_is_no_json_on_the_standard_input_is_status_1() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    for input in [
        &b""[..],
        b"{",
        b"null",
        b"\xff\xfe",
        b"{\"path\":\"\xff\"}",
        b"{}\0",
    ] {
        let mut command = cli.command(["call", "read_file", "-"]);
        let run = Run::with_input(granted(&fixture, &mut command), input);
        let error = run.refusal();
        assert_eq!(error["code"], "invalid-arguments", "{input:?}");
    }
}

/// Said outright: to a model, `unexpected end` is no help when the end is not the problem.
#[test]
fn input_that_is_no_utf_8_is_said_to_be_none() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let mut command = cli.command(["call", "read_file", "-"]);
    let run = Run::with_input(granted(&fixture, &mut command), b"{\"path\":\"caf\xe9\"}");
    let message = run.refusal()["message"].to_string();
    assert!(message.contains("UTF-8"), "{message}");
}

#[test]
fn without_a_dash_the_standard_input_is_left_alone() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let mut command = cli.command(["call", "list_files", "{}"]);
    let run = Run::with_input(granted(&fixture, &mut command), b"not json");
    run.success();
}

/// What is for people goes to the other stream, in every case.
#[test]
fn the_standard_output_carries_the_result_and_nothing_else() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    std::fs::create_dir(fixture.workspace().join(".git")).unwrap();
    for arguments in ["{}", "{\"path\":\"../x\"}"] {
        let mut command = cli.command(["call", "list_files", arguments, "--audit", "stderr"]);
        let run = Run::of(granted(&fixture, &mut command));
        run.json();
        assert!(run.stderr.contains("warning: "), "{run:?}");
        assert!(run.stderr.contains("version-control checkout"), "{run:?}");
        assert!(run.stderr.contains("\"kind\":\"call\""), "{run:?}");
    }
}

/// A reader that goes away, as in `rootbound call … | true`, is no failure of the call.
#[test]
fn a_closed_standard_output_is_no_failure() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let write = r#"{"path":"t","content":"x"}"#;
    let mut command = cli.command(["call", "write_file", write]);
    let run = with_closed_output(granted(&fixture, &mut command));
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(fixture.workspace_text("t"), "x");
    for arguments in [
        &["tools"][..],
        &["tools", "--format", "mcp"],
        &["check"],
        &["--help"],
        &["call", "--help"],
        &["--version"],
        &["call", "read_file", "{}"],
    ] {
        let run = with_closed_output(&mut cli.command(arguments));
        assert!(matches!(run.status, Some(0 | 1)), "{arguments:?}: {run:?}");
        assert!(!run.stderr.contains("panicked"), "{arguments:?}: {run:?}");
    }
}

fn with_closed_output(command: &mut Command) -> Run {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(Stdio::from(OwnedFd::from(writer)));
    Run::of(command.stderr(Stdio::piped()))
}

/// The result is out before the reader hangs up.
#[test]
fn a_reader_gets_the_whole_of_a_large_result() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.input("t", "x".repeat(5 << 20));
    let mut command = cli.command(["call", "read_file", r#"{"path":"t"}"#]);
    let child = granted(&fixture, &mut command)
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let mut text = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert!(child.wait().unwrap().success());
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["content"].as_str().unwrap().len(), 5 << 20);
}

#[test]
fn a_label_names_the_directory_in_results() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.input("t", "x");
    let odd = fixture.base().join("a=b");
    std::fs::create_dir(&odd).unwrap();
    let inputs = fixture.inputs();
    let rows: [(String, &Path, &str); 4] = [
        (inputs.display().to_string(), fixture.base(), "inputs"),
        (format!("docs={}", inputs.display()), fixture.base(), "docs"),
        ("docs=inputs".to_owned(), fixture.base(), "docs"),
        ("./a=b".to_owned(), fixture.base(), "a=b"),
    ];
    for (read, working_directory, label) in rows {
        let mut command = cli.command(["call", "list_files", "{}", "--read", &read]);
        let run = Run::of(command.current_dir(working_directory));
        assert_eq!(run.success()["root"], label, "{read}");
    }
}
