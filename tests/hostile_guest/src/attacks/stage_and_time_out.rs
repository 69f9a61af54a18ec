//! Creates, replaces, deletes and renames, and does not come back.

use super::stage_and_trap::stage;
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    stage(world, spoils)?;
    loop {
        std::hint::black_box(());
    }
}
