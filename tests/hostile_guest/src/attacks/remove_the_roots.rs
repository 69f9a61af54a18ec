//! Deletes and renames the roots themselves, however spelt.

use crate::spoils::Spoils;
use crate::world::{World, enter};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    for path in [".", "./", "done/..", "done/inner/../.."] {
        spoils.take(&format!("removed {path}"), workspace.remove_directory_at(path));
        spoils.take(&format!("renamed {path}"), workspace.rename_at(path, workspace, "x"));
        spoils.take(&format!("replaced {path}"), workspace.rename_at("done", workspace, path));
    }
    let empty = spoils.step(enter(workspace, "empty"))?;
    spoils.take("removed itself", empty.remove_directory_at("."));
    Some(())
}
