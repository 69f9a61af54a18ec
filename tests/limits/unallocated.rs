//! What is over a limit is refused before room is made for it: the program has two gibibytes of
//! address space, and is asked for a thousand times as much.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::{Cli, PROGRAM, Run};

const TIB: u64 = 1 << 40;

fn call(fixture: &Fixture, tool: &str, arguments: &Value, further: &[&str]) -> Value {
    let cli = Cli::new();
    let mut command = Command::new("prlimit");
    command
        .args(["--as=2147483648", "--", PROGRAM, "call", tool])
        .arg(arguments.to_string())
        .arg("--work")
        .arg(fixture.workspace())
        .args(further)
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
    let path = json!({ "path": "huge" });
    let hashed = json!({ "path": "huge", "hash": true });
    let bytes = json!({ "path": "huge", "encoding": "base64" });
    let copied = json!({ "from": "huge", "to": "copy" });
    let edits = json!({ "path": "huge", "edits": [{ "old_text": "a", "new_text": "b" }] });
    let overwriting = ["--overwrite", "allow"];
    let unlimited = ["--max-read-bytes=1024TiB", "--timeout-ms=60s"];
    #[rustfmt::skip]
    let rows: [(&str, &Value, &[&str], &str); 6] = [
        ("read_file", &path,   &[],          "max_read_bytes"),
        ("read_file", &bytes,  &[],          "max_read_bytes"),
        ("file_info", &hashed, &[],          "max_read_bytes"),
        ("copy_file", &copied, &[],          "max_write_bytes"),
        ("edit_file", &edits,  &overwriting, "max_read_bytes"),
        ("read_file", &path,   &unlimited,   "max_call_read_bytes"),
    ];
    for (tool, arguments, further, limit) in rows {
        let error = call(&fixture, tool, arguments, further);
        assert_eq!(error["code"], "limit-exceeded", "{tool}: {error}");
        let named = error["limit"].as_str().unwrap();
        let is_expected = named == limit || tool == "copy_file" && named == "max_read_bytes";
        assert!(is_expected, "{tool}: {error}");
    }
}
