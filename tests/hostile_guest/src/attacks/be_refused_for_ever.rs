//! Asks for what is refused, for ever, by a name that takes much room in the log.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, _: &mut Spoils) -> Option<()> {
    let name = "\u{1}".repeat(4095);
    loop {
        let _ = world.inputs().rename_at(&name, world.inputs(), &name);
    }
}
