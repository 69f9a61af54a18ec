//! Opens an existing file of the write root to change it, and reads what it held.

use crate::spoils::Spoils;
use crate::world::{World, change, create, text};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(change(world.workspace(), "report.md"))?;
    spoils.take("read", text(&file));
    spoils.take("looked up", file.stat());
    spoils.take("hashed", file.metadata_hash());
    spoils.take("opened a stream", file.read_via_stream(0));
    let copy = spoils.step(create(world.workspace(), "copy.md"))?;
    let to = spoils.step(copy.write_via_stream(0))?;
    if let Some(from) = spoils.step(file.read_via_stream(0)) {
        spoils.take("spliced", to.blocking_splice(&from, 100));
    }
    Some(())
}
