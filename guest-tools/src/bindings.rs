//! Generated from `wit/`: the WASI imports and the `provider` export.
#![allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    reason = "generated; calls across the component boundary pass raw pointers"
)]

wit_bindgen::generate!({
    path: "../wit",
    world: "tool-component",
    generate_all,
});

// A native linker refuses the names of the exports as symbols.
// SAFETY: the glue is generated together with the types above, and called by the host only.
#[cfg(target_arch = "wasm32")]
export!(Component with_types_in self);

#[cfg(target_arch = "wasm32")]
use crate::provider::Component;
