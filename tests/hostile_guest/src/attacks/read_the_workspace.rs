//! Reads, lists and looks up below the write root, which grants none of it.

use crate::spoils::Spoils;
use crate::world::{STAY, World, enter, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.take("read report.md", read(workspace, "report.md"));
    spoils.take("looked up report.md", workspace.stat_at(STAY, "report.md"));
    spoils.take("hashed report.md", workspace.metadata_hash_at(STAY, "report.md"));
    spoils.take("listed", workspace.read_directory());
    spoils.take("looked up the root", workspace.stat());
    spoils.take("hashed the root", workspace.metadata_hash());
    spoils.take("read a link", workspace.readlink_at("link_in"));
    let done = spoils.step(enter(workspace, "done"))?;
    spoils.take("listed done", done.read_directory());
    spoils.take("read done/old.md", read(&done, "old.md"));
    Some(())
}
