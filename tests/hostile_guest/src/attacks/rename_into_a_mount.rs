//! Renames a file to where another file system may be mounted.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(workspace.rename_at("report.md", workspace, "done/moved.md"))?;
    Some(())
}
