//! Saves as careful programs do: writes beside the file and renames over it.

use crate::spoils::Spoils;
use crate::world::{World, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(write(workspace, "beside.md", "saved"))?;
    spoils.step(workspace.rename_at("beside.md", workspace, "report.md"))?;
    Some(())
}
