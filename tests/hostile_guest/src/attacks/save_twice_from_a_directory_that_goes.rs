//! Saves twice in this way, from a directory that it makes for it and removes.

use crate::spoils::Spoils;
use crate::world::{World, change, enter, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(change(workspace, "report.md"))?;
    spoils.step(workspace.create_directory_at("aside"))?;
    let aside = spoils.step(enter(workspace, "aside"))?;
    for content in ["first", "second"] {
        spoils.step(write(&aside, "new.md", content))?;
        spoils.step(aside.rename_at("new.md", workspace, "report.md"))?;
    }
    spoils.step(workspace.remove_directory_at("aside"))?;
    spoils.step(workspace.rename_at("report.md", workspace, "elsewhere.md"));
    Some(())
}
