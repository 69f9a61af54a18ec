//! Signatures, made by minisign itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::guest;
use crate::hostile::component::with_listing;
use crate::support::cli::{Cli, Run};

/// Two keys in a directory, `one` and `two`.
pub struct Signer {
    pub cli: Cli,
}

/// A signer, and a component.
struct Desk {
    signer: Signer,
    component: PathBuf,
}

pub fn minisign(directory: &Path, arguments: &[&str]) {
    let mut minisign = Command::new("minisign");
    let run = minisign.args(arguments).current_dir(directory).output();
    let run = run.expect("`scripts/test-prerequisites` installs minisign");
    assert!(run.status.success(), "{run:?}");
}

impl Signer {
    pub fn new() -> Self {
        let cli = Cli::new();
        for key in ["one", "two"] {
            let (public, secret) = (format!("{key}.pub"), format!("{key}.key"));
            minisign(cli.state(), &["-G", "-W", "-p", &public, "-s", &secret]);
        }
        Self { cli }
    }

    /// The public half of a key, as options take it.
    pub fn key(&self, key: &str) -> String {
        let file = self.cli.state().join(format!("{key}.pub"));
        let text = fs::read_to_string(file).unwrap();
        text.lines().nth(1).unwrap().to_owned()
    }
}

impl Desk {
    fn new() -> Self {
        let signer = Signer::new();
        let component = guest::file(signer.cli.state(), "tool.wasm", guest::plain());
        Self { signer, component }
    }

    fn cli(&self) -> &Cli {
        &self.signer.cli
    }

    fn key(&self, key: &str) -> String {
        self.signer.key(key)
    }

    fn sign(&self, key: &str) {
        let secret = format!("{key}.key");
        minisign(
            self.cli().state(),
            &["-S", "-W", "-s", &secret, "-m", "tool.wasm"],
        );
    }

    /// The code of the first problem, and that loading agrees with inspecting.
    fn problem(&self, options: &[&str]) -> Option<String> {
        let inspected = Run::of(
            (self.cli().command(["inspect", "--json"]))
                .arg(&self.component)
                .args(options),
        );
        let code = inspected.json()["problems"][0]["code"]
            .as_str()
            .map(str::to_owned);
        let listed = Run::of(
            (self.cli().command(["tools", "--component"]))
                .arg(&self.component)
                .args(options),
        );
        match &code {
            None => assert_eq!(listed.status, Some(0), "{listed:?}"),
            Some(code) => assert!(listed.stderr.contains(code.as_str()), "{listed:?}"),
        }
        code
    }
}

#[test]
fn a_signature_of_a_trusted_key_is_taken() {
    let desk = Desk::new();
    desk.sign("one");
    let key = desk.key("one");
    assert_eq!(
        desk.problem(&["--require-signature", "--trusted-key", &key]),
        None
    );
}

#[test]
fn without_a_signature_a_file_is_taken_only_where_none_is_required() {
    let desk = Desk::new();
    let key = desk.key("one");
    assert_eq!(desk.problem(&["--trusted-key", &key]), None);
    let required = desk.problem(&["--require-signature", "--trusted-key", &key]);
    assert_eq!(required.as_deref(), Some("signature-missing"));
}

#[test]
fn a_signature_of_another_key_is_never_taken() {
    let desk = Desk::new();
    desk.sign("two");
    let (one, two) = (desk.key("one"), desk.key("two"));
    let unknown = Some("signature-unknown-key");
    assert_eq!(desk.problem(&["--trusted-key", &one]).as_deref(), unknown);
    assert_eq!(desk.problem(&["--require-signature"]).as_deref(), unknown);
    assert_eq!(
        desk.problem(&["--trusted-key", &one, "--trusted-key", &two]),
        None
    );
}

#[test]
fn a_signature_of_another_file_or_none_is_never_taken() {
    let desk = Desk::new();
    desk.sign("one");
    let key = desk.key("one");
    fs::write(&desk.component, with_listing(b'o')).unwrap();
    let invalid = Some("signature-invalid");
    assert_eq!(desk.problem(&["--trusted-key", &key]).as_deref(), invalid);
    let signature = desk.cli().state().join("tool.wasm.minisig");
    for text in [
        "",
        "untrusted comment: x\nRWnothing\n",
        &"x".repeat(100_000),
    ] {
        fs::write(&signature, text).unwrap();
        assert_eq!(desk.problem(&["--trusted-key", &key]).as_deref(), invalid);
    }
}

/// What is there and cannot be read is never as good as none.
#[test]
fn a_signature_that_cannot_be_read_is_no_missing_one() {
    let desk = Desk::new();
    let key = desk.key("one");
    let signature = desk.cli().state().join("tool.wasm.minisig");
    std::os::unix::fs::symlink("nowhere", &signature).unwrap();
    let problem = desk.problem(&["--trusted-key", &key]);
    assert_eq!(problem.as_deref(), Some("signature-invalid"));
    fs::remove_file(&signature).unwrap();
    fs::create_dir(&signature).unwrap();
    let problem = desk.problem(&["--trusted-key", &key]);
    assert_eq!(problem.as_deref(), Some("signature-invalid"));
}

#[test]
fn of_a_file_that_was_not_read_nothing_is_said_but_that() {
    let desk = Desk::new();
    desk.sign("two");
    let key = desk.key("one");
    let missing = desk.cli().state().join("missing.wasm");
    for file in [&desk.component, &missing] {
        let mut command = desk.cli().command(["inspect", "--trusted-key", &key]);
        let text = Run::of(command.arg(file)).stdout;
        assert!(text.contains("world:     not known"), "{text}");
        assert!(text.contains("declares:  not known"), "{text}");
        let mut command = desk
            .cli()
            .command(["inspect", "--json", "--trusted-key", &key]);
        let json = Run::of(command.arg(file)).json();
        assert_eq!(json["read"], false);
        assert_eq!(json["world"], serde_json::Value::Null);
    }
}

/// The command line's keys hold for a table as well.
#[test]
fn a_table_trusts_no_key_that_the_command_line_does_not() {
    let desk = Desk::new();
    desk.sign("one");
    let (one, two) = (desk.key("one"), desk.key("two"));
    let config = desk.cli().state().join("rootbound.toml");
    let text = format!("[component.a]\nfile = \"tool.wasm\"\ntrusted_key = [\"{one}\"]\n");
    fs::write(&config, text).unwrap();
    let check = |keys: &[&str]| {
        let mut command = desk
            .cli()
            .command(["check", "--require-signature", "--config"]);
        command.arg(&config);
        Run::of(command.args(keys.iter().map(|key| format!("--trusted-key={key}"))))
    };
    assert_eq!(check(&[]).status, Some(0));
    assert_eq!(check(&[&one, &two]).status, Some(0));
    let refused = check(&[&two]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("trusts none of its keys"),
        "{refused:?}"
    );
}
