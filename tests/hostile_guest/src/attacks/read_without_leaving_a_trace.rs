//! Reads a file of a directory that is granted both ways through the copy that the host
//! makes for a change, and fails, so that no change is recorded.

use crate::spoils::Spoils;
use crate::world::{World, change, read, text};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.step(change(world.workspace(), "report.md"))?;
    let copy = spoils.step(read(world.inputs(), "report.md"))?;
    let content = spoils.step(text(&copy))?;
    spoils.answer_failure("no-match", format!("it says: {content}"), "");
    Some(())
}
