//! Compiled code from the cache becomes a component.
#![expect(
    unsafe_code,
    reason = "compiled code is trusted because its MAC says that this crate wrote it"
)]

use wasmtime::Engine;
use wasmtime::component::Component;

/// Loads code that the cache has verified, and nothing else.
pub(super) fn load(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` must only be given bytes that wasmtime itself produced. The only
    // caller is `ComponentCache::load`, after it has verified an HMAC-SHA-256 over exactly these
    // bytes, under a random key that stands in a file of the user's with mode 0600 outside every
    // root. `ComponentCache::keep` makes such a MAC over what `Component::serialize` returned,
    // and nothing else does; the bytes are in memory, so nothing changes them in between.
    // wasmtime checks version and settings itself.
    unsafe { Component::deserialize(engine, code) }
}
