//! `rootbound.lock`: which files the components are, so that none is exchanged unnoticed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use rootbound::{ComponentError, ComponentLoader, ToolComponent, escaped, read_configuration};
use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};

use super::components::{LockArgs, Wanted, digest};
use super::{Exit, Failure, output, print};

/// The name of the file where nobody says another.
pub(super) const FILE_NAME: &str = "rootbound.lock";
/// The one format that there is.
const FORMAT: u64 = 1;
/// What stands at the head of one.
const HEAD: &str =
    "# Written by `rootbound lock`: a component that is another file is not loaded.\n";

/// The digests of the components, by their names.
#[derive(Debug)]
pub(crate) struct Lock {
    digests: BTreeMap<String, String>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    lock: u64,
    #[serde(default)]
    component: BTreeMap<String, Entry>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    sha256: String,
}

/// Writes the lock of the components that are given.
pub(super) fn run(args: &LockArgs) -> Result<Exit, Failure> {
    let (components, sources) = (&args.session.components, &args.session.sources);
    let wanted = components.load_with(sources, None)?;
    let file = components.new_lock_file(sources);
    output::write(&file, text_of(&wanted)?.as_bytes(), is_lock)?;
    print::text(&escaped(&file.display().to_string()));
    if !components.finds_lock(sources) {
        print::to_stderr(
            "note: without a configuration file beside it, it counts where `--lock` names it",
        );
    }
    Ok(Exit::Success)
}

fn text_of(wanted: &[Wanted]) -> anyhow::Result<String> {
    let of_files = wanted.iter().filter(|one| one.file.is_some());
    let entry = |one: &Wanted| {
        let sha256 = one.component.sha256().to_owned();
        (one.name.clone(), Entry { sha256 })
    };
    let written = Written {
        lock: FORMAT,
        component: of_files.map(entry).collect(),
    };
    ensure!(
        !written.component.is_empty(),
        "there is nothing to lock: name components with `--component FILE.wasm`, or in the file of `--config`"
    );
    Ok(format!("{HEAD}{}", toml::to_string(&written)?))
}

/// Whether a file is a lock, of this format or of another: it can be written over.
fn is_lock(bytes: &[u8]) -> bool {
    let text = str::from_utf8(bytes).unwrap_or_default();
    DeTable::parse(text).is_ok_and(|table| {
        let format = table.get_ref().get("lock");
        format.is_some_and(|format| matches!(format.get_ref(), DeValue::Integer(_)))
    })
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
        let written: Written = toml::from_str(text).map_err(|error| {
            let before = &text[..error.span().map_or(0, |span| span.start)];
            let line = before.matches('\n').count() + 1;
            anyhow!("line {line}: {}", error.message().replace('\n', " "))
        })?;
        if written.lock != FORMAT {
            bail!(
                "`lock` is {}, and this program knows {FORMAT}",
                written.lock
            );
        }
        let mut digests = BTreeMap::new();
        for (name, Entry { sha256 }) in written.component {
            let sha256 = digest(&sha256).with_context(|| format!("`component.{name}`"))?;
            digests.insert(name, sha256);
        }
        Ok(Self { digests })
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

    /// As [`Lock::load`], for the component in the program. A lock need not know it, since no
    /// file can be exchanged for it.
    pub(crate) fn load_built_in(
        &self,
        name: &str,
        loader: &ComponentLoader,
    ) -> Result<ToolComponent, ComponentError> {
        match self.digests.get(name) {
            Some(digest) => loader.clone().sha256(digest).file_tools(),
            None => loader.file_tools(),
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
        assert!(is_lock(lock.as_bytes()));
        for text in [
            "",
            "lock = 2",
            "lock = 1\n[component.csv]",
            "lock = 1\n[component.csv]\nsha256 = 7",
            "lock = 1\n[component.csv]\nsha256 = \"\"",
            "lock = 1\n[component.csv]\nsha256 = \"\"\nallow = true",
            "lock = 1\nunlocked = true",
            "[package]\nname = \"mine\"",
        ] {
            assert!(Lock::parse(text).is_err(), "{text}");
        }
        for text in [
            "lock = \"door\"",
            "locked = 1",
            "[package]\nlock = 1",
            "not TOML",
        ] {
            assert!(!is_lock(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_lock_that_cannot_be_read_is_told_with_its_line() {
        let error = Lock::parse("lock = 1\n[component.csv]\nsha256 = 7\n").unwrap_err();
        let told = format!("{error:#}");
        assert!(
            told.starts_with("line 3: ") && !told.contains('\n'),
            "{told}"
        );
    }
}
