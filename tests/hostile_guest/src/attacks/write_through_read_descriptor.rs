//! Writes in every way through a descriptor that was opened for reading.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "notes.md"))?;
    spoils.take("wrote", file.write(b"hostile", 0));
    spoils.take("emptied", file.set_size(0));
    if let Some(stream) = spoils.step(file.write_via_stream(0)) {
        spoils.take("wrote by stream", stream.blocking_write_and_flush(b"hostile"));
    }
    if let Some(stream) = spoils.step(file.append_via_stream()) {
        spoils.take("appended", stream.blocking_write_and_flush(b"hostile"));
    }
    Some(())
}
