//! The file tools that this crate carries, as a component and as code compiled for it.
#![expect(
    unsafe_code,
    reason = "compiled code is trusted because the build script made it from the component beside it"
)]

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::mm::{MprotectFlags, mprotect};
use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine};

/// As pages are that become executable: the largest that Linux has on our targets (arm64).
#[repr(C, align(65536))]
struct PageAligned<T: ?Sized>(T);

const COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/file-tools.wasm"));
static COMPILED: &PageAligned<[u8]> = &PageAligned(*include_bytes!(concat!(
    env!("OUT_DIR"),
    "/file-tools.cwasm"
)));

/// SHA-256 of the component.
pub(crate) const SHA256: &str = env!("ROOTBOUND_COMPONENT_SHA256");

/// Loads the compiled code, or compiles the component where the engine does not take it.
///
/// The code is used where it stands in the program's file: only what runs is ever in memory,
/// and nothing is copied at the start. So it is loaded once in a process: wasmtime knows code
/// by its place, and does not take two components at one.
pub(crate) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    static LOADED: Mutex<Option<Component>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(component) = &*loaded {
        return Ok(component.clone());
    }
    let component = in_place(engine).or_else(|_| Component::new(engine, COMPONENT))?;
    Ok(loaded.insert(component).clone())
}

fn in_place(engine: &Engine) -> wasmtime::Result<Component> {
    let compiled = NonNull::from(&COMPILED.0);
    // SAFETY: `deserialize_raw` must only be given bytes that wasmtime itself produced, and
    // that live and stay as they are for as long as the component. These were written by
    // `Engine::precompile_component` in this crate's build script and are part of this
    // program's constants; wasmtime checks version and settings itself.
    unsafe { Component::deserialize_raw(engine, compiled) }
}

/// Makes code executable, be it a part of this program or compiled in it. wasmtime by itself
/// does that for memory only that it has mapped.
#[derive(Debug)]
pub(crate) struct CodeMemory;

impl CodeMemory {
    pub(crate) fn shared() -> Option<Arc<dyn CustomCodeMemory>> {
        Some(Arc::new(Self))
    }
}

impl CustomCodeMemory for CodeMemory {
    fn required_alignment(&self) -> usize {
        rustix::param::page_size()
    }

    fn publish_executable(&self, code: *const u8, length: usize) -> wasmtime::Result<()> {
        protect(code, length, MprotectFlags::READ | MprotectFlags::EXEC)
    }

    /// Code that ended is not written to: what was compiled is unmapped next, and what is a
    /// part of this program stays.
    fn unpublish_executable(&self, code: *const u8, length: usize) -> wasmtime::Result<()> {
        protect(code, length, MprotectFlags::READ)
    }
}

fn protect(code: *const u8, length: usize, flags: MprotectFlags) -> wasmtime::Result<()> {
    // SAFETY: wasmtime names whole pages of code that it was given and that nothing else uses,
    // and nothing here makes them writable.
    unsafe { mprotect(code.cast_mut().cast(), length, flags) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::engine;

    #[test]
    fn the_code_is_loaded_once_however_often_it_is_asked_for() {
        let engine = engine().expect("an engine");
        let place = || load(engine).map(|component| component.image_range());
        assert_eq!(place().expect("code"), place().expect("code"));
    }
}
