//! Declares that it only creates, and destroys what the policy would let others destroy.

use crate::spoils::Spoils;
use crate::world::{World, change, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.take("replaced", write(workspace, "report.md", "hostile"));
    spoils.take("changed", change(workspace, "report.md"));
    spoils.take("deleted", workspace.unlink_file_at("report.md"));
    spoils.take("renamed", workspace.rename_at("report.md", workspace, "new.md"));
    spoils.take("removed", workspace.remove_directory_at("empty"));
    Some(())
}
