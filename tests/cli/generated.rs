//! Completions and the manual page.

use crate::support::cli::Cli;

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = Cli::new().run(["completions", shell]);
        assert_eq!(run.status, Some(0), "{shell}: {run:?}");
        for word in ["call", "check", "max-read-bytes", "default-encoding"] {
            assert!(run.stdout.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(Cli::new().run(["completions", "cmd"]).status, Some(2));
}

/// Bash takes the script as one.
#[test]
fn the_completions_for_bash_are_a_script() {
    let run = Cli::new().run(["completions", "bash"]);
    let mut bash = std::process::Command::new("bash");
    let checked = crate::support::cli::Run::with_input(bash.arg("-n"), run.stdout.as_bytes());
    assert_eq!(checked.status, Some(0), "{checked:?}");
}

#[test]
fn the_manual_page_has_every_command_and_option() {
    let run = Cli::new().run(["man"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stdout.contains(".TH rootbound 1"), "{}", run.stdout);
    let text = run.stdout.replace('\\', "");
    for words in [
        "COMMAND CALL",
        "COMMAND CHECK",
        "COMMAND AUDIT VERIFY",
        "COMMAND APPROVALS APPROVE",
        "--max-read-bytes",
        "--deny",
        "--public-key",
        "--default-encoding",
        "approvals",
    ] {
        assert!(text.contains(words), "{words}");
    }
}

/// Readers of manual pages take it without a complaint.
#[test]
fn the_manual_page_is_well_formed() {
    let page = Cli::new().run(["man"]).stdout;
    let known = [
        ".ie", ".el", ".TH", ".SH", ".SS", ".TP", ".RS", ".RE", ".br", ".PP", ".IP", ".nf", ".fi",
    ];
    for line in page.lines().filter(|line| line.starts_with('.')) {
        let macro_name = line.split(' ').next().unwrap();
        assert!(known.contains(&macro_name), "{line}");
    }
}
