//! Opens below the read root with every combination of flags that could change something.

use crate::ways::ways;
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for path in ["notes.md", "new.md", "sub"] {
        for way in ways().filter(|way| way.could_change()) {
            spoils.take(&format!("{path} {way}"), way.open(world.inputs(), path));
        }
    }
    Some(())
}
