//! Generated from `wit/`: the `files` export.
#![allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    reason = "generated; calls across the component boundary pass raw pointers"
)]

// `file-tools` of `wit/files.wit` without what `rootbound-tool` has generated already.
wit_bindgen::generate!({
    path: "../wit",
    inline: "
        package rootbound:typed;
        world typed { export rootbound:tools/files@0.1.0; }
    ",
    world: "rootbound:typed/typed",
});

// A native linker refuses the names of the exports as symbols.
// SAFETY: the glue is generated together with the types above, and called by the host only.
#[cfg(target_arch = "wasm32")]
export!(Component with_types_in self);

#[cfg(target_arch = "wasm32")]
use super::Component;
