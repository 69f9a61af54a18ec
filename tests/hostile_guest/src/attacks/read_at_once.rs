//! Reads a file with one call.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "data.bin"))?;
    let (bytes, _) = spoils.step(file.read(u64::MAX, 0))?;
    spoils.count(bytes.len() as u64);
    Some(())
}
