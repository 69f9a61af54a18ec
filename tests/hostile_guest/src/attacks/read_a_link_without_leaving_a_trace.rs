//! Reads the text of a link that stays inside: it is told, and the log has to say so.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.step(world.inputs().readlink_at("sub/up"))?;
    Some(())
}
