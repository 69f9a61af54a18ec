//! Opens a directory from itself again and again, so that the spelling of what it reads there
//! grows without end.

use crate::spoils::Spoils;
use crate::world::{World, enter, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let step = "./".repeat(1000);
    let mut directory = spoils.step(enter(world.inputs(), "sub"))?;
    loop {
        spoils.step(read(&directory, "deep.md"))?;
        spoils.count(1);
        directory = spoils.step(enter(&directory, &step))?;
    }
}
