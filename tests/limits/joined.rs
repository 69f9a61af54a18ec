//! A limit has a field of the policy, a key of the configuration file, an option, a place in the
//! log, and an error that names it with its value and the actual amount. A new field of
//! [`Limits`] fails here until it has all of them.

use std::collections::BTreeSet;
use std::time::Duration;

use rootbound::{CallError, Consent, Limits, Session};
use serde_json::{Value, json};

use crate::hostile::component;
use crate::support::cli::Cli;
use crate::support::{Fixture, Recorded};

/// How a limit is reached: its name, how it is set to a value, and a call that asks for more.
struct Reach {
    limit: &'static str,
    value: u64,
    set: fn(&mut Limits, u64),
    call: fn(&Session) -> CallError,
}

const ROWS: [Reach; 12] = [
    Reach {
        limit: "max_read_bytes",
        value: 9,
        set: |limits, value| limits.max_read_bytes = value,
        call: |session| refusal(session, "read_file", json!({ "path": "ten" })),
    },
    Reach {
        limit: "max_call_read_bytes",
        value: 9,
        set: |limits, value| limits.max_call_read_bytes = value,
        call: |session| refusal(session, "read_file", json!({ "path": "ten" })),
    },
    Reach {
        limit: "max_write_bytes",
        value: 9,
        set: |limits, value| limits.max_write_bytes = value,
        call: |session| refusal(session, "write_file", ten()),
    },
    Reach {
        limit: "max_output_bytes",
        value: 9,
        set: |limits, value| limits.max_output_bytes = value,
        call: |session| refusal(session, "read_file", json!({ "path": "ten" })),
    },
    Reach {
        limit: "max_memory",
        value: 65_536,
        set: |limits, value| limits.max_memory = value,
        call: |session| refusal(session, "read_file", json!({ "path": "ten" })),
    },
    Reach {
        limit: "max_depth",
        value: 0,
        set: |limits, value| limits.max_depth = value as u32,
        call: |session| refusal(session, "list_files", json!({ "path": "d" })),
    },
    Reach {
        limit: "max_entries",
        value: 0,
        set: |limits, value| limits.max_entries = value,
        call: |session| refusal(session, "list_files", json!({})),
    },
    Reach {
        limit: "max_handles",
        value: 1,
        set: |limits, value| limits.max_handles = value as u32,
        call: |session| refusal(session, "read_file", json!({ "path": "ten" })),
    },
    Reach {
        limit: "timeout_ms",
        value: 50,
        set: |limits, value| limits.timeout = Duration::from_millis(value),
        call: |session| refusal(session, "loop_for_ever", json!({})),
    },
    Reach {
        limit: "max_session_write_bytes",
        value: 9,
        set: |limits, value| limits.max_session_write_bytes = Some(value),
        call: |session| refusal(session, "write_file", ten()),
    },
    Reach {
        limit: "max_session_files",
        value: 0,
        set: |limits, value| limits.max_session_files = Some(value),
        call: |session| refusal(session, "write_file", ten()),
    },
    Reach {
        limit: "max_calls_per_second",
        value: 1,
        set: |limits, value| limits.max_calls_per_second = Some(value as u32),
        // Two calls within a second, however slow the machine is now.
        call: |session| {
            let call = || session.call("file_exists", json!({ "path": "ten" }));
            std::iter::repeat_with(call).find_map(Result::err).unwrap()
        },
    },
];

fn ten() -> Value {
    json!({ "path": "new", "content": "0123456789" })
}

fn refusal(session: &Session, tool: &str, arguments: Value) -> CallError {
    session.call(tool, arguments).unwrap_err()
}

/// The names of the fields, as the type itself shows them; `timeout` has its unit in its key.
pub fn fields() -> BTreeSet<String> {
    let shown = format!("{:?}", Limits::default());
    let inside = shown.trim_start_matches("Limits { ").trim_end_matches(" }");
    let names = inside
        .split(", ")
        .map(|field| field.split_once(": ").unwrap().0);
    names
        .map(|name| match name {
            "timeout" => "timeout_ms".to_owned(),
            name => name.to_owned(),
        })
        .collect()
}

#[test]
fn every_limit_has_a_row_here() {
    let rows: BTreeSet<String> = ROWS.iter().map(|row| row.limit.to_owned()).collect();
    assert_eq!(
        rows,
        fields(),
        "each field of `Limits` needs a row in tests/limits/joined.rs, and each row a field"
    );
}

#[test]
fn every_limit_has_its_key_its_option_and_its_place_in_the_policy() {
    let schema = include_str!("../../docs/rootbound.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let help = Cli::new().run(["call", "--help"]).stdout;
    let fixture = Fixture::new();
    let recorded = fixture.session();
    let genesis = &recorded.entries_of("genesis")[0]["policy"];
    for limit in fields() {
        let key = &schema["properties"][&limit];
        assert!(
            key.is_object(),
            "no key in docs/rootbound.schema.json: {limit}"
        );
        let option = format!("--{} <", limit.replace('_', "-"));
        assert!(help.contains(&option), "no option: {option}");
        assert!(
            genesis.get(&limit).is_some(),
            "not in the log's policy: {limit}"
        );
    }
}

#[test]
fn every_limit_is_named_with_its_value_and_the_actual_amount() {
    for row in ROWS {
        let fixture = Fixture::new();
        fixture.work("ten", "0123456789");
        fixture.work("d/t", "");
        let mut limits = Limits::default();
        (row.set)(&mut limits, row.value);
        let mut builder = Session::builder()
            .work_root(fixture.workspace())
            .overwrite(Consent::Allow)
            .limits(limits);
        if row.limit == "timeout_ms" {
            builder = builder.component(component::compiled());
        }
        let recorded = Recorded::build(builder);
        let error = (row.call)(&recorded.session);
        let details = error.details();
        assert_eq!(details["limit"], row.limit, "{error}");
        assert_eq!(details["value"], row.value, "{error}");
        let actual = details["actual"].as_u64().unwrap();
        assert!(actual >= row.value, "{}: {actual}", row.limit);
        assert!(actual > row.value || row.limit == "timeout_ms", "{actual}");
        let code = ["limit-exceeded", "timeout"][usize::from(row.limit == "timeout_ms")];
        assert_eq!(error.code(), code, "{}", row.limit);
        assert!(!error.hint().is_empty(), "{}", row.limit);
    }
}

/// The value that the option is given is the value that the error names.
#[test]
fn every_limit_is_set_by_its_option() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let work = fixture.workspace();
    let mut command = cli.command(["check", "--json", "--work"]);
    command.arg(&work);
    for row in ROWS {
        command.arg(format!(
            "--{}={}",
            row.limit.replace('_', "-"),
            row.value + 3
        ));
    }
    let policy = crate::support::cli::Run::of(&mut command).success()["policy"].clone();
    for row in ROWS {
        assert_eq!(policy[row.limit], row.value + 3, "{}", row.limit);
    }
}
