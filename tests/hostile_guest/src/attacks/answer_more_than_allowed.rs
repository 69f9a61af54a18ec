//! Answers more bytes of fields than a result may have.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let length = world.number("bytes") as usize - r#"{"a":""}"#.len();
    spoils.answer_fields(format!(r#"{{"a":"{}"}}"#, "x".repeat(length)));
    Some(())
}
