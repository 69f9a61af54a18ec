//! Creates a file and a directory below the read root.

use crate::spoils::Spoils;
use crate::world::{DescriptorFlags, FOLLOW, OpenFlags, World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("created new.md", create(world.inputs(), "new.md"));
    let by_reading = (OpenFlags::CREATE, DescriptorFlags::READ);
    let read_only = world.inputs().open_at(FOLLOW, "new.md", by_reading.0, by_reading.1);
    spoils.take("created new.md by reading", read_only);
    spoils.take("made a directory", world.inputs().create_directory_at("made"));
    Some(())
}
