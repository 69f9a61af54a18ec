//! Reads a file in pieces, each through a descriptor of its own and a spelling of its own.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let mut offset = 0;
    for spelling in ["data.bin", "./data.bin", "sub/../data.bin", "link_to_data"].iter().cycle() {
        let file = spoils.step(read(world.inputs(), spelling))?;
        let (bytes, end) = spoils.step(file.read(5000, offset))?;
        offset += bytes.len() as u64;
        spoils.count(bytes.len() as u64);
        if end {
            return Some(());
        }
    }
    Some(())
}
