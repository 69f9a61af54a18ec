//! What is granted by name does what it says, and reaches nothing.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rootbound::{ComponentLoader, Import, Session, ToolComponent, component_code};
use serde_json::json;

use super::guest;
use crate::support::Recorded;
use crate::support::cli::{Cli, Run};

/// A session of the component that imports everything, and what it writes.
struct Desk {
    recorded: Recorded,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    fn new() -> Self {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&heard);
        let builder = Session::builder()
            .component(guest::with_everything())
            .timeout(Duration::from_secs(10))
            .guest_log(move |line| {
                let line = format!("{} {}: {}", line.tool, line.stream, line.text);
                lines.lock().unwrap().push(line);
            });
        let recorded = Recorded::build(builder);
        Self { recorded, heard }
    }

    fn text(&self, tool: &str) -> String {
        let output = self.recorded.call(tool, json!({})).unwrap();
        output.text().unwrap().to_owned()
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

#[test]
fn a_component_is_not_loaded_without_each_thing_that_it_imports() {
    for lacking in Import::ALL {
        let granted = Import::ALL.into_iter().filter(|import| *import != lacking);
        let loader = granted.fold(ComponentLoader::default(), ComponentLoader::import);
        let error = loader.load(guest::importing()).unwrap_err();
        assert_eq!(error.code(), component_code::IMPORT_NOT_GRANTED);
        assert!(error.message().contains(lacking.as_str()), "{error}");
    }
    let error = ToolComponent::from_bytes(guest::importing()).unwrap_err();
    assert_eq!(error.code(), component_code::IMPORT_NOT_GRANTED);
}

#[test]
fn check_says_each_thing_that_a_component_has() {
    let cli = Cli::new();
    let file = guest::file(cli.state(), "all.wasm", guest::importing());
    let check = |more: &str| {
        let mut command = cli.command(["check", "--import", guest::ALL]);
        Run::of(command.arg(more).arg("--component").arg(&file))
    };
    let all: Vec<&str> = guest::ALL.split(',').collect();
    assert_eq!(check("--json").success()["imports"], json!(all));
    let shown = check("--no-landlock").stdout;
    for import in Import::ALL {
        let line = format!("has `{import}`: {}", import.in_words());
        assert!(shown.contains(&line), "{line}: {shown}");
    }
}

#[test]
fn what_a_component_does_not_import_it_does_not_get() {
    let loader = Import::ALL
        .into_iter()
        .fold(ComponentLoader::default(), ComponentLoader::import);
    let component = loader.load(guest::plain()).unwrap();
    assert_eq!(component.imports(), []);
}

#[test]
fn the_environment_is_empty() {
    assert_eq!(Desk::new().text("look_at_the_environment"), "[] [] None");
}

#[test]
fn the_standard_input_is_empty_and_no_terminal() {
    let desk = Desk::new();
    let closed = "Err(StreamError::Closed)";
    assert_eq!(desk.text("read_the_input"), format!("{closed} {closed}"));
    assert_eq!(desk.text("look_for_a_terminal"), "[false, false, false]");
}

#[test]
fn what_is_written_goes_to_the_operator_and_cannot_command_a_terminal() {
    let desk = Desk::new();
    desk.text("write_to_the_streams");
    let expected = [
        "write_to_the_streams stdout: hello",
        "write_to_the_streams stdout: \\u{1b}[2Jcleared",
        "write_to_the_streams stderr: oops",
    ];
    assert_eq!(desk.heard(), expected);
    let log = desk.recorded.lines().join("\n");
    assert!(!log.contains("oops"), "the audit log holds no contents");
}

#[test]
fn a_flood_of_output_is_cut_off_and_counted() {
    let desk = Desk::new();
    desk.text("flood_the_streams");
    let heard = desk.heard();
    let bytes: usize = heard.iter().map(String::len).sum();
    assert!(bytes < 70_000, "{bytes}");
    let last = heard.last().unwrap();
    assert!(
        last.contains(&(10_000_000 - (64 << 10)).to_string()),
        "{last}"
    );
}

#[test]
fn clocks_tell_the_time_in_steps_and_waiting_works() {
    let desk = Desk::new();
    let text = desk.text("tell_the_time");
    let (seconds, coarse) = text.split_once(' ').unwrap();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    assert!(now - seconds.parse::<u64>().unwrap() < 60, "{text}");
    assert_eq!(coarse, "true");
    assert_eq!(desk.text("wait_a_little"), "[1] true false");
}

#[test]
fn waiting_ends_with_the_deadline() {
    let component = guest::with_everything();
    let builder = Session::builder()
        .component(component)
        .timeout(Duration::from_millis(300));
    let recorded = Recorded::build(builder);
    let started = Instant::now();
    let error = recorded.error("wait_for_ever", json!({}));
    assert_eq!(error.code(), "timeout");
    assert!(started.elapsed() < Duration::from_secs(8));
}

#[test]
fn random_numbers_are_random_and_bounded() {
    let desk = Desk::new();
    assert_eq!(desk.text("draw_lots"), "32 true true");
    let error = desk.recorded.error("draw_too_many_lots", json!({}));
    assert_eq!(error.code(), "limit-exceeded");
    assert_eq!(error.details()["limit"], "max_random_bytes");
}

#[test]
fn a_component_that_ends_itself_has_failed_its_call_and_no_other() {
    let desk = Desk::new();
    let error = desk.recorded.error("leave", json!({}));
    assert_eq!((error.code(), error.reason()), ("trapped", Some("exit")));
    assert_eq!(desk.text("say_nothing"), "quiet");
}

#[test]
fn the_network_refuses_and_each_refusal_is_recorded() {
    let desk = Desk::new();
    for tool in ["open_a_socket", "resolve_a_name"] {
        desk.recorded.forget();
        let text = desk.text(tool);
        assert!(
            text.starts_with("Err(") && text.contains("access-denied"),
            "{text}"
        );
        let refusals = desk.recorded.entries_of("refusal");
        assert_eq!(refusals.len(), 1, "{tool}");
        assert_eq!(refusals[0]["reason"], "network");
        assert_eq!(refusals[0]["risk"], "SEND");
    }
}

#[test]
fn handles_of_nothing_are_counted_like_others() {
    let error = Desk::new().recorded.error("hoard_networks", json!({}));
    assert_eq!(error.code(), "limit-exceeded");
    assert_eq!(error.details()["limit"], "max_handles");
}

#[test]
fn the_log_begins_with_what_is_granted() {
    let desk = Desk::new();
    let genesis = &desk.recorded.entries_of("genesis")[0];
    let all = Import::ALL.map(Import::as_str);
    let mut expected = all.to_vec();
    expected.sort_unstable();
    let mut granted: Vec<&str> = genesis["imports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|import| import.as_str().unwrap())
        .collect();
    granted.sort_unstable();
    assert_eq!(granted, expected);
}

/// Whoever starts it need not try once for each.
#[test]
fn all_imports_that_are_missing_are_named_at_once() {
    let cli = Cli::new();
    let file = guest::file(cli.state(), "all.wasm", guest::importing());
    let wanted: Vec<&str> = guest::ALL.split(',').collect();
    let missing = wanted[1..].join(",");
    for command in [&["call", "clock"][..], &["check"], &["mcp"]] {
        let mut command = cli.command(command);
        command
            .args(["--import", wanted[0], "--component"])
            .arg(&file);
        let run = Run::of(&mut command);
        assert_eq!(run.status, Some(2), "{run:?}");
        let hint = format!("`--import {missing}`");
        assert!(run.stderr.contains(&hint), "{hint}: {run:?}");
    }
}
