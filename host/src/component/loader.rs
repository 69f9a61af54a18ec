//! Loading a component: every check in the order in which a stranger's file has to pass it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::apart::{Lost, apart};
use super::cache::ComponentCache;
use super::examine::{Facts, Imported, MAX_COMPONENT_BYTES, examine, too_large};
use super::fault::{ComponentError, component_code as code};
use super::imports::{Import, Standing};
use super::manifest::Manifest;
use super::signature::{self, MAX_SIGNATURE_BYTES, Trust, TrustedKey};
use super::weight::weigh;
use super::{Identity, ToolComponent, engine};
use crate::{ambient, embedded, random};

/// How long compiling may take: an interpreter with its standard library takes twelve seconds of a
/// processor, and a machine may have others to serve.
const COMPILE_PATIENCE: Duration = Duration::from_secs(600);

/// Loads components of others.
///
/// The defaults are: no imports but files and streams; whatever digest the file has; no
/// signature needed; nothing kept; ten minutes for compiling.
///
/// # Examples
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use rootbound::{ComponentLoader, Import, Session};
///
/// let component = ComponentLoader::default()
///     .import(Import::Environment)
///     .import(Import::Stdio)
///     .load_file("tools-in-python.wasm")?;
/// let session = Session::builder().component(component).read_root("inputs").build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ComponentLoader {
    imports: BTreeSet<Import>,
    digests: BTreeSet<String>,
    trust: Trust,
    cache: Option<ComponentCache>,
    compile_timeout: Option<Duration>,
}

/// A component's file, and the signature that stands beside it.
pub(super) struct Origin {
    pub(super) bytes: Vec<u8>,
    pub(super) signature: Option<Vec<u8>>,
}

impl ComponentLoader {
    /// Grants an import besides files. What a component does not import it does not get.
    #[must_use]
    pub fn import(mut self, import: Import) -> Self {
        self.imports.insert(import);
        self
    }

    /// Takes the file only if it has this digest: 64 hexadecimal digits. Where several are given,
    /// by a configuration and by a lock, it has to have each of them.
    #[must_use]
    pub fn sha256(mut self, digest: impl Into<String>) -> Self {
        self.digests.insert(digest.into().to_ascii_lowercase());
        self
    }

    /// Takes signatures of this key. A file whose signature does not verify is never taken, one
    /// without a signature is, unless a signature is required.
    #[must_use]
    pub fn trusted_key(mut self, key: TrustedKey) -> Self {
        self.trust.keys.push(key);
        self
    }

    /// Whether a signature by a trusted key is required. Default: false.
    #[must_use]
    pub fn require_signature(mut self, required: bool) -> Self {
        self.trust.required = required;
        self
    }

