//! Calls the host for ever.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "notes.md"))?;
    loop {
        spoils.step(file.get_flags())?;
    }
}
