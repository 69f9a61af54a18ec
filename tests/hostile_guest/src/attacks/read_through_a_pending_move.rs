//! Moves a file of the write root to where a read root lies inside it, reads it there before
//! anybody could be asked, and fails.

use crate::spoils::Spoils;
use crate::world::{World, read, text};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(workspace.rename_at("report.md", workspace, "done/report.md"))?;
    let moved = spoils.step(read(world.inputs(), "report.md"))?;
    spoils.take("read what only may be written", text(&moved));
    Some(())
}
