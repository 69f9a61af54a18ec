//! Creates, replaces, deletes and renames, and stops abnormally.

use crate::spoils::Spoils;
use crate::world::{World, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    stage(world, spoils)?;
    core::arch::wasm32::unreachable()
}

/// One change of each kind.
pub fn stage(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(write(workspace, "new.md", "hostile"))?;
    spoils.step(write(workspace, "report.md", "hostile"))?;
    spoils.step(workspace.unlink_file_at("done/old.md"))?;
    spoils.step(workspace.remove_directory_at("empty"))?;
    spoils.step(workspace.rename_at("done/inner/x.md", workspace, "y.md"))
}
