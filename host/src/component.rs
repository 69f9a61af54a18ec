//! A tool component: compiled once, instantiated anew for every call.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use sha2::{Digest, Sha256};
use wasmtime::component::{Component, HasData, Linker};
use wasmtime::{Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::bindings::{self, ToolComponentPre, provider};
use crate::error::CallError;
use crate::guard::{CallState, Guarded};
use crate::policy::{Operation, RiskClass};
use crate::{ambient, embedded, engine_config, random, running};

/// Instances that can run at one time in a process; a further call waits.
pub(crate) const MAX_INSTANCES: u32 = 64;
/// Core instances of one component: one of `wit-component`'s has three.
pub(crate) const MAX_PARTS: u32 = 16;
/// Memories of one component.
pub(crate) const MAX_MEMORIES: u32 = 2;
/// Address space of one instance's memory; the policy's ceiling is far below (DESIGN: 256
/// MiB by default).
const MAX_MEMORY: usize = 4 << 30;
/// Address space that a memory of the frugal engine gets more than it asks for, so that it
/// does not move each time it grows.
const GROWTH: u64 = 1 << 20;
/// Memory that a slot keeps between calls, so that a fresh instance does not fault it in
/// again. Measured: 24 µs for a fresh instance with it, 32 µs without.
const KEPT_RESIDENT: usize = 1 << 20;

/// The engine of the process. Compiled code of all components lives in it.
pub(crate) fn engine() -> wasmtime::Result<&'static Engine> {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    if let Some(engine) = ENGINE.get() {
        return Ok(engine);
    }
    let engine = pooled_engine().or_else(|_| frugal_engine())?;
    Ok(ENGINE.get_or_init(|| engine))
}

/// An engine whose pool reserves address space for every instance that can run: half a
/// terabyte, of which nothing is memory before it is used.
fn pooled_engine() -> wasmtime::Result<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    // What one component may take is what there is for each, so that none takes all.
    pool.total_component_instances(MAX_INSTANCES)
        .total_core_instances(MAX_INSTANCES * MAX_PARTS)
        .max_core_instances_per_component(MAX_PARTS)
        .total_memories(MAX_INSTANCES * MAX_MEMORIES)
        .max_memories_per_component(MAX_MEMORIES)
        .total_tables(MAX_INSTANCES * MAX_PARTS)
        .max_tables_per_component(MAX_PARTS)
        .max_memory_size(MAX_MEMORY)
        .linear_memory_keep_resident(KEPT_RESIDENT)
        .table_keep_resident(KEPT_RESIDENT)
        .pagemap_scan(Enabled::Auto);
    let mut config = engine_config::engine_config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// An engine for processes that may not reserve so much (`ulimit -v`, valgrind): instances
/// are mapped when they start and memories move when they grow. Code for it checks every
/// access, so what was compiled ahead does not fit and is compiled anew, and calls are slower.
fn frugal_engine() -> wasmtime::Result<Engine> {
    let mut config = engine_config::engine_config();
    config
        .allocation_strategy(InstanceAllocationStrategy::OnDemand)
        .memory_reservation(0)
        .memory_reservation_for_growth(GROWTH)
        .memory_guard_size(0)
        .memory_may_move(true);
    Engine::new(&config)
}

/// A compiled tool component and the tools it has. Cloning is cheap.
#[derive(Clone)]
pub struct ToolComponent {
    loaded: Arc<Loaded>,
}

struct Loaded {
    pre: ToolComponentPre<CallState>,
    sha256: String,
    definitions: OnceLock<Vec<Definition>>,
    aliases: OnceLock<Vec<(String, usize)>>,
    instantiations: AtomicU64,
}

/// Why a component cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the component cannot be used: {reason}")]
pub struct ComponentError {
    reason: String,
}

impl ComponentError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

