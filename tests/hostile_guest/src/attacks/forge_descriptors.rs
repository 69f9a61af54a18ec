//! Uses descriptors that nobody gave it, by their numbers.

use crate::spoils::Spoils;
use crate::world::{Descriptor, World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let forged = forge(world.number("handle") as u32);
    spoils.take("read by a forged descriptor", read(&forged, "notes.md"));
    Some(())
}

#[expect(unsafe_code, reason = "forging is the attack")]
fn forge(handle: u32) -> Descriptor {
    // SAFETY: a wrong number is memory-safe here: it names an entry of the host's table, or
    // none.
    unsafe { Descriptor::from_handle(handle) }
}
