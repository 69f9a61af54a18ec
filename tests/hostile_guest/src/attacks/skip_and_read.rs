//! Skips through a file, which is free, and reads what lies between.

use crate::spoils::Spoils;
use crate::world::{StreamError, World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(read(world.inputs(), "data.bin"))?;
    for pass in 0..4 {
        let stream = spoils.step(file.read_via_stream(pass * 1000))?;
        loop {
            let bytes = match stream.blocking_read(1000) {
                Err(StreamError::Closed) => break,
                other => spoils.step(other)?,
            };
            spoils.count(bytes.len() as u64);
            match stream.blocking_skip(3000) {
                Err(StreamError::Closed) => break,
                skipped => spoils.step(skipped)?,
            };
        }
    }
    Some(())
}
