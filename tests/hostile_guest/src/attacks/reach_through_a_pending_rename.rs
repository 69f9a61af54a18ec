//! Renames a directory and reaches through its old and its new name, and by a descriptor.

use crate::spoils::Spoils;
use crate::world::{World, create, enter};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    let kept = spoils.step(enter(workspace, "done"))?;
    spoils.step(workspace.rename_at("done", workspace, "moved"))?;
    spoils.take("created by the old name", create(workspace, "done/new.md"));
    spoils.take("created by the new name", create(workspace, "moved/new.md"));
    spoils.take("created by descriptor", create(&kept, "new.md"));
    spoils.take("deleted by descriptor", kept.unlink_file_at("old.md"));
    spoils.take("made in its place", workspace.create_directory_at("done"));
    spoils.take("created in its place", create(workspace, "done"));
    spoils.take("renamed again", workspace.rename_at("moved", workspace, "again"));
    Some(())
}
