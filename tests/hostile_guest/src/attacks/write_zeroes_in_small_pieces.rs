//! Writes zeroes by the stream's own call, a page or less at a time.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let file = spoils.step(create(world.workspace(), "new.bin"))?;
    let stream = spoils.step(file.write_via_stream(0))?;
    let (mut left, piece) = (world.number("bytes"), world.number("piece"));
    while left > 0 {
        let piece = piece.min(left);
        spoils.step(stream.write_zeroes(piece))?;
        spoils.count(piece);
        left -= piece;
    }
    Some(())
}
