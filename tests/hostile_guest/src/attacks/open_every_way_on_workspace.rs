//! Opens an existing file below the write root with every combination of flags, and writes
//! through every descriptor that it gets.

use crate::ways::ways;
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for way in ways() {
        spoils.take(&format!("{way}"), way.open(world.workspace(), "report.md"));
    }
    Some(())
}
