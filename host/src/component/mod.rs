//! A tool component: compiled once, instantiated anew for every call.

mod apart;
mod cache;
mod compiled;
mod definition;
mod engine;
mod examine;
mod fault;
mod imports;
mod inspection;
mod listing;
mod loader;
mod manifest;
mod outline;
mod signature;
mod weight;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use wasmtime::component::{Component, HasData, Linker};

use apart::apart;
pub use cache::ComponentCache;
pub use definition::{Definition, PathArgument, PathRole};
pub(crate) use engine::{MAX_INSTANCES, MAX_MEMORIES, MAX_PARTS, MAX_TABLE_ELEMENTS, engine};
pub use examine::{Imported, Producer, nests_deeply};
pub use fault::{ComponentError, component_code};
pub use imports::{Import, Standing};
pub use inspection::Inspection;
use listing::check_list;
pub use loader::{ComponentLoader, read_component};
pub use manifest::{DeclaredLimits, Manifest};
pub use signature::{InvalidKey, TrustedKey};

use crate::bindings::{self, ToolComponentPre};
use crate::error::{self, CallError};
use crate::guard::{CallState, Guarded};
use crate::roots::Rights;
use crate::{embedded, optional, running, spare};
use component_code as code;

/// A compiled tool component and the tools it has. Cloning is cheap.
#[derive(Clone)]
pub struct ToolComponent {
    loaded: Arc<Loaded>,
}

struct Loaded {
    pre: ToolComponentPre<CallState>,
    identity: Identity,
    definitions: OnceLock<Vec<Definition>>,
    aliases: OnceLock<Vec<(String, usize)>>,
    instantiations: AtomicU64,
}

/// What is known of a component besides its code.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    sha256: String,
    /// What it imports besides files, all of it granted and declared.
    imports: Vec<Import>,
    manifest: Option<Manifest>,
    /// Where its code may have come from.
    cache: Option<PathBuf>,
}

impl ToolComponent {
    /// The file tools that this crate carries, compiled ahead of time. The first use in a
    /// process loads them; later uses share them.
    ///
    /// # Errors
    ///
    /// Only when the engine cannot start, for instance under a tight address space limit.
    pub fn file_tools() -> Result<Self, ComponentError> {
        static FILE_TOOLS: OnceLock<ToolComponent> = OnceLock::new();
        if let Some(component) = FILE_TOOLS.get() {
            return Ok(component.clone());
        }
        let unusable = |error| ComponentError::from_engine(code::ENGINE, &error);
        let compiled = engine().and_then(embedded::load).map_err(unusable)?;
        let identity = Identity {
            sha256: embedded::SHA256.to_owned(),
            imports: Vec::new(),
            manifest: None,
            cache: None,
        };
        let component = Self::link(&compiled, identity)?;
        Ok(FILE_TOOLS.get_or_init(|| component).clone())
    }

