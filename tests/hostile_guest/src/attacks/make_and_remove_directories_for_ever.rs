//! Makes a directory and removes it again, for ever: each time is several lines in the log.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    loop {
        spoils.step(world.workspace().create_directory_at("made"))?;
        spoils.step(world.workspace().remove_directory_at("made"))?;
        spoils.count(1);
    }
}
