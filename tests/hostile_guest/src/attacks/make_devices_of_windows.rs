//! Leaves names that open devices or streams on the system of whoever unpacks them.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    for name in ["CON", "nul.txt", "Com1.log", "LPT9 .md", "COM\u{b9}", "done/aux", "f:s", "C:f"] {
        spoils.take(name, create(workspace, name));
        spoils.take(name, workspace.create_directory_at(name));
        spoils.take(name, workspace.rename_at("report.md", workspace, name));
    }
    Some(())
}
