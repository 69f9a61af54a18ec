//! Writes through several streams in turn, some of which append.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    let mut offset = 0;
    while offset < world.number("bytes") {
        let stream = match offset % 2 {
            0 => spoils.step(file.write_via_stream(offset))?,
            _ => spoils.step(file.append_via_stream())?,
        };
        let piece = (world.number("bytes") - offset).min(999);
        spoils.step(stream.blocking_write_and_flush(&vec![b'x'; piece as usize]))?;
        offset += piece;
        spoils.count(piece);
    }
    Some(())
}
