//! Writes in many small pieces.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    let mut offset = 0;
    while offset < world.number("bytes") {
        let piece = (world.number("bytes") - offset).min(1000);
        let written = spoils.step(file.write(&vec![b'x'; piece as usize], offset))?;
        offset += written;
        spoils.count(written);
    }
    Some(())
}
