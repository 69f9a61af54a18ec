//! Is no tool that the component lists, so it has declared nothing, and changes everything.

use crate::spoils::Spoils;
use crate::world::{World, read, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("read", read(world.inputs(), "notes.md"));
    spoils.take("created", write(world.workspace(), "new.md", "hostile"));
    spoils.take("deleted", world.workspace().unlink_file_at("report.md"));
    Some(())
}
