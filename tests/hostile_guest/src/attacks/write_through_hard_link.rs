//! Writes to a file that has another name outside.

use crate::spoils::Spoils;
use crate::world::{World, change, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("replaced", write(world.workspace(), "twin.md", "hostile"));
    if let Some(file) = spoils.step(change(world.workspace(), "twin.md")) {
        spoils.take("changed", file.write(b"hostile", 0));
    }
    Some(())
}
