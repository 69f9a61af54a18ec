//! An option that says something about another one needs it, wherever either is said.

use std::fs;

use tempfile::TempDir;

use crate::components::declaring::built_in;
use crate::support::cli::{Cli, Run};

struct Place {
    base: TempDir,
    cli: Cli,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            base: tempfile::tempdir().unwrap(),
            cli: Cli::new(),
        };
        fs::create_dir(place.base.path().join("work")).unwrap();
        place
    }

    fn run(&self, command: &str, config: &str, options: &[&str]) -> Run {
        let config = config.replace("FILE", &built_in().display().to_string());
        fs::write(self.base.path().join("rootbound.toml"), config).unwrap();
        let mut run = self.cli.command([command, "--config", "rootbound.toml"]);
        Run::of(run.args(options).current_dir(self.base.path()))
    }
}

#[test]
fn an_option_without_the_one_that_it_is_about_is_refused_and_never_passed_over() {
    #[rustfmt::skip]
    let rows: [(&str, &[&str], &str); 19] = [
        ("",                            &["--remove-session-dir"],                      "`--remove-session-dir`: it is about the directory of `--session-dir`"),
        ("",                            &["--remove-session-dir", "--work=work"],       "`--remove-session-dir`: "),
        ("session_dir = \"s\"",         &["--remove-session-dir", "--work=work"],       "`--remove-session-dir`: "),
        ("remove_session_dir = true",   &[],                                            "rootbound.toml:1: `remove_session_dir`: "),
        ("\nremove_session_dir = true", &["--read=work"],                               "rootbound.toml:2: `remove_session_dir`: "),
        ("[component.a]\nfile = \"FILE\"\nremove_session_dir = true", &["--session-dir=s"], "`[component.a]`: `remove_session_dir`: "),
        ("",                            &["--audit-max-bytes=1MiB", "--audit=stderr"],  "`--audit-max-bytes`: the audit log is no file"),
        ("",                            &["--audit-max-age=7d", "--audit=none"],        "`--audit-max-age`: the audit log is no file"),
        ("audit = \"stderr\"",          &["--audit-max-age=7d"],                        "`--audit-max-age`: "),
        ("audit_max_age = \"7d\"\naudit = \"none\"", &[],                               "rootbound.toml:1: `audit_max_age`: "),
        ("",                            &["--audit-durability=full", "--audit=stderr"], "`--audit-durability`: the audit log is no file"),
        ("",                            &["--audit-durability=full", "--audit=none"],   "`--audit-durability`: "),
        ("",                            &["--audit-arguments=full", "--audit=none"],    "`--audit-arguments`: there is no audit log"),
        ("audit = \"none\"\naudit_arguments = \"full\"", &[],                           "rootbound.toml:2: `audit_arguments`: "),
        ("",                            &["--audit-key=k", "--audit=none"],             "k"),
        ("",                            &["--lock=absent.lock"],                        "absent.lock"),
        ("",                            &["--require-signature", "--component=FILE"],   "signature"),
        ("write = \"work\"\nwork = \"work\"", &[],                                      "cannot be used together"),
        ("",                            &["--work=work", "--session-dir=s"],            "cannot be used together"),
    ];
    let place = Place::new();
    for (config, options, told) in rows {
        let file = built_in().display().to_string();
        let options: Vec<String> = options.iter().map(|it| it.replace("FILE", &file)).collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let run = place.run("check", config, &options);
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (Some(2), ""),
            "{config} {options:?}: {run:?}"
        );
        assert!(run.stderr.contains(told), "{config} {options:?}: {run:?}");
    }
    let timeout = ["--approval-timeout-ms=100", "--approve=queue"];
    let run = place.run("mcp", "", &timeout);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("the client is not asked"), "{run:?}");
    for option in [
        "--http-allow-remote",
        "--http-host=x",
        "--http-origin=http://x",
        "--state-key=k",
        "--http-token-file=t",
    ] {
        let run = place.run("mcp", "", &[option]);
        assert_eq!(run.status, Some(2), "{option}: {run:?}");
        assert!(run.stderr.contains("--http <ADDR>"), "{option}: {run:?}");
    }
}

#[test]
fn with_the_one_that_it_is_about_it_is_taken() {
    let place = Place::new();
    #[rustfmt::skip]
    let rows: [(&str, &[&str]); 9] = [
        ("session_dir = \"s\"",                             &["--remove-session-dir"]),
        ("remove_session_dir = true",                       &["--session-dir=s"]),
        ("session_dir = \"s\"\nremove_session_dir = true",  &[]),
        ("remove_session_dir = false",                      &[]),
        ("[component.a]\nfile = \"FILE\"\nsession_dir = \"s\"\nremove_session_dir = true", &[]),
        ("audit_max_bytes = \"1MiB\"",                      &["--audit=log"]),
        ("",                                                &["--audit-max-bytes=1MiB"]),
        ("audit_durability = \"fast\"\naudit_arguments = \"digest\"", &["--audit=none"]),
        ("audit = \"log\"",                                 &["--audit-durability=full", "--audit-arguments=full"]),
    ];
    for (config, options) in rows {
        let run = place.run("check", config, options);
        assert_eq!(run.status, Some(0), "{config} {options:?}: {run:?}");
    }
}

/// What the file says about something that the command line takes the place of goes with it.
#[test]
fn what_the_file_says_of_an_option_that_is_overruled_goes_with_that() {
    let place = Place::new();
    #[rustfmt::skip]
    let rows: [(&str, &[&str], &str); 4] = [
        ("session_dir = \"s\"\nremove_session_dir = true",  &["--work=work"],     "remove_session_dir"),
        ("audit_max_bytes = \"1MiB\"",                      &["--audit=stderr"],  "audit_max_bytes"),
        ("audit_max_age = \"7d\"\naudit = \"log\"",         &["--audit=none"],    "audit_max_age"),
        ("audit_arguments = \"full\"",                      &["--audit=none"],    "audit_arguments"),
    ];
    for (config, options, key) in rows {
        let all = [options, &["--print-config", "--format=json"]].concat();
        let run = place.run("check", config, &all);
        assert_eq!(
            run.success()["options"][key]["origin"],
            "default",
            "{config}"
        );
    }
}
