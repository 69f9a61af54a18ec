//! Asks for one pollable after another and keeps them all; the call has no way to fail.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "notes.md"))?;
    let stream = spoils.step(file.read_via_stream(0))?;
    let kept: Vec<_> = (0..300).map(|_| stream.subscribe()).collect();
    spoils.gain(format!("{} pollables", kept.len()));
    Some(())
}
