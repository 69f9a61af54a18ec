//! Asks for the preopened directories again and again and keeps every descriptor.

use crate::bindings::wasi::filesystem::preopens::get_directories;
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(_: &World, spoils: &mut Spoils) -> Option<()> {
    let mut kept = Vec::new();
    for _ in 0..300 {
        let given = get_directories();
        spoils.count(given.len() as u64);
        kept.extend(given);
    }
    Some(())
}
