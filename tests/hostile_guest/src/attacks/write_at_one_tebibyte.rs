//! Writes one byte at 1 TiB, and at the end of all numbers, in every way.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    for offset in [1 << 40, i64::MAX as u64, u64::MAX] {
        spoils.take(&format!("wrote at {offset}"), file.write(b"x", offset));
        spoils.take(&format!("resized to {offset}"), file.set_size(offset));
        let stream = spoils.step(file.write_via_stream(offset))?;
        spoils.take(&format!("wrote by stream at {offset}"), stream.blocking_write_and_flush(b"x"));
        spoils.take(
            &format!("wrote zeroes at {offset}"),
            stream.blocking_write_zeroes_and_flush(1),
        );
    }
    Some(())
}
