//! Opens one stream after another on one descriptor and keeps them all.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "notes.md"))?;
    let mut kept = Vec::new();
    for _ in 0..300 {
        kept.push(spoils.step(file.read_via_stream(0))?);
        spoils.count(1);
    }
    Some(())
}
