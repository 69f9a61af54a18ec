//! Reads a file in many small pieces, through one descriptor.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "data.bin"))?;
    let mut offset = 0;
    loop {
        let (bytes, end) = spoils.step(file.read(1000, offset))?;
        offset += bytes.len() as u64;
        spoils.count(bytes.len() as u64);
        if end {
            return Some(());
        }
    }
}
