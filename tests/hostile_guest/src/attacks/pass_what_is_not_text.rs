//! Gives the host a path that is not UTF-8.

use super::answer_what_is_not_text::not_text;
use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("opened", read(world.inputs(), &not_text()));
    Some(())
}
