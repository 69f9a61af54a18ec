//! Creates a file and deletes it again and again: the host may keep what was taken back.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for _ in 0..300 {
        spoils.step(create(world.workspace(), "new.md"))?;
        spoils.step(world.workspace().unlink_file_at("new.md"))?;
        spoils.count(1);
    }
    Some(())
}
