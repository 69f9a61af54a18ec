//! Polls one pollable a million times in one list.

use crate::bindings::wasi::io::poll::poll;
use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "notes.md"))?;
    let stream = spoils.step(file.read_via_stream(0))?;
    let pollable = stream.subscribe();
    let ready = poll(&vec![&pollable; 1_000_000]);
    spoils.count(ready.len() as u64);
    Some(())
}
