//! The help texts, whole.

use crate::support::cli::{Cli, Run};
use crate::support::snapshot::assert_accepted;

/// Help is wrapped to the terminal; without one, and without a word from the environment,
/// the width is the same everywhere.
fn help(arguments: &[&str]) -> String {
    let run = Run::of(Cli::new().command(arguments).env_remove("COLUMNS"));
    assert_eq!(run.status, Some(0), "{run:?}");
    run.stdout
}

#[test]
fn help_reads_as_accepted() {
    for (arguments, file) in [
        (&["--help"][..], "cli/help.txt"),
        (&["call", "--help"], "cli/help-call.txt"),
        (&["check", "--help"], "cli/help-check.txt"),
        (&["mcp", "--help"], "cli/help-mcp.txt"),
        (&["tools", "--help"], "cli/help-tools.txt"),
        (&["audit", "--help"], "cli/help-audit.txt"),
        (&["audit", "show", "--help"], "cli/help-audit-show.txt"),
        (&["audit", "verify", "--help"], "cli/help-audit-verify.txt"),
        (&["approvals", "--help"], "cli/help-approvals.txt"),
    ] {
        assert_accepted(file, &help(arguments));
    }
}

/// A secret may stand in a directory's name; help is pasted into bug reports.
#[test]
fn help_does_not_show_the_environment() {
    let mut command = Cli::new().command(["call", "--help"]);
    let run = Run::of(command.env("ROOTBOUND_WORK_DIR", "/home/somebody/project"));
    assert!(!run.stdout.contains("somebody"), "{}", run.stdout);
}
