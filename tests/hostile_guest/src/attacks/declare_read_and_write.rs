//! Declares that it only reads, and changes what the policy would let others change.

use crate::spoils::Spoils;
use crate::world::{World, change, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.take("created", create(workspace, "new.md"));
    spoils.take("made", workspace.create_directory_at("made"));
    spoils.take("changed", change(workspace, "report.md"));
    spoils.take("deleted", workspace.unlink_file_at("report.md"));
    spoils.take("renamed", workspace.rename_at("report.md", workspace, "new.md"));
    Some(())
}
