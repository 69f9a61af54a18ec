//! Every link and every file that the documents name exists.

use super::{document, repository};

const DOCUMENTS: [&str; 11] = [
    "docs/audit.md",
    "docs/authoring.md",
    "docs/clients.md",
    "docs/components.md",
    "docs/deployment.md",
    "docs/measured.md",
    "docs/other-hosts.md",
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
];

/// What is made by a build is there only after one.
const MADE: [&str; 1] = ["target/"];
/// Where other programs keep their settings, what a new tool's directory has, and what looks
/// like a path and is none: media types and methods of the protocol.
const FOREIGN: [&str; 10] = [
    ".cursor/",
    ".gemini/",
    ".vscode/",
    "sample/",
    "src/",
    "application/",
    "text/",
    "server/",
    "rootbound-audit/",
    "rootbound.lock",
];

#[test]
fn every_link_and_every_named_file_exists() {
    let mut missing = Vec::new();
    for name in DOCUMENTS {
        let text = document(name);
        for target in links(&text).into_iter().chain(files(&text)) {
            if !repository().join(&target).exists() {
                missing.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "these documents name what does not exist: {missing:#?}"
    );
}

/// The targets of links, without those that lead to other places and without anchors.
fn links(text: &str) -> Vec<String> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .map(|target| target.split('#').next().unwrap_or(target).to_owned())
        .collect()
}

/// Code in running text that reads like a file of this repository.
fn files(text: &str) -> Vec<String> {
    without_blocks(text)
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| is_file_name(code))
        .map(str::to_owned)
        .collect()
}

fn without_blocks(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

fn is_file_name(code: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let extensions = [".md", ".toml", ".rs", ".wit", ".lock"];
    code.chars().all(plain)
        && (code.contains('/') || extensions.iter().any(|extension| code.ends_with(extension)))
        && !code.starts_with('/')
        && !code.contains("..")
        && !MADE
            .iter()
            .chain(&FOREIGN)
            .any(|other| code.starts_with(other))
}

#[test]
fn names_of_files_are_told_from_other_code() {
    for name in [
        "README.md",
        "tests/audit",
        "host/src/guard/",
        "wit/world.wit",
    ] {
        assert!(is_file_name(name), "{name}");
    }
    for other in [
        "--read",
        "../x",
        "/etc/passwd",
        "tools/list x",
        "wasi:io/poll",
        "a/../b",
    ] {
        assert!(!is_file_name(other), "{other}");
    }
}
