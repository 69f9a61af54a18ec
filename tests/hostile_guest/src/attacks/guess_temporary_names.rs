//! Reaches for files that are being staged, under the name that the host gives them.

use crate::spoils::Spoils;
use crate::world::{STAY, World, change, create, read};

const NAME: &str = ".rootbound-0123456789abcdef0123456789abcdef.tmp";

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let (inputs, workspace) = (world.inputs(), world.workspace());
    spoils.take("read", read(inputs, NAME));
    spoils.take("looked up", inputs.stat_at(STAY, NAME));
    spoils.take("changed", change(workspace, NAME));
    spoils.take("deleted", workspace.unlink_file_at(NAME));
    spoils.take("taken", workspace.rename_at(NAME, workspace, "taken.md"));
    spoils.take("planted", workspace.rename_at("report.md", workspace, NAME));
    spoils.take("created", create(workspace, &format!("sub/../{NAME}")));
    spoils.take("made", workspace.create_directory_at(&format!("{NAME}/x")));
    let listing = spoils.step(inputs.read_directory())?;
    while let Some(entry) = spoils.step(listing.read_directory_entry())? {
        if entry.name.contains("rootbound") {
            spoils.gain("saw it in a listing");
        }
    }
    Some(())
}
