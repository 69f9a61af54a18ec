//! Replaces a file where overwriting is denied, by deleting and creating it.

use crate::spoils::Spoils;
use crate::world::{World, create, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(workspace.unlink_file_at("report.md"))?;
    spoils.take("created in its place", create(workspace, "report.md"));
    spoils.take("wrote in its place", write(workspace, "report.md", "hostile"));
    spoils.take("made in its place", workspace.create_directory_at("report.md"));
    spoils.step(write(workspace, "new.md", "hostile"))?;
    let renamed = workspace.rename_at("new.md", workspace, "report.md");
    spoils.take("renamed into its place", renamed);
    Some(())
}
