//! Creates, replaces, deletes and renames, and answers with an error.

use super::stage_and_trap::stage;
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    stage(world, spoils)?;
    spoils.answer_failure("no-match", "nothing was found".to_owned(), "");
    Some(())
}
