//! Names what exists in capitals, in other compositions, with dots and spaces behind.

use crate::spoils::Spoils;
use crate::world::{STAY, World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let (inputs, workspace) = (world.inputs(), world.workspace());
    for name in ["NOTES.MD", "Notes.md", "notes.md.", "notes.md ", "note\u{17f}.md", "SUB/deep.md"] {
        spoils.take(name, read(inputs, name));
        spoils.take(name, inputs.stat_at(STAY, name));
    }
    for name in ["REPORT.MD", "report.md.", "DONE/old.md"] {
        spoils.take(name, workspace.unlink_file_at(name));
    }
    Some(())
}
