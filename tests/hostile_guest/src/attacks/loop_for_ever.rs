//! Computes for ever.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(_: &World, _: &mut Spoils) -> Option<()> {
    loop {
        std::hint::black_box(());
    }
}
