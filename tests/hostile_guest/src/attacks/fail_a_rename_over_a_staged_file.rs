//! Creates a file and makes a rename onto it fail: a failed call must not undo another.

use crate::spoils::Spoils;
use crate::world::{World, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(write(workspace, "new.md", "kept"))?;
    spoils.step(workspace.rename_at("done", workspace, "done/inner/new.md"));
    spoils.step(workspace.rename_at("done/inner", workspace, "new.md"));
    Some(())
}
