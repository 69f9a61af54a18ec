//! Reads many files, each within the limit of one.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for number in 0..world.number("files") {
        let file = spoils.step(read(world.inputs(), &format!("many/{number}.bin")))?;
        let (bytes, _) = spoils.step(file.read(u64::MAX, 0))?;
        spoils.count(bytes.len() as u64);
    }
    Some(())
}
