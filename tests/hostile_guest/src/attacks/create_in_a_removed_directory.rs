//! Makes a directory, removes it, and creates through the descriptor it kept: a file that can
//! never get its name would break the commit after other changes were made.

use crate::spoils::Spoils;
use crate::world::{World, create, enter, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(write(workspace, "first.md", "hostile"))?;
    spoils.step(workspace.create_directory_at("made"))?;
    let made = spoils.step(enter(workspace, "made"))?;
    spoils.step(workspace.remove_directory_at("made"))?;
    spoils.take("created in a directory that is gone", create(&made, "new.md"));
    spoils.take("made in a directory that is gone", made.create_directory_at("new"));
    Some(())
}
