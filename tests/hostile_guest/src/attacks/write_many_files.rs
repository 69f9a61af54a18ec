//! Writes many files, each within the limit, deleting each before the next.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let mut left = world.number("bytes");
    while left > 0 {
        let file = spoils.step(create(world.workspace(), "new.bin"))?;
        let piece = left.min(5000);
        spoils.step(file.write(&vec![b'x'; piece as usize], 0))?;
        spoils.step(world.workspace().unlink_file_at("new.bin"))?;
        spoils.count(piece);
        left -= piece;
    }
    Some(())
}