impl From<wasmtime::Error> for ComponentError {
    fn from(error: wasmtime::Error) -> Self {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        Self::new(causes.join(": "))
    }
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
        let component = Self::link(&embedded::load(engine()?)?, embedded::SHA256.to_owned())?;
        Ok(FILE_TOOLS.get_or_init(|| component).clone())
    }

    /// A component of someone else, compiled now. It may import the WASI file system and
    /// stream interfaces and nothing else.
    ///
    /// # Errors
    ///
    /// When the bytes are not a component of the world `rootbound:tools/tool-component`, or
    /// it imports more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ComponentError> {
        let component = Component::new(engine()?, bytes)?;
        Self::link(&component, random::hex_of(&Sha256::digest(bytes)))
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
        let bytes = ambient::read_file(file.as_ref())
            .map_err(|error| ComponentError::new(error.to_string()))?;
        Self::from_bytes(&bytes)
    }

    fn link(component: &Component, sha256: String) -> Result<Self, ComponentError> {
        let mut linker = Linker::<CallState>::new(component.engine());
        add_to_linker::<Guarded>(&mut linker)?;
        let pre = ToolComponentPre::new(linker.instantiate_pre(component)?)?;
        Ok(Self {
            loaded: Arc::new(Loaded {
                pre,
                sha256,
                definitions: OnceLock::new(),
                aliases: OnceLock::new(),
                instantiations: AtomicU64::new(0),
            }),
        })
    }

    /// SHA-256 of the component file, 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.loaded.sha256
    }

    /// How often the component was instantiated in this process.
    #[must_use]
    pub fn instantiations(&self) -> u64 {
        self.loaded.instantiations.load(Ordering::Relaxed)
    }

    pub(crate) fn pre(&self) -> &ToolComponentPre<CallState> {
        self.loaded.instantiations.fetch_add(1, Ordering::Relaxed);
        &self.loaded.pre
    }

    /// The tools of the component, asked for once, with no grants.
    ///
    /// # Errors
    ///
    /// When the component does not answer, or answers what no front-end could show.
    pub fn definitions(&self) -> Result<&[Definition], CallError> {
        if let Some(definitions) = self.loaded.definitions.get() {
            return Ok(definitions);
        }
        let definitions = running::list_tools(self)?;
        Ok(self.loaded.definitions.get_or_init(|| definitions))
    }

    pub(crate) fn definition(&self, tool: &str) -> Result<Option<&Definition>, CallError> {
        Ok(self
            .definitions()?
            .iter()
            .find(|definition| definition.name == tool))
    }

    /// The name that a tool is listed by, for one of its other names; any other text stays as
    /// it is, and names no tool.
    pub(crate) fn listed_name<'a>(&'a self, tool: &'a str) -> Result<&'a str, CallError> {
        if self.definition(tool)?.is_some() {
            return Ok(tool);
        }
        let definitions = self.definitions()?;
        let aliases = self.loaded.aliases.get_or_init(|| aliases_of(definitions));
        let alias = aliases.iter().find(|(alias, _)| alias == tool);
        Ok(alias.map_or(tool, |(_, index)| &definitions[*index].name))
    }
}

impl std::fmt::Debug for ToolComponent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ToolComponent({})", self.loaded.sha256)
    }
}

/// Other names of tools. They stand in the output schema, which models are not shown.
fn aliases_of(definitions: &[Definition]) -> Vec<(String, usize)> {
    let mut aliases = Vec::new();
    for (index, definition) in definitions.iter().enumerate() {
        let schema = serde_json::from_str::<Value>(&definition.output_schema).unwrap_or_default();
        let names = schema["x-aliases"].as_array().into_iter().flatten();
        let names = names.filter_map(Value::as_str);
        aliases.extend(names.map(|name| (name.to_owned(), index)));
    }
    aliases
}

/// What a component may import is what is linked here.
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

/// What a path argument is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRole {
    /// The object is read, listed or looked up.
    Read,
    /// The file is created or replaced.
    Write,
    /// The file or directory is created.
    Create,
    /// The file or directory is deleted.
    Delete,
    /// The object is renamed away.
    MoveFrom,
    /// The object is renamed to this path.
    MoveTo,
}

impl PathRole {
    /// What a tool does there in the first place.
    pub(crate) fn operation(self) -> Operation {
        match self {
            Self::Read => Operation::Open,
            Self::Write => Operation::Change,
            Self::Create => Operation::Create,
            Self::Delete => Operation::Delete,
            Self::MoveFrom | Self::MoveTo => Operation::Rename,
        }
    }

    /// The name as the interface spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::MoveFrom => "move-from",
            Self::MoveTo => "move-to",
        }
    }
}

/// An argument that carries paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathArgument {
    /// Where it stands: `path`, `paths[]`, `files[].path`.
    pub pointer: String,
    /// What the tool does there.
    pub role: PathRole,
    /// Whether `expected_version` and `expected_sha256` guard it.
    pub guarded: bool,
}

/// A tool, as front-ends show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The stable name, 64 characters or fewer.
    pub name: String,
    /// A short name for people.
    pub title: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments, as text.
    pub input_schema: String,
    /// JSON Schema of the result's fields, as text.
    pub output_schema: String,
    /// The most harm that the tool declares it can do.
    pub risk: RiskClass,
    /// The arguments that are paths.
    pub paths: Vec<PathArgument>,
}

impl From<provider::Definition> for Definition {
    fn from(definition: provider::Definition) -> Self {
        Self {
            name: definition.name,
            title: definition.title,
            description: definition.description,
            input_schema: definition.input_schema,
            output_schema: definition.output_schema,
            risk: match definition.risk {
                provider::RiskClass::Read => RiskClass::Read,
                provider::RiskClass::Draft => RiskClass::Draft,
                provider::RiskClass::Destructive => RiskClass::Destructive,
                provider::RiskClass::Send => RiskClass::Send,
            },
            paths: definition.paths.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<provider::PathArgument> for PathArgument {
    fn from(argument: provider::PathArgument) -> Self {
        Self {
            pointer: argument.pointer,
            role: match argument.role {
                provider::PathRole::Read => PathRole::Read,
                provider::PathRole::Write => PathRole::Write,
                provider::PathRole::Create => PathRole::Create,
                provider::PathRole::Delete => PathRole::Delete,
                provider::PathRole::MoveFrom => PathRole::MoveFrom,
                provider::PathRole::MoveTo => PathRole::MoveTo,
            },
            guarded: argument.guarded,
        }
    }
}
