//! A limit of 0: either none of that kind is possible and everything else is, or no session starts.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use rootbound::{AuditLog, Consent, Limits, Rotation, Session, StartError};
use serde_json::{Value, json};

use super::joined::fields;
use crate::support::cli::{Cli, Run};
use crate::support::{Fixture, Recorded};

/// A call, by its tool and arguments.
type Call = (&'static str, Value);

/// What 0 means for a limit.
enum Zero {
    /// No call would be possible, so there is no session.
    NoStart,
    /// What is refused, and what is not.
    Means { refused: Call, done: Vec<Call> },
}

/// Sets one limit to zero.
type Change = fn(&mut Limits);

fn rows() -> Vec<(&'static str, Change, Zero)> {
    let write = |path: &str, content: &str| -> Call {
        ("write_file", json!({ "path": path, "content": content }))
    };
    let read = |path: &str| -> Call { ("read_file", json!({ "path": path })) };
    let list = |path: &str| -> Call { ("list_files", json!({ "path": path })) };
    let moved: Call = ("move_file", json!({ "from": "d/t", "to": "moved" }));
    let means = |refused: Call, done: Vec<Call>| Zero::Means { refused, done };
    vec![
        (
            "max_read_bytes",
            |limits| limits.max_read_bytes = 0,
            means(read("ten"), vec![read("d/t"), list("."), write("new", "x")]),
        ),
        (
            "max_call_read_bytes",
            |limits| limits.max_call_read_bytes = 0,
            means(read("ten"), vec![read("d/t"), list("."), write("new", "x")]),
        ),
        (
            "max_write_bytes",
            |limits| limits.max_write_bytes = 0,
            means(
                write("new", "x"),
                vec![write("new", ""), read("ten"), moved.clone()],
            ),
        ),
        (
            "max_output_bytes",
            |limits| limits.max_output_bytes = 0,
            Zero::NoStart,
        ),
        ("max_memory", |limits| limits.max_memory = 0, Zero::NoStart),
        (
            "max_depth",
            |limits| limits.max_depth = 0,
            means(list("."), vec![read("d/t"), write("new", "x")]),
        ),
        (
            "max_entries",
            |limits| limits.max_entries = 0,
            means(list("."), vec![read("ten"), list("empty")]),
        ),
        (
            "max_handles",
            |limits| limits.max_handles = 0,
            Zero::NoStart,
        ),
        (
            "timeout_ms",
            |limits| limits.timeout = Duration::ZERO,
            Zero::NoStart,
        ),
        (
            "max_session_write_bytes",
            |limits| limits.max_session_write_bytes = Some(0),
            means(write("new", "x"), vec![write("new", ""), moved.clone()]),
        ),
        (
            "max_session_files",
            |limits| limits.max_session_files = Some(0),
            means(write("new", "x"), vec![write("ten", "x"), moved]),
        ),
        (
            "max_calls_per_second",
            |limits| limits.max_calls_per_second = Some(0),
            Zero::NoStart,
        ),
    ]
}

fn desk() -> Fixture {
    let fixture = Fixture::new();
    fixture.work("ten", "0123456789");
    fixture.work("d/t", "");
    fs::create_dir(fixture.workspace().join("empty")).unwrap();
    fixture
}

#[test]
fn every_limit_has_a_row_here() {
    let known: BTreeSet<String> = rows().iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(known, fields());
}

#[test]
fn nothing_of_the_kind_is_possible_or_no_session_starts() {
    for (limit, set, zero) in rows() {
        let fixture = desk();
        let mut limits = Limits::default();
        set(&mut limits);
        let builder = Session::builder()
            .work_root(fixture.workspace())
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .limits(limits.clone());
        let Zero::Means { refused, done } = zero else {
            let error = builder.audit(AuditLog::none()).build().unwrap_err();
            let StartError::Limit(found) = &error else {
                panic!("{limit}: {error}");
            };
            assert_eq!(found.limit, limit);
            assert!(
                error.to_string().contains("leaves nothing possible"),
                "{error}"
            );
            continue;
        };
        assert_eq!(limits.check(), Ok(()), "{limit}");
        let recorded = Recorded::build(builder);
        let error = recorded.error(refused.0, refused.1);
        assert_eq!(error.code(), "limit-exceeded", "{limit}: {error}");
        assert_eq!(error.details()["limit"], limit, "{error}");
        assert_eq!(error.details()["value"], 0, "{error}");
        assert!(
            error.hint().contains("allows none of this"),
            "{limit}: {}",
            error.hint()
        );
        for (tool, arguments) in done {
            let answer = recorded.call(tool, arguments.clone());
            assert!(answer.is_ok(), "{limit}: {tool} {arguments}: {answer:?}");
        }
    }
}

#[test]
fn the_command_line_and_the_file_say_the_same_as_the_library() {
    let (fixture, cli) = (desk(), Cli::new());
    let file = fixture.outside().join("rootbound.toml");
    for (limit, _, zero) in rows() {
        let option = format!("--{}=0", limit.replace('_', "-"));
        let by_hand = cli.run(["check", &option]);
        fs::write(&file, format!("{limit} = 0\n")).unwrap();
        let mut command = cli.command(["check", "--config"]);
        let in_file = Run::of(command.arg(&file));
        for run in [by_hand, in_file] {
            match zero {
                Zero::NoStart => {
                    assert_eq!(
                        (run.status, &*run.stdout),
                        (Some(2), ""),
                        "{limit}: {run:?}"
                    );
                    assert!(run.stderr.contains("`0` leaves"), "{limit}: {run:?}");
                }
                Zero::Means { .. } => assert_eq!(run.status, Some(0), "{limit}: {run:?}"),
            }
        }
    }
}

/// Searches end where nothing may be listed.
#[test]
fn a_search_ends_where_nothing_is_listed() {
    let fixture = desk();
    let limits = Limits {
        max_entries: 0,
        ..Limits::default()
    };
    let recorded = Recorded::build(
        Session::builder()
            .work_root(fixture.workspace())
            .limits(limits),
    );
    for (tool, arguments) in [
        ("find_files", json!({ "pattern": "*" })),
        ("search_files", json!({ "query": "0" })),
        ("list_files", json!({ "recursive": true })),
    ] {
        let error = recorded.error(tool, arguments);
        assert_eq!(error.code(), "limit-exceeded", "{tool}: {error}");
        assert_eq!(error.details()["limit"], "max_entries", "{tool}: {error}");
    }
}

#[test]
fn a_log_that_would_be_put_aside_before_anything_is_in_it_is_none() {
    for (max_bytes, max_age, limit) in [
        (Some(0), None, "audit_max_bytes"),
        (None, Some(Duration::ZERO), "audit_max_age"),
    ] {
        let rotation = Rotation { max_bytes, max_age };
        let builder = Session::builder().audit(AuditLog::none());
        let error = builder.audit_rotation(rotation).build().unwrap_err();
        assert!(
            matches!(&error, StartError::Limit(found) if found.limit == limit),
            "{error}"
        );
    }
}
