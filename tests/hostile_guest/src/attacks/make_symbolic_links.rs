//! Makes links that lead inside and outside.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.take("inside", workspace.symlink_at("report.md", "a"));
    spoils.take("outside", workspace.symlink_at("../outside/secret.txt", "b"));
    spoils.take("absolute", workspace.symlink_at("/etc/passwd", "c"));
    spoils.take("in the inputs", world.inputs().symlink_at("notes.md", "d"));
    Some(())
}
