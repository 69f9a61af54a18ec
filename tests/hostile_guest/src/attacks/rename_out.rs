//! Moves files out of the write root, and files from outside into it.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    for to in ["../outside/planted.md", "dir_out/planted.md", "/tmp/planted.md"] {
        spoils.take(to, workspace.rename_at("report.md", workspace, to));
    }
    for from in ["../outside/secret.txt", "dir_out/secret.txt"] {
        spoils.take(from, workspace.rename_at(from, workspace, "taken.txt"));
    }
    Some(())
}
