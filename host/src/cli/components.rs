//! Which components run, from the command line and the configuration file.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use rootbound::{
    ComponentCache, ComponentLoader, HostError, Import, Inspection, ToolComponent, ToolHost,
    TrustedKey, component_code,
};

use super::lock::{self, Lock};
use super::session_args::{GrantArgs, PolicyArgs, SessionArgs};
use super::settings::Sources;
use super::{Failure, milliseconds, print, words};

/// Stands for the component that is part of the program.
pub(super) const BUILT_IN: &str = "built-in";
/// Its name where it is one of several.
const BUILT_IN_NAME: &str = "files";
/// Letters of a component's name.
const MAX_NAME: usize = 32;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Components")]
pub(crate) struct ComponentArgs {
    /// Run the tools of this component instead of the built-in one; may be given several times.
    /// `built-in` stands for that one.
    #[arg(long, value_name = "[NAME=]FILE.wasm", value_parser = words::text_parser("component"))]
    component: Vec<OsString>,
    /// Take only components whose digests stand in this file, which `rootbound lock` writes
    /// [default: `rootbound.lock` beside the configuration file, if it is there].
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// Compile components anew, and keep nothing of them.
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    trust: TrustArgs,
}

/// What is granted to a component besides directories, and what is asked of its file.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Components")]
pub(crate) struct TrustArgs {
    /// Let components import more than files, by name; may be given several times.
    #[arg(long, value_name = "NAME", value_parser = import(), value_delimiter = ',')]
    import: Vec<Import>,
    /// Take signatures of this minisign key; may be given several times. A signature stands
    /// beside its component, in `FILE.wasm.minisig`.
    #[arg(long, value_name = "KEY", value_parser = TrustedKey::parse)]
    trusted_key: Vec<TrustedKey>,
    /// Take only components with a signature of a trusted key. The built-in one is part of the
    /// program, and needs none.
    #[arg(long)]
    require_signature: bool,
    /// Milliseconds that compiling a component may take [default: 600000].
    #[arg(long, value_name = "N", value_parser = milliseconds::parse)]
    compile_timeout_ms: Option<u64>,
}

/// A component of the configuration file: `[component.NAME]`.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// The component; `built-in` stands for the one in the program.
    #[arg(long, value_parser = words::parser("file"))]
    pub(super) file: Option<PathBuf>,
    /// Its digest: another file is not taken.
    #[arg(long, value_parser = digest)]
    sha256: Option<String>,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    pub(super) grants: GrantArgs,
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The component.
    #[arg(value_name = "FILE.wasm")]
    pub(crate) file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Run it, with no grants and for a second at most, to list its tools.
    #[arg(long)]
    pub(crate) tools: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ManifestArgs {
    #[command(subcommand)]
    pub(crate) command: ManifestCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ManifestCommand {
    /// Print the manifest of a component.
    ///
    /// Exit status: 0 it has one, 1 it has none, or one that cannot be read.
    Show {
        /// The component.
        #[arg(value_name = "FILE.wasm")]
        file: PathBuf,
    },
    /// Add a manifest to a component, which must have none.
    Add {
        /// The component.
        #[arg(value_name = "FILE.wasm")]
        file: PathBuf,
        /// The manifest, a JSON object; `docs/components.md` says what stands in it.
        #[arg(value_name = "MANIFEST.json")]
        manifest: PathBuf,
        /// Where the new component goes; only another component is written over.
        #[arg(long, short, value_name = "FILE.wasm")]
        output: PathBuf,
    },
}

/// A component to run.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    /// Absent for the built-in one.
    pub(crate) file: Option<PathBuf>,
    pub(crate) component: ToolComponent,
    /// What the configuration says of it alone.
    pub(crate) own: Option<TableArgs>,
}

fn import() -> impl TypedValueParser<Value = Import> {
    let value = |import: Import| PossibleValue::new(import.as_str()).help(import.in_words());
    PossibleValuesParser::new(Import::ALL.map(value))
        .try_map(|name| Import::named(&name).ok_or("there is no such import"))
}

impl ComponentArgs {
    /// Loads what is to run; the built-in component if nothing else is named.
    pub(crate) fn load(&self, sources: &Sources) -> Result<Vec<Wanted>, Failure> {
        let lock = self.lock_in_force(sources)?;
        self.load_with(sources, lock.as_ref())
    }

    /// As [`ComponentArgs::load`], for who changes nothing, the cache included.
    pub(crate) fn preview(&self, sources: &Sources) -> Result<Vec<Wanted>, Failure> {
        let lock = self.lock_in_force(sources)?;
        self.load_cached(sources, lock.as_ref(), ComponentCache::preview)
    }

    fn lock_in_force(&self, sources: &Sources) -> Result<Option<Lock>, Failure> {
        match self.lock_file(sources) {
            Some(file) => Ok(Some(Lock::read(&file)?)),
            None => Ok(None),
        }
    }

