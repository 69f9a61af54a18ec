//! The file tools that this crate carries, as a component and as code compiled for it.
#![expect(
    unsafe_code,
    reason = "compiled code is trusted because the build script made it from the component beside it"
)]

use wasmtime::Engine;
use wasmtime::component::Component;

const COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/file-tools.wasm"));
const COMPILED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/file-tools.cwasm"));

/// SHA-256 of the component.
pub(crate) const SHA256: &str = env!("ROOTBOUND_COMPONENT_SHA256");

/// Loads the compiled code, or compiles the component where the engine does not take it.
pub(crate) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` must only be given bytes that wasmtime itself produced. These
    // were written by `Engine::precompile_component` in this crate's build script and are
    // part of this binary; wasmtime checks version and settings itself.
    match unsafe { Component::deserialize(engine, COMPILED) } {
        Ok(component) => Ok(component),
        Err(_) => Component::new(engine, COMPONENT),
    }
}
