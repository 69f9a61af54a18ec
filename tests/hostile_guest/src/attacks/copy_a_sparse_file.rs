//! Opens a file of 1 TiB for changes, so that the host copies it.

use crate::spoils::Spoils;
use crate::world::{World, change};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("copied 1 TiB", change(world.workspace(), "sparse.bin"));
    Some(())
}
