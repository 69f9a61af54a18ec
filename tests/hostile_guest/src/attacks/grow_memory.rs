//! Takes memory until there is none.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(_: &World, spoils: &mut Spoils) -> Option<()> {
    const PAGES: usize = 256;
    while core::arch::wasm32::memory_grow::<0>(PAGES) != usize::MAX {
        spoils.count(PAGES as u64);
    }
    Some(())
}
