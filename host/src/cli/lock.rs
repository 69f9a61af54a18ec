//! `rootbound.lock`: which files the components are, so that none is exchanged unnoticed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, bail};
use rootbound::{ComponentError, ComponentLoader, ToolComponent, read_configuration};
use serde::Deserialize;

use super::components::{LockArgs, Wanted};
use super::{Exit, Failure, print};

/// The name of the file where nobody says another.
pub(super) const FILE_NAME: &str = "rootbound.lock";
/// The one format that there is.
const FORMAT: u64 = 1;

/// The digests of the components, by their names.
#[derive(Debug)]
pub(crate) struct Lock {
    digests: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    lock: u64,
    #[serde(default)]
    component: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    sha256: String,
}

/// Writes the lock of the components that are given.
pub(super) fn run(args: &LockArgs) -> Result<Exit, Failure> {
    let (components, sources) = (&args.session.components, &args.session.sources);
    let wanted = components.load_with(sources, None)?;
    let file = components.new_lock_file(sources);
    let text = text_of(&wanted);
    write(&file, &text).with_context(|| format!("`{}` cannot be written", file.display()))?;
    print::result(&file.display().to_string());
    Ok(Exit::Success)
}

/// A name is letters, digits, `-` and `_`, so it is a key of TOML as it stands.
fn text_of(wanted: &[Wanted]) -> String {
    let mut text = format!(
        "# Written by `rootbound lock`: a component that is another file is not loaded.\nlock = {FORMAT}\n"
    );
    for one in wanted.iter().filter(|one| one.file.is_some()) {
        let (name, sha256) = (&one.name, one.component.sha256());
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[component.{name}]\nsha256 = \"{sha256}\"\n");
    }
    text
}

#[expect(
    clippy::disallowed_methods,
    reason = "the operator names the file to be written"
)]
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    std::fs::write(file, text)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the file stands beside the one that the operator names"
)]
pub(super) fn is_there(file: &Path) -> bool {
    // What cannot be looked at, and a link that leads nowhere, is read, and the start fails.
    !matches!(file.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}

impl Lock {
    /// Reads a lock.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = read_configuration(file)
            .with_context(|| format!("`{}` cannot be read", file.display()))?;
        Self::parse(&text).with_context(|| format!("`{}` is no lock", file.display()))
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let written: Written = toml::from_str(text)?;
        if written.lock != FORMAT {
            bail!("`lock` is not {FORMAT}");
        }
        let entries = written.component.into_iter();
        Ok(Self {
            digests: entries.map(|(name, entry)| (name, entry.sha256)).collect(),
        })
    }

    /// Loads a component that is what the lock says it is.
    pub(crate) fn load(
        &self,
        name: &str,
        loader: &ComponentLoader,
        file: &Path,
    ) -> Result<ToolComponent, ComponentError> {
        match self.digests.get(name) {
            Some(digest) => loader.clone().sha256(digest).load_file(file),
            None => Err(ComponentError::not_locked(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_lock_is_refused() {
        let digest = "0".repeat(64);
        let lock = format!("lock = 1\n[component.csv]\nsha256 = \"{digest}\"\n");
        assert_eq!(Lock::parse(&lock).unwrap().digests["csv"], digest);
        for text in [
            "",
            "lock = 2",
            "lock = 1\n[component.csv]",
            "lock = 1\n[component.csv]\nsha256 = 7",
            "lock = 1\n[component.csv]\nsha256 = \"\"\nallow = true",
            "lock = 1\nunlocked = true",
        ] {
            assert!(Lock::parse(text).is_err(), "{text}");
        }
    }
}
