//! Creates names that read as something else, or mean something else on another system.

use crate::spoils::Spoils;
use crate::world::{World, create, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    let names = ["a\u{202e}fdp.exe", "a\u{200b}", "a.", "a ", "CON", "a:b", "a\\b", "a\nb", "~"];
    for name in names {
        spoils.take(&format!("created {name}"), create(workspace, name));
        spoils.take(&format!("made {name}"), workspace.create_directory_at(name));
    }
    spoils.step(write(workspace, "plain.md", "x"))?;
    for name in names {
        spoils.take(&format!("renamed to {name}"), workspace.rename_at("plain.md", workspace, name));
    }
    Some(())
}