    /// Keeps compiled code, and takes what was kept. Default: everything is compiled anew.
    #[must_use]
    pub fn cache(mut self, cache: ComponentCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// How long compiling may take. Default: ten minutes.
    ///
    /// # Limits
    ///
    /// A compiler cannot be stopped half-way: what takes longer is refused, and its thread goes
    /// on until it is done. How much there is to compile has limits of its own, which
    /// `docs/components.md` names.
    #[must_use]
    pub fn compile_timeout(mut self, timeout: Duration) -> Self {
        self.compile_timeout = Some(timeout);
        self
    }

    /// Reads a file that the operator names, and loads the component in it. Its signature, if
    /// it has one, stands beside it: `FILE.wasm.minisig`.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no regular file, and as [`ComponentLoader::load`].
    pub fn load_file(&self, file: impl AsRef<Path>) -> Result<ToolComponent, ComponentError> {
        let Origin { bytes, signature } = Origin::read(file.as_ref())?;
        self.load_signed(&bytes, signature.as_deref())
    }

    /// The file tools that this crate carries, if they have the digest that is asked for. They are
    /// part of the program: no signature is asked of them, and they import nothing but files.
    ///
    /// # Errors
    ///
    /// `digest-mismatch`, and as [`ToolComponent::file_tools`].
    pub fn file_tools(&self) -> Result<ToolComponent, ComponentError> {
        self.check_digest(embedded::SHA256)?;
        ToolComponent::file_tools()
    }

    /// Checks, compiles and links a component. Nothing of it runs.
    ///
    /// # Errors
    ///
    /// With one of the codes in [`component_code`](super::component_code) when it is not a
    /// component of the world `rootbound:tools/tool-component`, imports what is not granted, or
    /// is not the file that it has to be.
    pub fn load(&self, bytes: &[u8]) -> Result<ToolComponent, ComponentError> {
        self.load_signed(bytes, None)
    }

    /// As [`ComponentLoader::load`], with a minisign signature of the bytes. Digest and signature
    /// are checked before anything else is done with them.
    ///
    /// # Errors
    ///
    /// As [`ComponentLoader::load`].
    pub fn load_signed(
        &self,
        bytes: &[u8],
        signature: Option<&[u8]>,
    ) -> Result<ToolComponent, ComponentError> {
        let sha256 = self.check_origin(bytes, signature)?;
        let facts = examine(bytes)?;
        self.compile(bytes, sha256, facts)
    }

    /// What can be decided without looking inside.
    pub(super) fn check_origin(
        &self,
        bytes: &[u8],
        signature: Option<&[u8]>,
    ) -> Result<String, ComponentError> {
        if bytes.len() as u64 > MAX_COMPONENT_BYTES {
            return Err(too_large());
        }
        self.trust.check(bytes, signature)?;
        let sha256 = random::hex_of(&Sha256::digest(bytes));
        self.check_digest(&sha256)?;
        Ok(sha256)
    }

    fn check_digest(&self, sha256: &str) -> Result<(), ComponentError> {
        match self.digests.iter().find(|expected| *expected != sha256) {
            Some(expected) => Err(ComponentError::new(
                code::DIGEST_MISMATCH,
                format!("its SHA-256 is `{sha256}`, and `{expected}` is expected"),
            )
            .hint_of("get the file again; if it was changed on purpose, pin the new digest")),
            None => Ok(()),
        }
    }

    pub(super) fn compile(
        &self,
        bytes: &[u8],
        sha256: String,
        mut facts: Facts,
    ) -> Result<ToolComponent, ComponentError> {
        facts.problems.extend(self.missing(&facts));
        if !facts.problems.is_empty() {
            return Err(facts.problems.swap_remove(0));
        }
        let engine = engine().map_err(|error| ComponentError::from_engine(code::ENGINE, &error))?;
        let cached = (self.cache.as_ref()).and_then(|cache| cache.load(engine, &sha256));
        let is_new = cached.is_none();
        let compiled = match cached {
            Some(compiled) => compiled,
            None => self.compile_apart(engine, bytes)?,
        };
        let identity = self.identity(sha256, facts.imports.iter(), facts.manifest);
        let component = ToolComponent::link(&compiled, identity)?;
        if let (true, Some(cache)) = (is_new, &self.cache) {
            // What has no tools is not worth keeping.
            if component.definitions().is_ok() {
                cache.keep(&compiled, component.sha256());
            }
        }
        Ok(component)
    }

    fn compile_apart(
        &self,
        engine: &'static Engine,
        bytes: &[u8],
    ) -> Result<Component, ComponentError> {
        weigh(bytes)?;
        let patience = self.compile_timeout.unwrap_or(COMPILE_PATIENCE);
        let bytes = bytes.to_owned();
        match apart(patience, move || Component::new(engine, bytes)) {
            Ok(compiled) => compiled.map_err(|error| unsupported(&error)),
            Err(Lost::Late) => Err(ComponentError::compile_timeout(patience)),
            Err(Lost::Failed) => Err(ComponentError::not_compiled()),
        }
    }

    fn identity<'a>(
        &self,
        sha256: String,
        imports: impl Iterator<Item = &'a Imported>,
        manifest: Option<Manifest>,
    ) -> Identity {
        let optional = |imported: &Imported| match imported.standing {
            Standing::Optional(import) => Some(import),
            _ => None,
        };
        let imports: BTreeSet<Import> = imports.filter_map(optional).collect();
        Identity {
            sha256,
            imports: imports.into_iter().collect(),
            manifest,
            cache: self.cache.as_ref().map(|it| it.directory().to_owned()),
        }
    }

    /// Imports that are not granted, or that the component itself does not declare; each once,
    /// by the first interface that needs it.
    pub(super) fn missing(&self, facts: &Facts) -> Vec<ComponentError> {
        let (mut missing, mut seen) = (Vec::new(), BTreeSet::new());
        for imported in &facts.imports {
            let Standing::Optional(import) = imported.standing else {
                continue;
            };
            if !seen.insert(import) {
                continue;
            }
            if facts
                .manifest
                .as_ref()
                .is_some_and(|it| !it.imports.contains(&import))
            {
                missing.push(ComponentError::not_declared(&imported.name, import));
            }
            if !self.imports.contains(&import) {
                missing.push(ComponentError::not_granted(&imported.name, import));
            }
        }
        missing
    }
}

impl Origin {
    pub(super) fn read(file: &Path) -> Result<Self, ComponentError> {
        let bytes = read(file)?;
        let mut beside = file.as_os_str().to_owned();
        beside.push(signature::SUFFIX);
        let signature = match ambient::read_at_most(beside.as_ref(), MAX_SIGNATURE_BYTES) {
            Ok(Some(signature)) => Some(signature),
            // It is there and none: as good as one that does not verify.
            Ok(None) => Some(Vec::new()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link(&beside) => None,
            Err(_) => Some(Vec::new()),
        };
        Ok(Self { bytes, signature })
    }
}

/// A link that leads nowhere is there, though what it names is not.
#[expect(
    clippy::disallowed_methods,
    reason = "the file stands beside the one that the operator names"
)]
fn is_link(file: &OsStr) -> bool {
    Path::new(file).symlink_metadata().is_ok()
}

/// Reads the file of a component that the operator names, whatever is in it.
///
/// # Errors
///
/// `unreadable` when it cannot be read or is no regular file, `too-large` beyond 128 MiB.
pub fn read_component(file: impl AsRef<Path>) -> Result<Vec<u8>, ComponentError> {
    read(file.as_ref())
}

/// Reads a component's file, of which no more is read than a component may have.
pub(super) fn read(file: &Path) -> Result<Vec<u8>, ComponentError> {
    match ambient::read_at_most(file, MAX_COMPONENT_BYTES) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(too_large()),
        Err(error) => {
            let message = format!("it cannot be read: {error}");
            Err(ComponentError::new(code::UNREADABLE, message))
        }
    }
}

/// What the engine does not take of a component whose outline is in order.
fn unsupported(error: &wasmtime::Error) -> ComponentError {
    ComponentError::from_engine(code::UNSUPPORTED, error)
        .hint_of("build the component for WebAssembly 2.0 without threads, exceptions and garbage collection")
}
