//! Deletes a file and a directory below the read root.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("notes.md", world.inputs().unlink_file_at("notes.md"));
    spoils.take("bare", world.inputs().remove_directory_at("bare"));
    Some(())
}
