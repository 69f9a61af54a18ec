//! The documents say what is so: commands, outputs, tables, names of files.

mod clients;
mod components;
mod console;
mod deployment;
mod links;
mod other_hosts;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rootbound::Limits;

const PROGRAM: &str = env!("CARGO_BIN_EXE_rootbound");

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn document(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

fn readme() -> String {
    document("README.md")
}

/// The contents of the fenced blocks in one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    text.split(&opening)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

/// A search path on which the program comes first.
fn search_path() -> String {
    let directory = PathBuf::from(PROGRAM).parent().unwrap().to_owned();
    format!(
        "{}:{}",
        directory.display(),
        std::env::var("PATH").unwrap_or_default()
    )
}

#[test]
fn the_readme_can_be_read_in_a_sitting() {
    let bytes = readme().len();
    assert!(
        (5_000..=8_192).contains(&bytes),
        "README.md has {bytes} bytes; it is to have 5 to 8 kB, so move details to CONTRIBUTING.md or SECURITY.md"
    );
}

#[test]
fn the_readme_says_what_a_reader_asks_in_that_order() {
    let text = readme();
    let headings: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let expected = [
        "Quick start",
        "Plug it into an agent",
        "Embed",
        "What is promised",
        "Tools",
        "What it does not protect against",
        "Limits and defaults",
        "Measured",
        "Building",
        "Licence",
    ];
    assert_eq!(headings, expected);
}

#[test]
fn every_test_folder_is_named_where_readers_look() {
    let documents = [
        readme(),
        document("SECURITY.md"),
        document("CONTRIBUTING.md"),
    ]
    .concat();
    for folder in document("tests/main.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
    {
        assert!(
            documents.contains(&format!("`tests/{folder}")),
            "say in README.md, SECURITY.md or CONTRIBUTING.md what tests/{folder} proves"
        );
    }
}

#[test]
fn the_lines_about_embedding_are_those_of_the_example() {
    let words = |text: &str| {
        text.lines()
            .map(|line| format!("{}\n", line.trim()))
            .collect::<String>()
    };
    let example = words(&document("examples/embed.rs"));
    let shown = blocks(&readme(), "rust");
    assert_eq!(shown.len(), 1, "README.md shows one way to embed");
    assert!(
        example.contains(&words(&shown[0])),
        "the Rust code in README.md is not part of examples/embed.rs, which is compiled: copy it from there"
    );
}

#[test]
fn the_limits_in_the_readme_are_the_defaults() {
    let limits = Limits::default();
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    let phrases = [
        format!("{} read of one file", mib(limits.max_read_bytes)),
        format!("{} in a call", mib(limits.max_call_read_bytes)),
        format!("{} written", mib(limits.max_write_bytes)),
        format!("results up to {}", mib(limits.max_output_bytes)),
        format!("{} thousand entries", limits.max_entries / 1000),
        format!("{} levels", limits.max_depth),
        format!("{} open handles", limits.max_handles),
        format!("{} of memory", mib(limits.max_memory)),
        format!("{} seconds", limits.timeout.as_secs()),
    ];
    let text = readme().split_whitespace().collect::<Vec<_>>().join(" ");
    for phrase in phrases {
        assert!(text.contains(&phrase), "README.md does not say `{phrase}`");
    }
}

/// It does not bound what a component lists in all.
#[test]
fn max_entries_is_said_everywhere_to_bound_a_page() {
    for (name, phrase) in [
        ("README.md", "thousand entries in a listing's page"),
        ("SECURITY.md", "entries in each page of a directory"),
        (
            "docs/deployment.md",
            "`max_entries`, for one page of a directory",
        ),
        (
            "docs/rootbound.example.toml",
            "in one page of a directory; a component may ask",
        ),
        (
            "docs/rootbound.schema.json",
            "Entries in one page of a directory",
        ),
        (
            "tests/cli/help-mcp.txt",
            "Entries in one page of a directory",
        ),
    ] {
        let text = document(name)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(text.contains(phrase), "{name} does not say `{phrase}`");
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let reasons = document("CONTRIBUTING.md");
    for manifest in ["Cargo.toml", "guest-tools/Cargo.toml", "tool/Cargo.toml"] {
        for dependency in dependencies(&document(manifest)) {
            assert!(
                has_row(&reasons, &dependency),
                "say in CONTRIBUTING.md, under \"Why these dependencies\", what `{dependency}` of {manifest} is for"
            );
        }
    }
}

/// Whether the first cell of a row of a table holds the name.
fn has_row(text: &str, name: &str) -> bool {
    text.lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .any(|cell| cell.split(", ").any(|code| code == format!("`{name}`")))
}

/// The names in all dependency tables of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside
            && !line.starts_with([' ', '#', ']'])
            && let Some((name, _)) = line.split_once(" = ")
        {
            names.push(name.to_owned());
        }
    }
    assert!(!names.is_empty(), "no dependency was found");
    names
}

#[test]
fn the_demo_ends_as_it_should() {
    let demo = Command::new(repository().join("scripts/demo"))
        .arg(PROGRAM)
        .output()
        .unwrap();
    assert!(
        demo.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&demo.stdout),
        String::from_utf8_lossy(&demo.stderr)
    );
}
