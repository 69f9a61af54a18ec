//! Makes a file large without writing to it: a hole.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    spoils.step(file.set_size(world.number("bytes")))?;
    spoils.count(world.number("bytes"));
    Some(())
}
