//! Begins to list one directory again and again: each listing holds all names.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let mut kept = Vec::new();
    for _ in 0..300 {
        kept.push(spoils.step(world.inputs().read_directory())?);
        spoils.count(1);
    }
    Some(())
}
