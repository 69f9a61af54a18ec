//! The guard: WASI's file system over granted handles, with the policy asked at every call.
//!
//! Every method that takes a path or moves data has one silhouette: name the operation,
//! ask, delegate to the operating system, record. What a component says about itself plays
//! no part.

#![expect(
    unreachable_pub,
    reason = "the generated bindings re-export the types that they are given, so these are `pub` in a private module"
)]

mod ask;
mod descriptor;
mod directory;
mod excluded;
mod fault;
mod found;
mod io;
mod locate;
mod near;
mod open;
mod remove;
mod state;
mod streams;
mod transfer;
mod way;

pub use directory::EntryStream;
pub use fault::{Fault, StreamFault};
pub use io::{Pollable, StreamFailure};
pub use state::Descriptor;
pub(crate) use state::{CallState, timed_out};
pub use streams::{Input, Output};

use wasmtime::component::HasData;

/// Ties the generated linker functions to the state of a call.
pub(crate) struct Guarded;

impl HasData for Guarded {
    type Data<'a> = &'a mut CallState;
}
