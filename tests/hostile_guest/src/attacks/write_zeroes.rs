//! Writes zeroes by the stream's own call, first more than there is in the world.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    let stream = spoils.step(file.write_via_stream(0))?;
    let bytes = world.number("bytes");
    spoils.step(stream.blocking_write_zeroes_and_flush(bytes))?;
    spoils.count(bytes);
    Some(())
}
