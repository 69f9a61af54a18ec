//! Opens many files for changes, each of which the host copies.

use crate::spoils::Spoils;
use crate::world::{World, change};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for number in 0..world.number("files") {
        spoils.step(change(world.workspace(), &format!("many/{number}.bin")))?;
        spoils.count(1);
    }
    Some(())
}