    /// A component of someone else, compiled now. It may import the WASI file system and
    /// stream interfaces and nothing else; [`ComponentLoader`] grants more.
    ///
    /// # Errors
    ///
    /// When the bytes are not a component of the world `rootbound:tools/tool-component`, or
    /// it imports more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ComponentError> {
        ComponentLoader::default().load(bytes)
    }

    /// As [`ToolComponent::from_bytes`], from a file that the operator names.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use rootbound::{Session, ToolComponent};
    ///
    /// let component = ToolComponent::from_file("my-tools.wasm")?;
    /// for tool in component.definitions()? {
    ///     assert!(tool.name.len() <= 64);
    /// }
    /// let session = Session::builder().component(component).read_root("inputs").build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Also when the file cannot be read.
    pub fn from_file(file: impl AsRef<Path>) -> Result<Self, ComponentError> {
        ComponentLoader::default().load_file(file)
    }

    fn link(component: &Component, identity: Identity) -> Result<Self, ComponentError> {
        let mut linker = Linker::<CallState>::new(component.engine());
        let linked = add_to_linker::<Guarded>(&mut linker)
            .and_then(|()| optional::add_to_linker(&mut linker, component, &identity.imports))
            .and_then(|()| ToolComponentPre::new(linker.instantiate_pre(component)?));
        let pre =
            linked.map_err(|error| ComponentError::from_engine(code::TYPE_MISMATCH, &error))?;
        Ok(Self {
            loaded: Arc::new(Loaded {
                pre,
                identity,
                definitions: OnceLock::new(),
                aliases: OnceLock::new(),
                instantiations: AtomicU64::new(0),
            }),
        })
    }

    /// SHA-256 of the component file, 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.loaded.identity.sha256
    }

    /// Whether it is the file tools of this crate, which need not be asked for their list.
    pub(crate) fn is_built_in(&self) -> bool {
        self.sha256() == embedded::SHA256
    }

    /// What the component imports besides files: each was granted by name.
    #[must_use]
    pub fn imports(&self) -> &[Import] {
        &self.loaded.identity.imports
    }

    /// What the component declares that it needs. A session gives it no more than that.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.loaded.identity.manifest.as_ref()
    }

    /// What to do without rights that the component declares that it does not need; nothing where
    /// it declares nothing, or that it does.
    pub(crate) fn not_declared(&self, rights: Rights) -> Option<&'static str> {
        let manifest = self.manifest()?;
        match rights {
            Rights::Read if !manifest.read => Some(
                "use another tool: the component of this one declares that it does not need what \
                 is granted for reading, so no grant gives it that",
            ),
            Rights::Write if !manifest.write => Some(
                "use another tool: the component of this one declares that it does not need what \
                 is granted for writing, so no grant gives it that",
            ),
            _ => None,
        }
    }

    /// The cache that its code may have come from, which no tool must reach.
    pub(crate) fn cache(&self) -> Option<&Path> {
        self.loaded.identity.cache.as_deref()
    }

    /// Does now what a call would do otherwise: makes the instance that the next call runs in,
    /// and takes down the one that the last call ran in. For a front-end that has answered and
    /// waits for its client; what it does not find ready, a call does by itself.
    ///
    /// Nothing happens for a component other than [`ToolComponent::file_tools`]: a stranger's may
    /// run code when it is made. Whoever has prepared once goes on to, since from then on what
    /// the last call left stays until somebody prepares. There is one such instance of each kind
    /// in a process, however many sessions it has.
    pub fn prepare(&self) {
        spare::prepare(self);
    }

    /// How often the component was instantiated in this process, for a call or its list of tools.
    #[must_use]
    pub fn instantiations(&self) -> u64 {
        self.loaded.instantiations.load(Ordering::Relaxed)
    }

    /// Where it stands in memory, by which it is told from others while it lives.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.loaded).addr()
    }

    pub(crate) fn pre(&self) -> &ToolComponentPre<CallState> {
        &self.loaded.pre
    }

    /// Counts an instance that is about to be called.
    pub(crate) fn count_instance(&self) {
        self.loaded.instantiations.fetch_add(1, Ordering::Relaxed);
    }

    /// The tools of the component, asked for once, with no grants.
    ///
    /// # Errors
    ///
    /// `tools-invalid`, when the component does not answer within a second, or answers what no
    /// front-end could show.
    pub fn definitions(&self) -> Result<&[Definition], ComponentError> {
        if let Some(definitions) = self.loaded.definitions.get() {
            return Ok(definitions);
        }
        let definitions = self.list()?;
        Ok(self.loaded.definitions.get_or_init(|| definitions))
    }

    /// Our own component is asked where it stands; a stranger's can open nothing meanwhile.
    fn list(&self) -> Result<Vec<Definition>, ComponentError> {
        let component = self.clone();
        let list = move || running::list_tools(&component);
        let listed = match self.is_built_in() {
            true => list(),
            false => apart(running::LIST_PATIENCE * 10, list).unwrap_or_else(|_| {
                Err(CallError::new(error::code::TIMEOUT, "there was no answer"))
            }),
        };
        let definitions = listed.map_err(|stopped| ComponentError::unlisted(&stopped))?;
        check_list(&definitions)?;
        Ok(definitions)
    }

    pub(crate) fn definition(&self, tool: &str) -> Result<Option<&Definition>, CallError> {
        Ok(self
            .definitions()
            .map_err(|error| error.in_a_call())?
            .iter()
            .find(|definition| definition.name == tool))
    }

    /// The name that a tool is listed by, for one of its other names; any other text stays as
    /// it is, and names no tool.
    pub(crate) fn listed_name<'a>(&'a self, tool: &'a str) -> Result<&'a str, CallError> {
        if self.definition(tool)?.is_some() {
            return Ok(tool);
        }
        let definitions = self.definitions().map_err(|error| error.in_a_call())?;
        let aliases = self.loaded.aliases.get_or_init(|| aliases_of(definitions));
        let alias = aliases.iter().find(|(alias, _)| alias == tool);
        Ok(alias.map_or(tool, |(_, index)| &definitions[*index].name))
    }
}

impl std::fmt::Debug for ToolComponent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ToolComponent({})", self.sha256())
    }
}

/// Other names of tools, with the tools.
fn aliases_of(definitions: &[Definition]) -> Vec<(String, usize)> {
    let mut aliases = Vec::new();
    for (index, definition) in definitions.iter().enumerate() {
        let names = definition.other_names().into_iter();
        aliases.extend(names.map(|name| (name, index)));
    }
    aliases
}

/// What every component may import is what is linked here.
fn add_to_linker<D>(linker: &mut Linker<CallState>) -> wasmtime::Result<()>
where
    D: for<'a> HasData<Data<'a> = &'a mut CallState>,
{
    bindings::filesystem::add_to_linker::<_, D>(linker, |state| state)?;
    bindings::preopens::add_to_linker::<_, D>(linker, |state| state)?;
    bindings::error::add_to_linker::<_, D>(linker, |state| state)?;
    bindings::poll::add_to_linker::<_, D>(linker, |state| state)?;
    bindings::streams::add_to_linker::<_, D>(linker, |state| state)
}
