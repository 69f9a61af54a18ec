//! Renames a directory into itself, onto a directory, and onto a file; and what is not there
//! onto itself, and a file as if it were a directory, which would be told as done.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.take("into itself", workspace.rename_at("done", workspace, "done/inner/done"));
    spoils.take("onto a directory", workspace.rename_at("done", workspace, "empty"));
    spoils.take("onto a file", workspace.rename_at("done", workspace, "report.md"));
    let nothing = workspace.rename_at("missing.md", workspace, "missing.md");
    spoils.take("nothing onto itself", nothing);
    for (from, to) in [("report.md/", "x.md"), ("report.md", "x.md/"), ("report.md/.", "x.md")] {
        spoils.take("a file as a directory", workspace.rename_at(from, workspace, to));
    }
    spoils.take("a link", workspace.rename_at("link_in", workspace, "done/link_in"));
    Some(())
}
