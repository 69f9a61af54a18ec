//! Gives the host a path of 5 MB, and one of 50 MB.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for megabytes in [5, 50] {
        let path = "a/".repeat(megabytes * 500_000);
        spoils.take("opened", read(world.inputs(), &path));
    }
    Some(())
}
