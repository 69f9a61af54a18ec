//! Copies a file by splicing, without a byte passing through the guest.

use crate::spoils::Spoils;
use crate::world::{StreamError, World, create, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "data.bin"))?;
    let copy = spoils.step(create(world.workspace(), "copy.bin"))?;
    let from = spoils.step(file.read_via_stream(0))?;
    let to = spoils.step(copy.write_via_stream(0))?;
    loop {
        match to.blocking_splice(&from, 999) {
            Err(StreamError::Closed) => return Some(()),
            spliced => {
                let bytes = spoils.step(spliced)?;
                spoils.count(bytes);
            }
        }
    }
}
