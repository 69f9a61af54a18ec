//! Empties a file by opening it for no more than reading.

use crate::spoils::Spoils;
use crate::world::{DescriptorFlags, FOLLOW, OpenFlags, World};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let flags = (OpenFlags::TRUNCATE, DescriptorFlags::READ);
    let input = world.inputs().open_at(FOLLOW, "notes.md", flags.0, flags.1);
    spoils.take("emptied notes.md", input);
    let work = world.workspace().open_at(FOLLOW, "report.md", flags.0, flags.1);
    spoils.take("emptied report.md", work);
    Some(())
}
