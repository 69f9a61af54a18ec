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
