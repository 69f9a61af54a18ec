//! Deletes a directory and reaches through it by path and by a descriptor it kept.

use crate::spoils::Spoils;
use crate::world::{World, create, enter};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    let kept = spoils.step(enter(workspace, "empty"))?;
    spoils.step(workspace.remove_directory_at("empty"))?;
    spoils.take("created by path", create(workspace, "empty/new.md"));
    spoils.take("created by descriptor", create(&kept, "new.md"));
    spoils.take("made by descriptor", kept.create_directory_at("made"));
    let renamed = workspace.rename_at("report.md", &kept, "moved.md");
    spoils.take("moved inside", renamed);
    spoils.take("made in its place", workspace.create_directory_at("empty"));
    spoils.take("removed again", workspace.remove_directory_at("empty"));
    Some(())
}
