//! Polls an empty list, which the interface forbids.

use crate::bindings::wasi::io::poll::poll;
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(_: &World, spoils: &mut Spoils) -> Option<()> {
    poll(&[]);
    spoils.gain("an empty poll");
    Some(())
}
