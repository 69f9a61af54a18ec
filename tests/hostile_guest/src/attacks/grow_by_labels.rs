//! Answers almost as much as it may, all of it names that the host replaces by longer ones.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let one = r#"{"root":"/write"},"#;
    let count = world.number("bytes") as usize / one.len();
    spoils.answer_fields(format!(r#"{{"all":[{}0]}}"#, one.repeat(count - 1)));
    Some(())
}
