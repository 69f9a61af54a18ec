//! Renames the file that the caller has seen over one that it has not.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(workspace.rename_at("done/old.md", workspace, "report.md"))?;
    Some(())
}
