//! Deletes a file and a directory outside, through `..`, through a link, by absolute path.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    for path in ["../outside/secret.txt", "dir_out/secret.txt", "/tmp/rootbound-canary"] {
        spoils.take(path, workspace.unlink_file_at(path));
    }
    for path in ["../outside/bare", "dir_out/bare", "dir_out/", "dir_out/."] {
        spoils.take(path, workspace.remove_directory_at(path));
    }
    Some(())
}
