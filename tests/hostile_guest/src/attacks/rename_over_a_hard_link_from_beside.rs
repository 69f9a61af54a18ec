//! Replaces a file that has another name outside, by renaming a new one over it.

use crate::spoils::Spoils;
use crate::world::{World, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(write(workspace, "beside.md", "hostile"))?;
    for target in ["twin.md", "link_in", "out", "dir_out/secret.txt", "pipe", "done"] {
        let renamed = workspace.rename_at("beside.md", workspace, target);
        spoils.take(target, renamed);
    }
    Some(())
}
