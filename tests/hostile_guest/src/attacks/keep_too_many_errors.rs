//! Makes a stream fail again and again and keeps every error, each of which is a resource.

use crate::spoils::Spoils;
use crate::world::{StreamError, World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    let stream = spoils.step(file.write_via_stream(1 << 40))?;
    let mut kept = Vec::new();
    for _ in 0..300 {
        match stream.write(b"x") {
            Err(StreamError::LastOperationFailed(error)) => kept.push(error),
            other => return spoils.step(other),
        }
        spoils.count(1);
    }
    Some(())
}
