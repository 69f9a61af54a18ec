//! Replaces and deletes where the policy says `ask` and nobody is there to be asked.

use super::stage_and_trap::stage;
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    stage(world, spoils)?;
    spoils.answer_fields(r#"{"done":true}"#);
    Some(())
}
