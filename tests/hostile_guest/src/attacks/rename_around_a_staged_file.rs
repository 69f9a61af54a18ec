//! Creates a file in a directory and then renames the directory: both are allowed, and the
//! receipt has to tell what really became of the file.

use crate::spoils::Spoils;
use crate::world::{World, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(write(workspace, "done/new.md", "hostile"))?;
    spoils.step(workspace.rename_at("done", workspace, "moved"))
}
