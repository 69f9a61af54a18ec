//! Reads a file through several streams in turn.

use crate::spoils::Spoils;
use crate::world::{StreamError, World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "data.bin"))?;
    let mut offset = 0;
    loop {
        let stream = spoils.step(file.read_via_stream(offset))?;
        for _ in 0..3 {
            let bytes = match stream.blocking_read(700) {
                Err(StreamError::Closed) => return Some(()),
                other => spoils.step(other)?,
            };
            offset += bytes.len() as u64;
            spoils.count(bytes.len() as u64);
        }
    }
}
