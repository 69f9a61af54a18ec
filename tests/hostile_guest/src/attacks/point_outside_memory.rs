//! Gives the host a path that lies beyond the component's memory.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("opened", read(world.inputs(), outside()));
    Some(())
}

#[expect(unsafe_code, reason = "breaking the contract is the attack")]
fn outside() -> &'static str {
    let address = std::hint::black_box(0xfff0_0000_usize);
    // SAFETY: nothing here follows the pointer; it goes to the host as it is.
    unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(address as *const u8, 4096)) }
}
