//! Opens one file again and again and keeps every descriptor.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let mut kept = Vec::new();
    for _ in 0..300 {
        kept.push(spoils.step(read(world.inputs(), "notes.md"))?);
        spoils.count(1);
    }
    Some(())
}
