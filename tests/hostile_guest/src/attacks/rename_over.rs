//! Replaces an existing file by renaming another over it, an existing one and a new one.

use crate::spoils::Spoils;
use crate::world::{World, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    let old = workspace.rename_at("done/old.md", workspace, "report.md");
    spoils.take("replaced by an existing file", old);
    spoils.step(write(workspace, "new.md", "hostile"))?;
    let new = workspace.rename_at("new.md", workspace, "report.md");
    spoils.take("replaced by a new file", new);
    Some(())
}
