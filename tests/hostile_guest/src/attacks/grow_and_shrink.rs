//! Makes a file large and small again and again, so that each step is within the limit.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    loop {
        spoils.step(file.set_size(world.number("bytes")))?;
        spoils.count(world.number("bytes"));
        spoils.step(file.set_size(0))?;
        if world.number("bytes") == 0 {
            return Some(());
        }
    }
}
