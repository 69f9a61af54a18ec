//! Creates one file after another and lets go of every descriptor: the host keeps them.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for number in 0..300 {
        spoils.step(create(world.workspace(), &format!("{number}.md")))?;
        spoils.count(1);
    }
    Some(())
}
