//! What is over a limit is refused before room is made for it: the program has two gibibytes of
//! address space, and is asked for hundreds of times as much.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::{Cli, PROGRAM, Run};

const TIB: u64 = 1 << 40;

fn call(fixture: &Fixture, tool: &str, arguments: &Value) -> Value {
    let cli = Cli::new();
    let mut command = Command::new("prlimit");
    command
        .args(["--as=2147483648", "--", PROGRAM, "call", tool])
        .arg(arguments.to_string())
        .arg("--work")
        .arg(fixture.workspace())
        .env("XDG_STATE_HOME", cli.state())
        .env_remove("ROOTBOUND_WORK_DIR")
        .env_remove("ROOTBOUND_CONFIG");
    Run::of(&mut command).refusal()
}

#[test]
fn no_limit_is_reached_by_allocating_first() {
    let fixture = Fixture::new();
    let file = std::fs::File::create(fixture.workspace().join("huge")).unwrap();
    file.set_len(TIB).unwrap();
    // Few, since the program compiles its tools anew where it has so little room.
    let rows = [
        ("read_file", json!({ "path": "huge" })),
        ("file_info", json!({ "path": "huge", "hash": true })),
    ];
    for (tool, arguments) in rows {
        let error = call(&fixture, tool, &arguments);
        assert_eq!(error["code"], "limit-exceeded", "{tool}: {error}");
        assert_eq!(error["limit"], "max_read_bytes", "{tool}: {error}");
        assert_eq!(error["actual"], TIB, "{tool}: {error}");
    }
}
