//! Changes an existing file through a descriptor for writing, in every way there is.

use crate::spoils::Spoils;
use crate::world::{World, change};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    if let Some(file) = spoils.step(change(world.workspace(), "report.md")) {
        spoils.take("resized", file.set_size(3));
    }
    if let Some(file) = spoils.step(change(world.workspace(), "report.md")) {
        spoils.take("wrote at an offset", file.write(b"hostile", 2));
    }
    if let Some(file) = spoils.step(change(world.workspace(), "report.md")) {
        let stream = spoils.step(file.append_via_stream())?;
        spoils.take("appended", stream.blocking_write_and_flush(b"hostile"));
    }
    Some(())
}
