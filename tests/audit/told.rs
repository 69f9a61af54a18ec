//! How the log is kept is told to the operator, and that there is none to the agent as well.

use std::path::Path;

use serde_json::{Value, json};

use super::initialize;
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

fn check(cli: &Cli, fixture: &Fixture, further: &[&str]) -> Run {
    let inputs = fixture.inputs();
    let arguments = ["check", "--read", inputs.to_str().unwrap()];
    cli.run([&arguments, further].concat())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn check_says_how_the_log_is_kept() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let (key, log) = (fixture.outside().join("key"), fixture.outside().join("log"));
    let public_key = cli.run(["audit", "keygen", text(&key)]).stdout;
    let options = [
        "--audit",
        text(&log),
        "--audit-key",
        text(&key),
        "--audit-durability",
        "full",
        "--audit-arguments",
        "full",
        "--audit-max-bytes",
        "1MiB",
        "--audit-max-age",
        "7d",
    ];
    let run = check(&cli, &fixture, &options);
    assert_eq!(run.status, Some(0), "{run:?}");
    for line in [
        format!("  file {}", log.display()),
        "  each entry is on the disk before what it announces is done".to_owned(),
        "  arguments: in full, but for contents and what looks like a secret".to_owned(),
        format!("  signed, public key {}", public_key.trim()),
        "  put aside at 1048576 bytes or after 7days".to_owned(),
    ] {
        assert!(
            run.stdout.lines().any(|other| other == line),
            "{line}: {}",
            run.stdout
        );
    }
    let told = check(&cli, &fixture, &[&options[..], &["--json"]].concat()).success();
    assert_eq!(told["audit"], "file");
    let expected = json!({
        "arguments": "full", "durability": "full", "public_key": public_key.trim(),
        "file": text(&log), "max_bytes": 1 << 20, "max_age_seconds": 7 * 24 * 60 * 60,
        "otlp": null,
    });
    assert_eq!(told["audit_log"], expected);
    // The control: none of it is so unless somebody said so.
    let run = check(&cli, &fixture, &[]);
    for line in [
        "  each entry is written before what it announces is done, and on the disk within a second",
        "  arguments: as a hash",
        "  not signed",
        "  one file, however large and old",
    ] {
        assert!(
            run.stdout.lines().any(|other| other == line),
            "{line}: {}",
            run.stdout
        );
    }
}

#[test]
fn that_there_is_no_log_is_said_at_every_start() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let said = "warning: no audit log: nothing that the tools do is recorded";
    let run = check(&cli, &fixture, &["--audit", "none"]);
    assert!(run.stderr.contains(said), "{run:?}");
    assert!(run.stdout.contains("NONE, by --audit none"), "{run:?}");
    let told = check(&cli, &fixture, &["--audit", "none", "--json"]).success();
    assert_eq!(
        (&told["audit"], &told["audit_log"]),
        (&json!("none"), &Value::Null)
    );
    let inputs = fixture.inputs();
    let further = ["--read", text(&inputs), "--audit", "none"];
    let run = cli.call("list_files", &json!({}), further);
    assert!(run.stderr.contains(said), "{run:?}");
    // The control.
    let run = cli.call("list_files", &json!({}), &further[..2]);
    assert!(!run.stderr.contains("audit log"), "{run:?}");
}

#[test]
fn the_agent_hears_that_nothing_is_recorded() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let instructions = |further: &[&str]| {
        let mut command = cli.command(["mcp", "--read", text(&fixture.inputs())]);
        let input = format!("{}\n", initialize());
        let run = Run::with_input(command.args(further), input.as_bytes());
        run.json()["result"]["instructions"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let words = "Nothing of what you do here is recorded";
    assert!(instructions(&["--audit", "none"]).contains(words));
    assert!(!instructions(&[]).contains(words));
}

#[cfg(not(feature = "otel"))]
#[test]
fn a_program_that_cannot_export_says_so() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let run = check(&cli, &fixture, &["--otlp", "env"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("--features otel"), "{run:?}");
}
