//! Calls itself for ever.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(_: &World, _: &mut Spoils) -> Option<()> {
    std::hint::black_box(depth(1));
    Some(())
}

fn depth(n: u64) -> u64 {
    let n = std::hint::black_box(n);
    if n == 0 { 0 } else { depth(n + 1).wrapping_add(n) }
}
