//! Moves files from the read root, to the read root, and within it.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let (inputs, workspace) = (world.inputs(), world.workspace());
    spoils.take("took notes.md", inputs.rename_at("notes.md", workspace, "taken.md"));
    spoils.take("planted", workspace.rename_at("report.md", inputs, "planted.md"));
    spoils.take("renamed", inputs.rename_at("notes.md", inputs, "renamed.md"));
    Some(())
}
