//! Creates a file, renames it, and writes through the descriptor it kept: the receipt has to
//! name the last name and the last content.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    let file = spoils.step(create(workspace, "harmless.md"))?;
    spoils.step(file.write(b"harmless", 0))?;
    spoils.step(workspace.rename_at("harmless.md", workspace, "renamed.md"))?;
    spoils.step(file.write(b"hostile!", 0))?;
    Some(())
}
