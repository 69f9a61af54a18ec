//! Fails with a message longer than a result may be.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let message = "x".repeat(world.number("bytes") as usize);
    spoils.answer_failure("no-match", message, "");
    Some(())
}
