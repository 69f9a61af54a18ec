//! Creates a file, deletes it, and writes through the descriptor it kept.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    let file = spoils.step(create(workspace, "new.md"))?;
    spoils.step(workspace.unlink_file_at("new.md"))?;
    spoils.step(file.write(b"hostile", 0))?;
    spoils.take("renamed", workspace.rename_at("new.md", workspace, "again.md"));
    Some(())
}
