//! Reaches for directories beside the roots whose names begin with a root's name.

use crate::spoils::Spoils;
use crate::world::{STAY, World, create, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let (inputs, workspace) = (world.inputs(), world.workspace());
    spoils.take("read by `..`", read(inputs, "../inputs-2/secret.txt"));
    spoils.take("read by a link", read(inputs, "sibling/secret.txt"));
    spoils.take("looked up", inputs.stat_at(STAY, "sibling/secret.txt"));
    spoils.take("listed", crate::world::enter(inputs, "sibling"));
    spoils.take("created by `..`", create(workspace, "../workspace-2/new.md"));
    spoils.take("created by a link", create(workspace, "sibling/new.md"));
    let renamed = workspace.rename_at("report.md", workspace, "sibling/new.md");
    spoils.take("moved", renamed);
    spoils.take("deleted", workspace.unlink_file_at("sibling/secret.txt"));
    Some(())
}