    /// As [`ComponentArgs::load`], whatever a lock says.
    pub(crate) fn load_with(
        &self,
        sources: &Sources,
        lock: Option<&Lock>,
    ) -> Result<Vec<Wanted>, Failure> {
        self.load_cached(sources, lock, || ComponentCache::of_user().map(Some))
    }

    fn load_cached(
        &self,
        sources: &Sources,
        lock: Option<&Lock>,
        cache: fn() -> io::Result<Option<ComponentCache>>,
    ) -> Result<Vec<Wanted>, Failure> {
        let tables = sources.component_tables()?;
        let given = self.named(&tables)?;
        let cache = match self.component.is_empty() && tables.is_empty() {
            true => None,
            false => self.cache(cache),
        };
        let loading = |trust: &TrustArgs| match &cache {
            Some(cache) => trust.loader().cache(cache.clone()),
            None => trust.loader(),
        };
        let mut wanted: Vec<Wanted> = Vec::new();
        for (name, file) in given {
            wanted.push(Wanted::load(name, file, &loading(&self.trust), lock)?);
        }
        for (name, file, own) in tables {
            let mut loader = loading(&own.trust);
            if let Some(sha256) = &own.sha256 {
                loader = loader.sha256(sha256);
            }
            let mut one = Wanted::load(name, &file, &loader, lock)?;
            one.own = Some(own);
            wanted.push(one);
        }
        if wanted.is_empty() {
            let name = BUILT_IN_NAME.to_owned();
            wanted.push(Wanted::load(
                name,
                Path::new(BUILT_IN),
                &loading(&self.trust),
                None,
            )?);
        }
        Ok(wanted)
    }

    /// The components of the command line, each with a name that no other has.
    fn named(
        &self,
        tables: &[(String, PathBuf, TableArgs)],
    ) -> anyhow::Result<Vec<(String, &Path)>> {
        let given: Result<Vec<_>, _> = self.component.iter().map(|it| split_name(it)).collect();
        let given = given?;
        let said = given.iter().filter_map(|(name, _)| name.as_ref());
        let mut taken = BTreeSet::new();
        for name in said.chain(tables.iter().map(|(name, ..)| name)) {
            ToolHost::check_name(name)?;
            if !taken.insert(name.clone()) {
                return Err(HostError::Taken(name.clone()).into());
            }
        }
        let mut named = Vec::new();
        for (name, file) in given {
            let name = name.unwrap_or_else(|| unique_name(file, &taken));
            taken.insert(name.clone());
            named.push((name, file));
        }
        Ok(named)
    }

    /// The lock that is in force.
    fn lock_file(&self, sources: &Sources) -> Option<PathBuf> {
        let beside = || Some(sources.file.as_ref()?.with_file_name(lock::FILE_NAME));
        match &self.lock {
            Some(file) => Some(file.clone()),
            None => beside().filter(|file| lock::is_there(file)),
        }
    }

    /// Where `rootbound lock` writes.
    pub(crate) fn new_lock_file(&self, sources: &Sources) -> PathBuf {
        let beside = sources.file.as_ref();
        let beside = beside.map(|file| file.with_file_name(lock::FILE_NAME));
        let file = self.lock.clone().or(beside);
        file.unwrap_or_else(|| PathBuf::from(lock::FILE_NAME))
    }

    /// Whether what `rootbound lock` writes is in force with the same options.
    pub(crate) fn finds_lock(&self, sources: &Sources) -> bool {
        self.lock.is_some() || sources.file.is_some()
    }

    /// Files that decide what runs, and that no tool may reach.
    pub(crate) fn deciding_files(&self, sources: &Sources) -> Vec<PathBuf> {
        let lock = self.lock_file(sources);
        sources.file.iter().cloned().chain(lock).collect()
    }

    /// Without a cache everything works, only later.
    fn cache(&self, open: fn() -> io::Result<Option<ComponentCache>>) -> Option<ComponentCache> {
        if self.no_cache {
            return None;
        }
        open()
            .inspect_err(|error| {
                print::to_stderr(&format!(
                    "warning: compiled components are not kept: {error}"
                ));
            })
            .ok()
            .flatten()
    }
}

