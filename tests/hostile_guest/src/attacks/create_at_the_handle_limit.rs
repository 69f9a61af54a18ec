//! Keeps every descriptor there is, then creates and empties files for which no descriptor
//! is left: what was refused must not be done at the end of the call all the same.

use crate::spoils::Spoils;
use crate::world::{DescriptorFlags, OpenFlags, STAY, World, create, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let mut kept = Vec::new();
    for _ in 0..300 {
        kept.extend(read(world.inputs(), "notes.md"));
    }
    spoils.take("created", create(world.workspace(), "new.md"));
    let emptied = (world.workspace()).open_at(STAY, "report.md", OpenFlags::TRUNCATE, DescriptorFlags::WRITE);
    spoils.take("emptied", emptied);
    Some(())
}
