//! Uses a descriptor that it has given back.

use crate::spoils::Spoils;
use crate::world::{Descriptor, World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "notes.md"))?;
    let handle = file.handle();
    drop(file);
    spoils.take("read after the end", forge(handle).read(100, 0));
    Some(())
}

#[expect(unsafe_code, reason = "forging is the attack")]
fn forge(handle: u32) -> Descriptor {
    // SAFETY: a stale number is memory-safe here: it names an entry of the host's table, or
    // none.
    unsafe { Descriptor::from_handle(handle) }
}
