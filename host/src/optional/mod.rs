//! What a component may import besides files, where the operator grants it by name.
//!
//! Nothing here reaches outside the process, and nothing here is linked unless it is granted:
//! these exist because the toolchains of some languages import them in any case.

#![expect(
    unreachable_pub,
    reason = "the generated bindings re-export the types that they are given, so these are `pub` in a private module"
)]

mod bindings;
mod clocks;
mod environment;
mod exit;
mod network;
mod random;
pub(crate) mod stdio;

use wasmtime::component::{Component, Linker};

use crate::component::Import;
use crate::guard::{CallState, Guarded};
use bindings::{cli, clocks as clock, random as chance};

pub use stdio::GuestLine;
pub(crate) use stdio::{Captured, StandardStream};

/// Links what is granted, and nothing else.
pub(crate) fn add_to_linker(
    linker: &mut Linker<CallState>,
    component: &Component,
    granted: &[Import],
) -> wasmtime::Result<()> {
    for import in granted {
        match import {
            Import::Environment => add_environment(linker)?,
            Import::Stdio => add_stdio(linker)?,
            Import::Clocks => add_clocks(linker)?,
            Import::Random => add_random(linker)?,
            Import::Exit => add_exit(linker)?,
            Import::DenyNetwork => network::add_to_linker(linker, component)?,
        }
    }
    Ok(())
}

fn add_environment(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    cli::environment::add_to_linker::<_, Guarded>(linker, |state| state)
}

fn add_stdio(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    cli::stdin::add_to_linker::<_, Guarded>(linker, |state| state)?;
    cli::stdout::add_to_linker::<_, Guarded>(linker, |state| state)?;
    cli::stderr::add_to_linker::<_, Guarded>(linker, |state| state)?;
    cli::terminal_input::add_to_linker::<_, Guarded>(linker, |state| state)?;
    cli::terminal_output::add_to_linker::<_, Guarded>(linker, |state| state)?;
    cli::terminal_stdin::add_to_linker::<_, Guarded>(linker, |state| state)?;
    cli::terminal_stdout::add_to_linker::<_, Guarded>(linker, |state| state)?;
    cli::terminal_stderr::add_to_linker::<_, Guarded>(linker, |state| state)
}

fn add_clocks(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    clock::monotonic_clock::add_to_linker::<_, Guarded>(linker, |state| state)?;
    clock::wall_clock::add_to_linker::<_, Guarded>(linker, |state| state)
}

fn add_random(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    chance::random::add_to_linker::<_, Guarded>(linker, |state| state)?;
    chance::insecure::add_to_linker::<_, Guarded>(linker, |state| state)?;
    chance::insecure_seed::add_to_linker::<_, Guarded>(linker, |state| state)
}

fn add_exit(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    cli::exit::add_to_linker::<_, Guarded>(linker, |state| state)
}
