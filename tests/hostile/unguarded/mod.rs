//! The control: a host that does what the guest asks.
//!
//! It does as wasmtime-wasi 48 does for `wasmtime run --dir`: directories granted both ways,
//! paths resolved by cap-std, flags handed to the operating system, no policy, no limit but
//! the test's patience. It is not wasmtime-wasi itself, which needs wasmtime's `async`
//! feature and would change how the product is built.

mod files;
mod streams;

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::component::{
    Component, HasData, Linker, Resource, ResourceTable, ResourceTableError,
};
use wasmtime::{Config, Engine, Store};

use super::component;

/// How long an attack may run that nothing stops.
const PATIENCE: Duration = Duration::from_millis(200);

mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "tool-component",
        imports: { default: trappable },
        with: {
            "wasi:filesystem/types.descriptor": super::Descriptor,
            "wasi:filesystem/types.directory-entry-stream": super::Entries,
            "wasi:io/streams.input-stream": super::Cursor,
            "wasi:io/streams.output-stream": super::WriteCursor,
            "wasi:io/poll.pollable": super::Ready,
            "wasi:io/error.error": super::Failure,
        },
        trappable_error_type: {
            "wasi:filesystem/types.error-code" => super::Stop,
            "wasi:io/streams.stream-error" => super::StreamStop,
        },
    });
}

pub use bindings::exports::rootbound::tools::provider::{Output, ToolError};
use bindings::wasi::filesystem::types::ErrorCode;
use bindings::wasi::{filesystem, io};

/// An open file or directory.
#[derive(Clone, Debug)]
pub struct Descriptor(Arc<File>);
/// Names of a directory, with the next one last.
pub struct Entries(Vec<(String, bool)>);
/// A file that is read in order.
pub struct Cursor(Arc<File>, u64);
/// A file that is written in order.
pub struct WriteCursor(Arc<File>, u64);
/// Files are always ready.
pub struct Ready;
/// Why a stream failed.
pub struct Failure(ErrorCode);

/// How a call on a descriptor fails.
#[derive(Debug)]
pub enum Stop {
    Code(ErrorCode),
    Trap(wasmtime::Error),
}

/// How a call on a stream fails.
#[derive(Debug)]
pub enum StreamStop {
    Closed,
    Code(ErrorCode),
    Trap(wasmtime::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Code(files::code_of(&error))
    }
}

impl From<std::io::Error> for StreamStop {
    fn from(error: std::io::Error) -> Self {
        Self::Code(files::code_of(&error))
    }
}

impl From<ResourceTableError> for Stop {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

impl From<ResourceTableError> for StreamStop {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

/// What the host keeps for one call.
pub struct State {
    table: ResourceTable,
    roots: Vec<(Arc<File>, &'static str)>,
}

struct Linked;

impl HasData for Linked {
    type Data<'a> = &'a mut State;
}

/// How an attack ends that nothing guards against.
pub enum Ending {
    /// The tool answered.
    Answered(Result<Output, ToolError>),
    /// It stopped abnormally.
    Trapped(String),
    /// It was still running after the test's patience.
    StillRunning,
}

/// What all runs share; one runs at a time, since they share the engine's epoch.
struct Host {
    engine: Engine,
    linked: bindings::ToolComponentPre<State>,
}

fn host() -> MutexGuard<'static, Host> {
    static HOST: OnceLock<Mutex<Host>> = OnceLock::new();
    let host = HOST.get_or_init(|| Mutex::new(Host::start().unwrap()));
    host.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    fn start() -> wasmtime::Result<Self> {
        let engine = Engine::new(Config::new().epoch_interruption(true))?;
        let component = Component::new(&engine, component::bytes())?;
        let mut linker = Linker::new(&engine);
        filesystem::types::add_to_linker::<_, Linked>(&mut linker, |state| state)?;
        filesystem::preopens::add_to_linker::<_, Linked>(&mut linker, |state| state)?;
        io::error::add_to_linker::<_, Linked>(&mut linker, |state| state)?;
        io::poll::add_to_linker::<_, Linked>(&mut linker, |state| state)?;
        io::streams::add_to_linker::<_, Linked>(&mut linker, |state| state)?;
        let linked = bindings::ToolComponentPre::new(linker.instantiate_pre(&component)?)?;
        Ok(Self { engine, linked })
    }
}

/// Runs an attack over directories that are granted both ways.
pub fn attack(tool: &str, arguments: &str, roots: &[(PathBuf, &'static str)]) -> Ending {
    let host = host();
    let open = |(path, name): &(PathBuf, _)| (Arc::new(File::open(path).unwrap()), *name);
    let state = State {
        table: ResourceTable::new(),
        roots: roots.iter().map(open).collect(),
    };
    let mut store = Store::new(&host.engine, state);
    store.set_epoch_deadline(1);
    store.set_hostcall_fuel(usize::MAX);
    let result = within_patience(&host.engine, || {
        let tools = host.linked.instantiate(&mut store)?;
        let provider = tools.rootbound_tools_provider();
        provider.call_call_tool(&mut store, tool, arguments)
    });
    match result {
        Ok(answer) => Ending::Answered(answer),
        Err(error) => match error.downcast_ref::<wasmtime::Trap>() {
            Some(wasmtime::Trap::Interrupt) => Ending::StillRunning,
            _ => Ending::Trapped(error.root_cause().to_string()),
        },
    }
}

/// Runs guest code, and interrupts it when it takes too long.
fn within_patience<T>(engine: &Engine, run: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clock = scope.spawn(|| {
            let end = Instant::now() + PATIENCE;
            while !over.load(Ordering::SeqCst) {
                let Some(left) = end.checked_duration_since(Instant::now()) else {
                    return engine.increment_epoch();
                };
                std::thread::park_timeout(left);
            }
        });
        let result = run();
        over.store(true, Ordering::SeqCst);
        clock.thread().unpark();
        result
    })
}

impl State {
    fn file(&self, fd: &Resource<Descriptor>) -> Result<Arc<File>, Stop> {
        Ok(Arc::clone(&self.table.get(fd)?.0))
    }
}