impl Wanted {
    fn load(
        name: String,
        file: &Path,
        loader: &ComponentLoader,
        lock: Option<&Lock>,
    ) -> Result<Self, Failure> {
        let is_built_in = file == Path::new(BUILT_IN);
        let loaded = match (is_built_in, lock) {
            (true, None) => loader.file_tools(),
            (true, Some(lock)) => lock.load_built_in(&name, loader),
            (false, None) => loader.load_file(file),
            (false, Some(lock)) => lock.load(&name, loader, file),
        };
        // A component whose tools nobody can be shown is as useless as one that does not load. Ours
        // has its list, and is asked for it when somebody wants it.
        let listed = loaded.and_then(|it| match is_built_in {
            true => Ok(it),
            false => it.definitions().map(|_| it.clone()),
        });
        let component = listed.map_err(|error| match error.code() {
            component_code::IMPORT_NOT_GRANTED => lacks_imports(file, loader, &error),
            _ => unusable(file, &error),
        })?;
        Ok(Self {
            name,
            file: (!is_built_in).then(|| file.to_owned()),
            component,
            own: None,
        })
    }
}

impl TrustArgs {
    /// How components are loaded.
    pub(crate) fn loader(&self) -> ComponentLoader {
        let loader = ComponentLoader::default().require_signature(self.require_signature);
        let keys = self.trusted_key.iter().cloned();
        let mut loader = keys.fold(loader, ComponentLoader::trusted_key);
        if let Some(timeout) = self.compile_timeout_ms {
            loader = loader.compile_timeout(Duration::from_millis(timeout));
        }
        (self.import.iter().copied()).fold(loader, ComponentLoader::import)
    }
}

/// A component that cannot be used is a mistake of whoever started the program.
pub(crate) fn unusable(file: &Path, error: &rootbound::ComponentError) -> anyhow::Error {
    let hint = match error.hint() {
        "" => String::new(),
        hint => format!(" ({hint})"),
    };
    anyhow::anyhow!("`{}`: {error}{hint}", file.display())
}

/// The same where imports are missing: all of them, and not one after the other.
fn lacks_imports(
    file: &Path,
    loader: &ComponentLoader,
    first: &rootbound::ComponentError,
) -> anyhow::Error {
    let inspection = Inspection::of_file(loader, file);
    let is_missing = |import: &&Import| {
        let hint = format!("`--import {import}`");
        let mut problems = inspection.problems.iter();
        problems.any(|it| it.hint().contains(&hint))
    };
    let wants = inspection.wants();
    let missing = wants.iter().filter(is_missing);
    let missing: Vec<&str> = missing.map(|import| import.as_str()).collect();
    match missing.len() {
        0 | 1 => unusable(file, first),
        _ => anyhow::anyhow!(
            "`{}`: the component cannot be used: {}: it imports what is given where `{}` are              granted (grant them with `--import {}`, if it may have that)",
            file.display(),
            first.code(),
            missing.join("`, `"),
            missing.join(",")
        ),
    }
}

/// `csv=./tools/csv.wasm` is a name and a file; a file with `=` in its name is given as
/// `./a=b.wasm`.
fn split_name(given: &OsStr) -> anyhow::Result<(Option<String>, &Path)> {
    let bytes = given.as_bytes();
    let name = match bytes.iter().position(|byte| matches!(byte, b'=' | b'/')) {
        Some(end) if bytes[end] == b'=' => &bytes[..end],
        _ => return Ok((None, Path::new(given))),
    };
    let file = OsStr::from_bytes(&bytes[name.len() + 1..]);
    if file.is_empty() {
        bail!("`--component {}` names no file", given.display());
    }
    let name = std::str::from_utf8(name).context("the name of a component is not UTF-8")?;
    Ok((Some(name.to_owned()), Path::new(file)))
}

/// Takes what can be a SHA-256 in hex.
pub(super) fn digest(text: &str) -> anyhow::Result<String> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    ensure!(is_digest, "a digest is 64 hexadecimal digits");
    Ok(text.to_ascii_lowercase())
}

/// A name made of the file's, which no other component has.
fn unique_name(file: &Path, taken: &BTreeSet<String>) -> String {
    if file == Path::new(BUILT_IN) {
        return unique(BUILT_IN_NAME, taken);
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let parts = stem.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let mut name = parts.join("-");
    name.truncate(MAX_NAME - "-99".len());
    match name.trim_end_matches('-') {
        "" => unique("component", taken),
        name => unique(name, taken),
    }
}

fn unique(name: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken.contains(name))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_before_the_file_or_is_made_of_it() {
        let split = |given: &'static str| {
            let (name, file) = split_name(OsStr::new(given)).unwrap();
            (name, file.to_str().unwrap())
        };
        assert_eq!(split("csv=a/b.wasm"), (Some("csv".to_owned()), "a/b.wasm"));
        assert_eq!(split("./a=b.wasm"), (None, "./a=b.wasm"));
        assert!(split_name(OsStr::new("csv=")).is_err());
        assert_eq!(
            unique_name(Path::new("x/word_count.v2.wasm"), &BTreeSet::new()),
            "word-count-v2"
        );
        let taken = BTreeSet::from(["component".to_owned()]);
        assert_eq!(unique_name(Path::new("ü.wasm"), &taken), "component-2");
    }
}
