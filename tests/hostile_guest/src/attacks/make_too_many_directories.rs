//! Makes one directory inside another, which happens at once.

use crate::spoils::Spoils;
use crate::world::{World, enter};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.step(world.workspace().create_directory_at("deep"))?;
    let mut inside = spoils.step(enter(world.workspace(), "deep"))?;
    for _ in 0..300 {
        spoils.step(inside.create_directory_at("d"))?;
        inside = spoils.step(enter(&inside, "d"))?;
        spoils.count(1);
    }
    Some(())
}
