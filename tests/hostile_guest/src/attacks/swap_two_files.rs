//! Swaps two files by three renames.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(workspace.rename_at("report.md", workspace, "x.md"))?;
    spoils.take("one", workspace.rename_at("done/old.md", workspace, "report.md"));
    spoils.take("two", workspace.rename_at("x.md", workspace, "done/old.md"));
    Some(())
}
