//! `rootbound new`: the example `word-count` under another name.

use std::io;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use rootbound::{NewFile, is_windows_device, write_new_directory};

use super::args::NewArgs;
use super::{Exit, Failure, print};

/// The example's name, in the spellings that its files use.
const EXAMPLE: [&str; 3] = ["word-count", "word_count", "WordCount"];

/// Where the example, which stands in a checkout, takes the crate from.
const IN_CHECKOUT: &str = r#"{ path = "../../../tool" }"#;
/// The version that has the same contract as this program.
const PUBLISHED: &str = concat!(
    "\"",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR"),
    "\""
);

/// As long as a tool's name may be.
const LONGEST: usize = 64;

/// Words that cannot be names (The Rust Reference, Keywords: strict and reserved, edition 2024).
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union",
];
/// Crates that come with Rust.
const CRATES: [&str; 5] = ["alloc", "core", "proc-macro", "std", "test"];

/// A file of the example, as the build script found it.
macro_rules! example {
    ($path:literal) => {
        (
            $path,
            include_str!(concat!(env!("OUT_DIR"), "/template/", $path)),
        )
    };
}

const FILES: [(&str, &str); 6] = [
    example!("Cargo.toml"),
    example!("README.md"),
    example!("src/lib.rs"),
    example!("sample/notes.md"),
    example!("sample/drafts/idea.md"),
    (".gitignore", "target/\n"),
];
const PROGRAMS: [(&str, &str); 2] = [
    example!("test"),
    (
        "scripts/build-guest",
        include_str!("../../../scripts/build-guest"),
    ),
];

pub(super) fn run(args: &NewArgs) -> Result<Exit, Failure> {
    let name = &*args.name;
    check(name)?;
    let dependency = dependency(args.tool_crate.as_deref())?;
    let make = |path, text: &str, executable| NewFile {
        path,
        content: renamed(text, name).replace(IN_CHECKOUT, &dependency),
        executable,
    };
    let texts = FILES.iter().map(|(path, text)| make(path, text, false));
    let programs = PROGRAMS.iter().map(|(path, text)| make(path, text, true));
    let files: Vec<_> = texts.chain(programs).collect();
    match write_new_directory(name, &files) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(anyhow::anyhow!("`{name}` exists already: choose another name").into());
        }
        made => made.with_context(|| format!("cannot make `{name}`"))?,
    }
    print::text(&format!("made `{name}`; now: cd {name} && ./test"));
    Ok(Exit::Success)
}

/// Cargo's rules for names, and those of tools: either would refuse the name later.
fn check(name: &str) -> anyhow::Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_plain = name.chars().all(plain) && name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_whole = !name.ends_with('-') && !name.contains("--");
    ensure!(
        is_plain && is_whole && name.len() <= LONGEST,
        "`{}` is no name for a tool: use up to {LONGEST} lower-case letters, digits and single \
         `-`, a letter first, such as `word-count`",
        name.escape_debug()
    );
    let whose = if KEYWORDS.contains(&name) {
        "a word of Rust's"
    } else if CRATES.contains(&name) || dependencies().any(|it| it == name) {
        "a crate that it is built with"
    } else if is_windows_device(name) {
        "a device on Windows"
    } else {
        return Ok(());
    };
    bail!("`{name}` is {whose}: choose another name, such as `{name}-tool`")
}

/// What the new crate depends on.
fn dependencies() -> impl Iterator<Item = &'static str> {
    let (_, manifest) = FILES[0];
    let lines = manifest.lines();
    let lines = lines.skip_while(|line| *line != "[dependencies]").skip(1);
    let entries = lines.take_while(|line| !line.starts_with('['));
    entries.filter_map(|line| Some(line.split_once(" = ")?.0))
}

fn dependency(tool_crate: Option<&Path>) -> anyhow::Result<String> {
    let Some(directory) = tool_crate else {
        return Ok(PUBLISHED.to_owned());
    };
    let absolute = std::path::absolute(directory).context("`--tool-crate` leads nowhere")?;
    let path = absolute.to_str().context("`--tool-crate` is not UTF-8")?;
    // A JSON string is one of TOML too.
    Ok(format!("{{ path = {} }}", serde_json::Value::from(path)))
}

fn renamed(text: &str, name: &str) -> String {
    let spellings = [name.to_owned(), name.replace('-', "_"), camel(name)];
    let mut text = text.to_owned();
    for (from, to) in EXAMPLE.iter().zip(&spellings) {
        text = text.replace(from, to);
    }
    text
}

fn camel(name: &str) -> String {
    let capital = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => first.to_ascii_uppercase() + rest,
        None => String::new(),
    };
    name.split('-').map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_name_is_changed() {
        let text = "word-count word_count WordCount";
        assert_eq!(renamed(text, "to-do-2"), "to-do-2 to_do_2 ToDo2");
        for (path, text) in FILES.iter().chain(&PROGRAMS) {
            let text = renamed(text, "other").to_lowercase();
            assert!(!text.contains("wordcount"), "{path} names the example");
        }
    }

    #[test]
    fn names_that_cargo_or_agents_refuse_are_refused_at_once() {
        for name in [
            "a",
            "word-count",
            "a2-b3",
            "tool",
            "option",
            "com",
            "fn-tool",
        ] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in KEYWORDS.into_iter().chain(CRATES).chain([
            "rootbound-tool",
            "serde",
            "schemars",
            "con",
            "nul",
            "com1",
            "lpt9",
        ]) {
            let told = check(name).unwrap_err().to_string();
            assert!(told.contains("choose another name"), "{told}");
            check(&format!("{name}-tool")).unwrap();
        }
        let long = "a".repeat(65);
        for name in [
            "", "-a", "a-", "a--b", "A", "2a", "a_b", "a/b", "../a", ".", "ä", "test", &long,
        ] {
            assert!(check(name).is_err(), "{name}");
        }
    }

    /// The one name of the new crate's own ends as no other does, so that no tool's name can be
    /// that of something else there.
    #[test]
    fn the_name_of_the_tool_is_no_other_in_the_crate() {
        let (_, source) = FILES[2];
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let words = source.split(|c| !is_letter(c));
        let others = words.filter(|word| word.ends_with("Tool") && *word != "WordCountTool");
        assert_eq!(others.collect::<Vec<_>>(), ["Tool", "Tool"], "the trait");
    }

    #[test]
    fn the_tool_crate_is_a_version_or_a_path() {
        assert_eq!(dependency(None).unwrap(), "\"0.1\"");
        let path = dependency(Some(Path::new("/a b/\"tool"))).unwrap();
        assert_eq!(path, r#"{ path = "/a b/\"tool" }"#);
        assert!(FILES[0].1.contains(IN_CHECKOUT));
    }
}
