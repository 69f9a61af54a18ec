//! Writes with one call.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    let bytes = vec![b'x'; world.number("bytes") as usize];
    let written = spoils.step(file.write(&bytes, 0))?;
    spoils.count(written);
    Some(())
}
