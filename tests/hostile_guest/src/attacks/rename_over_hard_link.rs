//! Renames a file over one that has another name outside.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.take("replaced", workspace.rename_at("report.md", workspace, "twin.md"));
    Some(())
}
